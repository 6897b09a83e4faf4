import { type Script, script, VERSION } from "./script.ts";

/*
 * Lua does not roll back: a command that fails leaves what the ones before it wrote. So the first command that writes is
 * the one that fails when a key has another type, and what a later one must not leave behind half done is taken back.
 * Lua's unpack takes at most some 8,000 values, so long lists go in steps. Each command costs about a microsecond of the
 * server's time, each function that is defined a tenth, and an append is called more often than anything else.
 */

/** KEYS of every script that writes a conversation; ARGV begins with condition, ttl in ms (`+` when due) and maxRecords. */
export const WRITING: string = `
local call = redis.call
local records, ids, removed, names, expiries = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local condition, ttl, limit = ARGV[1], ARGV[2], ARGV[3]
local isDue = string.byte(ttl) == 43
if isDue then ttl = string.sub(ttl, 2) end
local STEP = 4000
${VERSION}`;

/** Lua: an error when the user may not call each of these commands on a key; a write that stops halfway loses records. */
export const PERMISSIONS: string = `
local function forbidden(commands, key)
  for _, command in ipairs(commands) do
    if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, '0', '0') then
      return redis.error_reply('NOPERM this user has no permissions to run ' .. command)
    end
  end
end
`;

/** Lua: the limit, kept in the same step as the write that went above it. */
export const TRIMMING: string = `
-- Ids whose records go stay remembered for the next 1,000 of them and as many as may be stored, then are forgotten.
local function remember(gone)
  if #gone == 0 then return end
  local length = call('RPUSH', removed, unpack(gone))
  if length == #gone then
    local left = call('PTTL', ids)
    if left > 0 then call('PEXPIRE', removed, left) end
  end
  local over = length - limit - 1000
  while over > 0 do
    local oldest = call('LPOP', removed, math.min(over, STEP))
    call('SREM', ids, unpack(oldest))
    over = over - #oldest
  end
end

local function trim(over)
  while over > 0 do
    local gone = {}
    local oldest = call('LPOP', records, math.min(over, STEP))
    for at = 1, #oldest do gone[#gone + 1] = string.match(oldest[at], '^[^|]*|([^|]+)|') end
    remember(gone)
    over = over - #oldest
  end
end
`;

/**
 * Lua: the conversation's place in the index, and the life of what may not end before its records do. Both live a minute
 * and a sixteenth longer than the records, so they need not be told of every write that renews those.
 */
export const INDEXING: string = `
local function hold(key, isFirst, life)
  -- GT leaves a key alone that never expires.
  if isFirst then
    call('PEXPIRE', key, life)
  elseif call('PEXPIRE', key, life, 'GT') == 0 and key ~= names and call('PTTL', key) == -1 then
    call('PEXPIRE', key, life)
  end
end

local function lifeOfIndex()
  return string.format('%.0f', ttl + math.ceil(ttl / 16) + 60000)
end

local function enlist(isNew)
  local name = string.match(records, ':%d+:h:{%d+}:(.*)$')
  local isNewName = call('ZADD', names, 0, name) == 1
  if ttl == '0' then
    call('ZREM', expiries, name)
    call('PERSIST', names)
    return
  end
  local now, life = call('TIME')[1] * 1000, lifeOfIndex()
  local isNewExpiry = call('ZADD', expiries, 'GT', string.format('%.0f', now + life), name) == 1
  if isNew then
    -- Each conversation that begins clears away some that are long over, so the index cannot grow without end.
    local over = call('ZRANGE', expiries, '-inf', now - 600000, 'BYSCORE', 'LIMIT', 0, 20)
    if #over > 0 then
      call('ZREM', names, unpack(over))
      call('ZREM', expiries, unpack(over))
    end
  end
  hold(removed, false, life)
  hold(names, isNewName and call('ZCARD', names) == 1, life)
  hold(expiries, isNewExpiry and call('ZCARD', expiries) == 1, life)
end
`;

/**
 * ARGV after the common ones: the ids, then as many elements. Gives how many were added, `=version` when none was, or
 * `!version` when the condition does not hold.
 */
export const APPEND: Script = script(
  WRITING,
  `
local count = (#ARGV - 3) / 2
local known, isKnown = 0, nil
for first = 1, count, STEP do
  local found = call('SMISMEMBER', ids, unpack(ARGV, 3 + first, 3 + math.min(first + STEP - 1, count)))
  for at = 1, #found do
    if found[at] == 1 then
      known, isKnown = known + 1, isKnown or {}
      isKnown[first + at - 1] = true
    end
  end
end
-- Ids without a conversation are left over from one that is gone.
if known > 0 and call('EXISTS', records) == 0 then known = 0 end

if known == count then
  local current = version()
  local stamp = string.match(ARGV[#ARGV], '^[^|]*')
  -- The stamp is that of an earlier try of this very call, whose answer was lost.
  return current == stamp and count or '=' .. current
end
if condition ~= '*' then
  local current = version()
  if condition ~= '=' .. current then return '!' .. current end
end

local from, before, fresh = ARGV, 3, count
if known > 0 then
  from, before, fresh = {}, 0, count - known
  local elements = {}
  for at = 1, count do
    if not isKnown[at] then
      from[#from + 1] = ARGV[3 + at]
      elements[#elements + 1] = ARGV[3 + count + at]
    end
  end
  if isKnown[count] then elements[fresh] = string.match(ARGV[#ARGV], '^[^|]*') .. elements[fresh] end
  for at = 1, fresh do from[fresh + at] = elements[at] end
end

local length
for first = 1, fresh, STEP do
  length = call('RPUSH', records, unpack(from, before + fresh + first, before + fresh + math.min(first + STEP - 1, fresh)))
end

local isNew, try = length == fresh, redis.pcall
local over = limit == '0' and 0 or length - limit
local answer, settle
if isNew then
  -- Their types are seen before anything hangs on them.
  answer = try('LLEN', removed)
  if type(answer) ~= 'table' then answer = try('UNLINK', ids, removed) end
end
if ttl ~= '0' and type(answer) ~= 'table' then answer = try('PEXPIRE', records, ttl) end

if isNew or isDue or over > 0 then
`,
  PERMISSIONS,
  TRIMMING,
  INDEXING,
  `
  if type(answer) ~= 'table' and (isNew or isDue) then
    local isDone, failure = pcall(enlist, isNew)
    -- The server's pcall gives the text of an error, Lua's would give the error itself.
    if not isDone then answer = type(failure) == 'table' and failure or redis.error_reply(failure) end
  end
  if type(answer) ~= 'table' and over > 0 then
    answer = try('LLEN', removed)
    if type(answer) ~= 'table' then answer = forbidden({ 'LPOP' }, records) or forbidden({ 'SREM' }, ids) end
  end
  function settle()
    if ttl ~= '0' and (isNew or isDue) then hold(ids, isNew, lifeOfIndex()) end
    if over > 0 then trim(over) end
  end
end

-- Last, because a record whose id is remembered is never stored again.
for first = 1, fresh, STEP do
  if type(answer) ~= 'table' then
    answer = try('SADD', ids, unpack(from, before + first, before + math.min(first + STEP - 1, fresh)))
  end
end
if type(answer) == 'table' then
  local taken = isNew and try('LTRIM', records, 1, 0) or try('LTRIM', records, 0, length - fresh - 1)
  if taken.err then call('RPOP', records, fresh) end
  if isNew then
    local name = string.match(records, ':%d+:h:{%d+}:(.*)$')
    try('ZREM', names, name)
    try('ZREM', expiries, name)
  end
  return answer
end
if settle then settle() end
return fresh
`,
);

/** KEYS as for writing. */
export const CLEAR: Script = script(`
redis.call('LLEN', KEYS[1])
redis.call('SCARD', KEYS[2])
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('ZCARD', KEYS[5])
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
local name = string.match(KEYS[1], ':%d+:h:{%d+}:(.*)$')
redis.call('ZREM', KEYS[4], name)
redis.call('ZREM', KEYS[5], name)
return 1
`);
