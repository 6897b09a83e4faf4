import { type Script, script } from "./script.ts";

/*
 * Lua does not roll back: a command that fails leaves what the ones before it wrote. So each script reads every key that
 * it will touch before it writes any: a key of another type ends it there. The first write is one that Redis refuses
 * when its memory is full, so that a refused write is refused whole.
 *
 * Scripts touch only the keys that they are given, and all of one call's keys have the same hash tag. What each does is said
 * here and not in its text, which goes to the server.
 */

/** Names a script, whose text is loaded later than a call may be made. */
export type ScriptName = "delete" | "get" | "list" | "put";

/**
 * Lua: what all scripts begin with. KEYS: value, entries, order, tags, expiries; `get` has the first two of them.
 *
 * An entry is `seq etag expiresAt writtenAt earlier`, then its tags, a line each, every line ended. `seq` places it in the
 * order of creation, and has 16 digits, so that its lexical order is the same; times are milliseconds since the epoch, 0 is
 * never, which Lua writes without an exponent; `earlier` are the etags that it had shortly before.
 */
const READING = `
local call, match = redis.call, string.match
local value, entries, order, tags, expiries = unpack(KEYS)
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function parse(line)
  local seq, etag, expires, written, earlier, tags = match(line, '^(%d+) ([%w_-]+) (%d+) (%d+) ([%w_,-]*)\\n(.*)$')
  return seq and {
    seq = seq, etag = etag, expires = tonumber(expires), written = tonumber(written), earlier = earlier, tags = tags,
  }
end

local function isAlive(item)
  return item.expires == 0 or item.expires > now
end

local function toSeq(number)
  return string.format('%016.0f', number)
end
`;

/**
 * Lua: what the scripts that write begin with. ARGV: name, condition. The condition is `any`, `none` where nothing may be
 * there, or `=` and the etag that must be, which `*` stands for too. Whether it holds is asked at the end, by `holds`.
 */
const WRITING = `${READING}
local name, condition = ARGV[1], ARGV[2]
if call('ZCARD', order) ~= call('HLEN', entries) then return { 'corrupt', 'index' } end
local newest = call('ZREVRANGE', order, 0, 0, 'WITHSCORES')
call('ZCARD', tags)
local expiring = call('ZCARD', expiries)
call('STRLEN', value)

local line = call('HGET', entries, name)
local item = line and parse(line)
if line and not item then return { 'corrupt', 'entry' } end
local current = item and isAlive(item) and item.etag or nil

local function holds()
  if condition == 'none' then return not current end
  return condition == 'any' or (current and (condition == '=*' or condition == '=' .. current))
end
`;

/** Lua: an error when the user may not call each of these commands on a key; what stops halfway would leave half an index. */
const PERMISSIONS = `
local function forbidden(key, ...)
  for _, command in ipairs({ ... }) do
    if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, '0', '0') then
      return redis.error_reply('NOPERM this user has no permissions to run ' .. command)
    end
  end
end
`;

/**
 * Lua: takes entries out of the index. A tag is found by its own text, then by the order of creation: one sorted set has the
 * lists of all tags. Each write sweeps away some entries whose values have expired, so the index cannot grow without end.
 */
const FORGETTING = `
local function untag(item, name)
  for tag in string.gmatch(item.tags, '[^\\n]+') do call('ZREM', tags, tag .. item.seq .. name) end
end

local function forget(item, name)
  call('HDEL', entries, name)
  call('ZREM', order, name)
  untag(item, name)
  if item.expires > 0 then call('ZREM', expiries, name) end
end

local function sweep()
  if expiring == 0 then return end
  for _, name in ipairs(call('ZRANGEBYSCORE', expiries, '-inf', now, 'LIMIT', 0, 16)) do
    local expired = parse(call('HGET', entries, name) or '')
    if expired and not isAlive(expired) then forget(expired, name) end
  end
end
`;

/**
 * Lua: ends a put under an etag that is known already, as when the client's driver sends one call again because its answer
 * was lost; or one that must not be. Where nothing expires, a new text for an item is an HSET and a SET, and an HSET takes
 * back what the SET fails to finish: only then nothing of the index is touched, and no permissions for it are asked.
 */
const JUDGING = `
local text, etag, ttl, wanted = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
if item and (item.etag == etag or string.find(item.earlier, etag, 1, true)) then return { 'done' } end
if not holds() then return { 'conflict', current } end
local expires = ttl > 0 and now + ttl or 0
local left = call('PTTL', entries)
if not (current and item.tags == wanted and expires == 0 and left == -1 and expiring == 0) then
  local denied = forbidden(entries, 'HDEL', 'PEXPIREAT', 'PERSIST') or forbidden(order, 'ZADD', 'ZREM')
    or forbidden(tags, 'ZADD', 'ZREM') or forbidden(expiries, 'ZADD', 'ZREM', 'ZRANGEBYSCORE')
  if denied then return denied end
end
`;

/** Lua: writes the entry, the text and the places in the index. */
const STORING = `
local seq = current and item.seq or toSeq(math.max(time[1] * 1000000 + time[2], tonumber(newest[2] or 0) + 1))
local earlier = ''
if current and now - item.written < 30000 then
  earlier = current .. (item.earlier == '' and '' or ',' .. string.sub(item.earlier, 1, 17 * 63 - 1))
end
call('HSET', entries, name, table.concat({ seq, etag, expires, now, earlier }, ' ') .. '\\n' .. wanted)
local written = expires > 0 and redis.pcall('SET', value, text, 'PXAT', expires) or redis.pcall('SET', value, text)
if written.err then
  if line then call('HSET', entries, name, line) else call('HDEL', entries, name) end
  return written
end
if not current then call('ZADD', order, seq, name) end
if not (current and item.tags == wanted) then
  if item then untag(item, name) end
  for tag in string.gmatch(wanted, '[^\\n]+') do call('ZADD', tags, 0, tag .. seq .. name) end
end
if expires > 0 then
  call('ZADD', expiries, expires, name)
elseif item and item.expires > 0 then
  call('ZREM', expiries, name)
end
sweep()
`;

/** Lua: the index lives as long as the longest of what it names. One that may hold what never expires has no expiry. */
const KEEPING = `
for at = 2, 5 do
  if expires == 0 and left >= 0 then
    call('PERSIST', KEYS[at])
  elseif expires > 0 and left ~= -1 then
    call('PEXPIREAT', KEYS[at], math.max(expires, now + left))
  end
end
return { 'done' }
`;

/**
 * ARGV: name, condition, text, new etag, ttl in ms (0 is none), tags (a line each). Gives `done`, `conflict` with the etag
 * that is there, if there is one, or `corrupt` with what is.
 */
export const PUT: Script = script(WRITING, PERMISSIONS, FORGETTING, JUDGING, STORING, KEEPING);

/** ARGV: name, condition. Gives `done`, `absent`, `conflict` with the etag, if there is one, or `corrupt` with what is. */
export const DELETE: Script = script(
  WRITING,
  PERMISSIONS,
  FORGETTING,
  `
if not holds() then return { 'conflict', current } end
local denied = forbidden(entries, 'HDEL') or forbidden(order, 'ZREM') or forbidden(tags, 'ZREM')
  or forbidden(expiries, 'ZREM', 'ZRANGEBYSCORE')
if denied then return denied end
if item then
  call('UNLINK', value)
  forget(item, name)
end
sweep()
return { current and 'done' or 'absent' }
`,
);

/**
 * ARGV: name. Gives `item` with etag, tags and text, `absent`, or `corrupt` with what is. The entry outlives the value only
 * when the server evicted it or somebody removed it by hand.
 */
export const GET: Script = script(
  READING,
  `
local line = call('HGET', entries, ARGV[1])
if not line then return { 'absent' } end
local item = parse(line)
if not item then return { 'corrupt', 'entry' } end
if not isAlive(item) then return { 'absent' } end
local text = call('GET', value)
if not text then return { 'corrupt', 'value' } end
return { 'item', item.etag, item.tags, text }
`,
);

/**
 * Lua: `following` gives the next names, and the seq of each. Of several tags the rarest is walked, and the others are looked
 * for in the entries: each line of an entry but its first is a tag, so a tag is found without taking the entry apart.
 */
const WALKING = `
local limit, isAscending, last = tonumber(ARGV[1]), ARGV[2] == 'asc', ARGV[3]
local rarest, fewest
for at = 4, #ARGV do
  local number = call('ZLEXCOUNT', tags, '[' .. ARGV[at] .. '0', '(' .. ARGV[at] .. ':')
  if not fewest or number < fewest then rarest, fewest = ARGV[at], number end
end

local function walk(by, key, low, high, ...)
  if isAscending then return call('ZRANGEBY' .. by, key, low, high, ...) end
  return call('ZREVRANGEBY' .. by, key, high, low, ...)
end

local function following(number)
  local names, seqs = {}, {}
  local low, high = '-inf', '+inf'
  if rarest then low, high = '[' .. rarest .. '0', '(' .. rarest .. ':' end
  if last ~= '' then
    local edge = '(' .. (rarest or '') .. last
    if isAscending then low = rarest and edge .. '\\255' or edge else high = edge end
  end
  if rarest then
    for at, member in ipairs(walk('LEX', tags, low, high, 'LIMIT', 0, number)) do
      seqs[at], names[at] = string.sub(member, #rarest + 1, #rarest + 16), string.sub(member, #rarest + 17)
    end
    return names, seqs
  end
  local found = walk('SCORE', order, low, high, 'WITHSCORES', 'LIMIT', 0, number)
  for at = 1, #found, 2 do
    names[#names + 1], seqs[#seqs + 1] = found[at], toSeq(tonumber(found[at + 1]))
  end
  return names, seqs
end

local function hasTags(line)
  for at = 4, #ARGV do
    if not string.find(line, '\\n' .. ARGV[at] .. '\\n', 1, true) then return false end
  end
  return true
end
`;

/**
 * ARGV: limit, `asc` or `desc`, the seq to go on behind or nothing, then tags. Gives `page`, the seq to go on behind or
 * nothing, then name, etag and tags of each; or `corrupt` with what is. A page may be short although there is more: no call
 * looks at more than some 1,500 entries, so none keeps the server for long.
 */
export const LIST: Script = script(
  READING,
  `
if call('ZCARD', order) ~= call('HLEN', entries) then return { 'corrupt', 'index' } end
`,
  WALKING,
  `
local page, seen = { 'page', '' }, 0
local step = math.min(limit + 1, 500)
while seen < 1000 do
  local names, seqs = following(step)
  if #names == 0 then return page end
  local lines = call('HMGET', entries, unpack(names))
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
  seen, step = seen + #names, 500
end
page[2] = last
return page
`,
);

/** The scripts by the names that calls have for them. */
export const SCRIPTS: Readonly<Record<ScriptName, Script>> = { delete: DELETE, get: GET, list: LIST, put: PUT };
