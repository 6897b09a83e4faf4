import { type Script, script, VERSION } from "./script.ts";

/*
 * Lua does not roll back: a command that fails leaves what the ones before it wrote. So the first command that writes is
 * the one that fails when a key has another type, and what a later one must not leave behind half done is taken back.
 * Lua's unpack takes at most some 8,000 values, so long lists go in steps. Each command costs about a microsecond of the
 * server's time, and an append is called more often than anything else.
 */

/** KEYS of every script that writes a conversation; ARGV begins with condition, stamp, ttl in ms, maxRecords, index time. */
export const WRITING: string = `
local call = redis.call
local records, ids, removed, names, expiries = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local condition, stamp, ttl, limit, indexTime = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local STEP = 4000
${VERSION}`;

/** Lua: what a write ends with, in the same step: the limit, the conversation's life and its place in the index. */
export const FINISHING: string = `
-- Ids whose records go stay remembered for the next 1,000 of them and as many as may be stored, then are forgotten.
local function remember(gone)
  if #gone == 0 then return end
  local over = call('RPUSH', removed, unpack(gone)) - limit - 1000
  while over > 0 do
    local oldest = call('LPOP', removed, math.min(over, STEP))
    call('SREM', ids, unpack(oldest))
    over = over - #oldest
  end
  if ttl == '0' then
    local left = call('PTTL', records)
    if left > 0 then call('PEXPIRE', removed, left) end
  end
end

local function trim(length)
  local over = length - limit
  while over > 0 do
    local gone = {}
    local oldest = call('LPOP', records, math.min(over, STEP))
    for at = 1, #oldest do gone[#gone + 1] = string.match(oldest[at], '^[^|]*|([^|]+)|') end
    remember(gone)
    over = over - #oldest
  end
end

-- An index lives as long as the longest of what it names; GT leaves one alone that never expires.
local function enlist(isNew)
  local name = string.match(records, ':%d+:h:{%d+}:(.*)$')
  call('ZADD', names, 0, name)
  if ttl == '0' then
    call('ZREM', expiries, name)
    call('PERSIST', names)
    return
  end
  call('ZADD', expiries, indexTime, name)
  if isNew then
    -- Each conversation that begins clears away some that are long over, so the index cannot grow without end.
    local over = call('ZRANGE', expiries, '-inf', call('TIME')[1] * 1000 - 600000, 'BYSCORE', 'LIMIT', 0, 20)
    if #over > 0 then
      call('ZREM', names, unpack(over))
      call('ZREM', expiries, unpack(over))
    end
  end
  local hold = string.format('%.0f', ttl + math.ceil(ttl / 16))
  for _, index in ipairs({ names, expiries }) do
    if call('ZCARD', index) == 1 then call('PEXPIRE', index, hold) else call('PEXPIRE', index, hold, 'GT') end
  end
end

local function finish(length, isNew)
  if limit ~= '0' then trim(length) end
  local isDue = isNew
  if ttl ~= '0' then
    -- The ids last, so that they are never gone before the records.
    call('PEXPIRE', records, ttl)
    call('PEXPIRE', ids, ttl)
    if limit ~= '0' then call('PEXPIRE', removed, ttl) end
    -- The time is rounded up, so that it changes now and then only, and with it what is told to the index.
    local name = string.match(records, ':%d+:h:{%d+}:(.*)$')
    isDue = call('ZADD', expiries, 'CH', indexTime, name) == 1 or isNew
  end
  if isDue then enlist(isNew) end
end
`;

/**
 * ARGV after the common ones: the ids, then as many elements. Gives how many were added, `=version` when none was, or
 * `!version` when the condition does not hold.
 */
export const APPEND: Script = script(
  WRITING,
  `
local count = (#ARGV - 5) / 2
local known, isKnown = 0, {}
for first = 1, count, STEP do
  local found = call('SMISMEMBER', ids, unpack(ARGV, 5 + first, 5 + math.min(first + STEP - 1, count)))
  for at = 1, #found do
    if found[at] == 1 then
      known = known + 1
      isKnown[first + at - 1] = true
    end
  end
end
-- Ids without a conversation are left over from one that is gone.
if known > 0 and call('EXISTS', records) == 0 then known, isKnown = 0, {} end

if known == count then
  local current = version()
  -- The stamp is that of an earlier try of this very call, whose answer was lost.
  return current == stamp and count or '=' .. current
end
if condition ~= '*' then
  local current = version()
  if condition ~= '=' .. current then return '!' .. current end
end

local from, before, fresh = ARGV, 5, count
if known > 0 then
  from, before, fresh = {}, 0, count - known
  local elements = {}
  for at = 1, count do
    if not isKnown[at] then
      from[#from + 1] = ARGV[5 + at]
      elements[#elements + 1] = ARGV[5 + count + at]
    end
  end
  if isKnown[count] then elements[fresh] = stamp .. elements[fresh] end
  for at = 1, fresh do from[fresh + at] = elements[at] end
end
`,
  FINISHING,
  `
if limit ~= '0' then call('LLEN', removed) end
local length
for first = 1, fresh, STEP do
  length = call('RPUSH', records, unpack(from, before + fresh + first, before + fresh + math.min(first + STEP - 1, fresh)))
end
local isNew, failure = length == fresh, nil
local function try(...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' then failure = failure or answer end
end
if isNew then
  try('LLEN', removed)
  if not failure then try('UNLINK', ids, removed) end
end
for first = 1, fresh, STEP do
  if not failure then try('SADD', ids, unpack(from, before + first, before + math.min(first + STEP - 1, fresh))) end
end
if failure then
  -- Records whose ids are not remembered would be stored again by the retry.
  if isNew then call('UNLINK', records) else call('LTRIM', records, 0, length - fresh - 1) end
  return failure
end
finish(length, isNew)
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
