import type { ScriptName } from "./calls.ts";
import { type Script, script } from "./script.ts";

/*
 * Lua does not roll back: a command that fails leaves what the ones before it wrote. So each script reads every key that
 * it will touch before it writes any: a key of another type ends it there. The first write is one that Redis refuses
 * when its memory is full, so that a refused write is refused whole.
 *
 * Scripts touch only the keys that they are given, and all of one call's keys have the same hash tag.
 */

/**
 * The entry of an item: `seq etag expiresAt writtenAt earlier`, then its tags, a line each, every line ended.
 * `seq` places it in the order of creation, times are milliseconds since the epoch, 0 is never, `earlier` are the etags
 * that it had shortly before.
 */
const READING = `
local function parse(line)
  local seq, etag, expires, written, earlier, tags =
    string.match(line, '^(%d+) ([%w_-]+) (%d+) (%d+) ([%w_,-]*)\\n(.*)$')
  return seq and {
    seq = seq, etag = etag, expires = tonumber(expires), written = tonumber(written), earlier = earlier, tags = tags,
  }
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function isAlive(item)
  return item.expires == 0 or item.expires > now
end

-- Numbers as text, because Lua would write large ones with an exponent.
local function digits(number)
  return string.format('%.0f', number)
end

-- Of one length, so that their lexical order is the order of creation.
local function toSeq(number)
  return string.format('%016.0f', number)
end
`;

/** What the scripts that write have in common. KEYS: value, entries, order, tags, expiries; ARGV begins with the name. */
const WRITING = `
local value, entries, order, tags, expiries = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local name = ARGV[1]
${READING}
local count = redis.call('HLEN', entries)
if redis.call('ZCARD', order) ~= count then return { 'corrupt', 'index' } end
local newest = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')
redis.call('ZCARD', tags)
local expiring = redis.call('ZCARD', expiries)
redis.call('STRLEN', value)

-- Commands that the user may not call would leave a half of what is done.
local function forbidden(commands, key)
  for _, command in ipairs(commands) do
    if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, '0', '0') then
      return redis.error_reply('NOPERM this user has no permissions to run ' .. command)
    end
  end
end

local line = redis.call('HGET', entries, name)
local item = line and parse(line)
if line and not item then return { 'corrupt', 'entry' } end
local current = item and isAlive(item) and item.etag

-- A tag is found by its own text, then by the order of creation: one sorted set has the lists of all tags.
local function untag(item, name)
  for tag in string.gmatch(item.tags, '[^\\n]+') do redis.call('ZREM', tags, tag .. item.seq .. name) end
end

local function forget(item, name)
  redis.call('HDEL', entries, name)
  redis.call('ZREM', order, name)
  untag(item, name)
  if item.expires > 0 then redis.call('ZREM', expiries, name) end
end

-- Each write clears away some entries whose values have expired, so the index cannot grow without end.
local function sweep()
  if expiring == 0 then return end
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', expiries, '-inf', digits(now), 'LIMIT', 0, 16)) do
    local expired = parse(redis.call('HGET', entries, name) or '')
    if expired and not isAlive(expired) then forget(expired, name) end
  end
end
`;

/**
 * ARGV: name, text, new etag, ttl in ms (0 is none), `create`, `set` or `match`, the etag to match, tags (a line each).
 * Gives `ok`, `conflict` with the etag that is there, if there is one, or `corrupt` with what is.
 */
export const PUT: Script = script(
  WRITING,
  `
local text, etag, ttl, mode, expected, wanted = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]

-- The etag is known already when the client's driver sends one call again because its answer was lost.
if item and (item.etag == etag or string.find(item.earlier, etag, 1, true)) then return { 'ok' } end
if mode == 'create' and current then return { 'conflict', current } end
if mode == 'match' and not (current and (expected == '*' or expected == current)) then
  return { 'conflict', current or nil }
end
local expires = ttl > 0 and now + ttl or 0
local left = redis.call('PTTL', entries)
-- Where nothing expires, a new text for an item is an HSET and a SET, and an HSET takes back what the SET fails to finish.
if not (current and item.tags == wanted and expires == 0 and left == -1 and expiring == 0) then
  local denied = forbidden({ 'HDEL', 'PEXPIREAT', 'PERSIST' }, entries) or forbidden({ 'ZADD', 'ZREM' }, order)
    or forbidden({ 'ZADD', 'ZREM' }, tags) or forbidden({ 'ZADD', 'ZREM', 'ZRANGEBYSCORE' }, expiries)
  if denied then return denied end
end

local seq = current and item.seq or toSeq(math.max(time[1] * 1000000 + time[2], tonumber(newest[2] or 0) + 1))
local earlier = ''
if current and now - item.written < 30000 then
  earlier = current .. (item.earlier == '' and '' or ',' .. string.sub(item.earlier, 1, 17 * 63 - 1))
end

redis.call('HSET', entries, name, table.concat({ seq, etag, digits(expires), digits(now), earlier }, ' ') .. '\\n' .. wanted)
local written
if expires > 0 then
  written = redis.pcall('SET', value, text, 'PXAT', digits(expires))
else
  written = redis.pcall('SET', value, text)
end
if written.err then
  if line then redis.call('HSET', entries, name, line) else redis.call('HDEL', entries, name) end
  return written
end
if not current then redis.call('ZADD', order, seq, name) end
if not (current and item.tags == wanted) then
  if item then untag(item, name) end
  for tag in string.gmatch(wanted, '[^\\n]+') do redis.call('ZADD', tags, 0, tag .. seq .. name) end
end
if expires > 0 then
  redis.call('ZADD', expiries, digits(expires), name)
elseif item and item.expires > 0 then
  redis.call('ZREM', expiries, name)
end
sweep()

-- The index lives as long as the longest of what it names. One that may hold what never expires has no expiry.
if expires == 0 then
  if left >= 0 then
    for at = 2, 5 do redis.call('PERSIST', KEYS[at]) end
  end
elseif left ~= -1 then
  local last = digits(math.max(expires, left >= 0 and now + left or 0))
  for at = 2, 5 do redis.call('PEXPIREAT', KEYS[at], last) end
end
return { 'ok' }
`,
);

/** ARGV: name, `any` or `match`, the etag to match. Gives `deleted`, `absent`, `conflict` with the etag, or `corrupt`. */
export const DELETE: Script = script(
  WRITING,
  `
if current and ARGV[2] == 'match' and ARGV[3] ~= '*' and ARGV[3] ~= current then return { 'conflict', current } end
local denied = forbidden({ 'HDEL' }, entries) or forbidden({ 'ZREM' }, order) or forbidden({ 'ZREM' }, tags)
  or forbidden({ 'ZREM', 'ZRANGEBYSCORE' }, expiries)
if denied then return denied end
if item then
  redis.call('UNLINK', value)
  forget(item, name)
end
sweep()
return { current and 'deleted' or 'absent' }
`,
);

/** KEYS: value, entries; ARGV: name. Gives `item` with etag, tags and text, `absent`, or `corrupt` with what is. */
export const GET: Script = script(
  READING,
  `
local line = redis.call('HGET', KEYS[2], ARGV[1])
if not line then return { 'absent' } end
local item = parse(line)
if not item then return { 'corrupt', 'entry' } end
if not isAlive(item) then return { 'absent' } end
local text = redis.call('GET', KEYS[1])
-- The entry outlives the value only when the server evicted it or somebody removed it by hand.
if not text then return { 'corrupt', 'value' } end
return { 'item', item.etag, item.tags, text }
`,
);

/**
 * KEYS: entries, order, tags; ARGV: limit, `asc` or `desc`, the seq to go on behind or nothing, then tags. Gives `page`,
 * the seq to go on behind or nothing, then name, etag and tags of each; or `corrupt` with what is. A page may be short
 * although there is more: no call looks at more than some 1,500 entries, so none keeps the server for long.
 */
export const LIST: Script = script(
  READING,
  `
local entries, order, tags = KEYS[1], KEYS[2], KEYS[3]
local limit, isAscending, last = tonumber(ARGV[1]), ARGV[2] == 'asc', ARGV[3]
if redis.call('HLEN', entries) ~= redis.call('ZCARD', order) then return { 'corrupt', 'index' } end

-- Of several tags the rarest is walked, and the others are looked for in the entries.
local rarest, fewest
for at = 4, #ARGV do
  local number = redis.call('ZLEXCOUNT', tags, '[' .. ARGV[at] .. '0', '(' .. ARGV[at] .. ':')
  if not fewest or number < fewest then rarest, fewest = ARGV[at], number end
end

-- The next names, and the seq of each.
local function following(number)
  local names, seqs, found = {}, {}, nil
  if rarest then
    local low, high = '[' .. rarest .. '0', '(' .. rarest .. ':'
    if last ~= '' and isAscending then low = '(' .. rarest .. last .. '\\255' end
    if last ~= '' and not isAscending then high = '(' .. rarest .. last end
    if isAscending then
      found = redis.call('ZRANGEBYLEX', tags, low, high, 'LIMIT', 0, number)
    else
      found = redis.call('ZREVRANGEBYLEX', tags, high, low, 'LIMIT', 0, number)
    end
    for at, member in ipairs(found) do
      seqs[at] = string.sub(member, #rarest + 1, #rarest + 16)
      names[at] = string.sub(member, #rarest + 17)
    end
  else
    local edge = last == '' and (isAscending and '-inf' or '+inf') or '(' .. last
    if isAscending then
      found = redis.call('ZRANGEBYSCORE', order, edge, '+inf', 'WITHSCORES', 'LIMIT', 0, number)
    else
      found = redis.call('ZREVRANGEBYSCORE', order, edge, '-inf', 'WITHSCORES', 'LIMIT', 0, number)
    end
    for at = 1, #found, 2 do
      names[#names + 1] = found[at]
      seqs[#seqs + 1] = toSeq(tonumber(found[at + 1]))
    end
  end
  return names, seqs
end

-- Each line of an entry but its first is a tag, so a tag is found without taking the entry apart.
local function hasTags(line)
  for at = 4, #ARGV do
    if not string.find(line, '\\n' .. ARGV[at] .. '\\n', 1, true) then return false end
  end
  return true
end

local page, seen = { 'page', '' }, 0
local step = math.min(limit + 1, 500)
while seen < 1000 do
  local names, seqs = following(step)
  if #names == 0 then return page end
  local lines = redis.call('HMGET', entries, unpack(names))
  for at, name in ipairs(names) do
    local line = lines[at]
    if not line then return { 'corrupt', 'index' } end
    local item = hasTags(line) and parse(line)
    if item == nil or (item and item.seq ~= seqs[at]) then return { 'corrupt', 'entry' } end
    if item and isAlive(item) then
      if #page == 2 + 3 * limit then
        page[2] = last
        return page
      end
      page[#page + 1], page[#page + 2], page[#page + 3] = name, item.etag, item.tags
    end
    last = seqs[at]
  end
  if #names < step then return page end
  seen = seen + #names
  step = 500
end
page[2] = last
return page
`,
);

/** The scripts by the names that calls have for them. */
export const SCRIPTS: Readonly<Record<ScriptName, Script>> = { delete: DELETE, get: GET, list: LIST, put: PUT };
