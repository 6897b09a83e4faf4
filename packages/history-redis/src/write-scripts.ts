import { type Script, script, VERSION } from "./script.ts";

/*
 * Lua does not roll back: a command that fails leaves what the ones before it wrote. So each script looks at the types of
 * its keys before it writes anything, and writes in an order in which a failure in between (a command that the user may
 * not call) loses nothing. Lua's unpack takes at most some 8,000 values, so long lists go in pieces.
 */

/** KEYS of every script that writes a conversation; ARGV begins with condition, stamp, name, ttl in ms, maxRecords. */
export const WRITING: string = `
local records, ids, removed, names, expiries = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local condition, stamp, name, ttl, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local STEP = 4000
${VERSION}
-- Calls work(first, last) for the pieces of 1 to count.
local function inSteps(count, work)
  for first = 1, count, STEP do work(first, math.min(first + STEP - 1, count)) end
end

local function idOf(element)
  return string.match(element, '^[^|]*|([^|]+)|')
end

-- When what is written now expires, in milliseconds since the epoch.
local expiresAt
if ttl > 0 then
  local time = redis.call('TIME')
  expiresAt = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ttl)
end

-- An index lives as long as the longest of what it names. GT leaves one alone that never expires.
local function expireIndex(key, added)
  if added == 1 and redis.call('ZCARD', key) == 1 then
    redis.call('PEXPIREAT', key, expiresAt)
  else
    redis.call('PEXPIREAT', key, expiresAt, 'GT')
  end
end

local function index(isNew)
  if isNew and expiresAt then
    -- Each conversation that begins clears away some that have expired, so the index cannot grow without end.
    local over = redis.call('ZRANGE', expiries, '-inf', expiresAt - ttl, 'BYSCORE', 'LIMIT', 0, 20)
    if #over > 0 then
      redis.call('ZREM', names, unpack(over))
      redis.call('ZREM', expiries, unpack(over))
    end
  elseif isNew then
    redis.call('ZREM', expiries, name)
  end
  local added = redis.call('ZADD', names, 0, name)
  if expiresAt then
    expireIndex(names, added)
    expireIndex(expiries, redis.call('ZADD', expiries, expiresAt, name))
  elseif isNew then
    redis.call('PERSIST', names)
  end
end

local function expire()
  if expiresAt then
    redis.call('PEXPIREAT', records, expiresAt)
    redis.call('PEXPIREAT', ids, expiresAt)
    redis.call('PEXPIREAT', removed, expiresAt)
  end
end

-- Ids whose records go stay remembered for the next 1,000 of them and as many as may be stored, then are forgotten.
local function remember(gone)
  if #gone == 0 then return end
  local over = redis.call('RPUSH', removed, unpack(gone)) - limit - 1000
  while over > 0 do
    local oldest = redis.call('LPOP', removed, math.min(over, STEP))
    redis.call('SREM', ids, unpack(oldest))
    over = over - #oldest
  end
end

local function trim(length)
  local over = limit > 0 and length - limit or 0
  while over > 0 do
    local gone = {}
    local oldest = redis.call('LPOP', records, math.min(over, STEP))
    for _, element in ipairs(oldest) do gone[#gone + 1] = idOf(element) end
    remember(gone)
    over = over - #oldest
  end
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
local length = redis.call('LLEN', records)
if limit > 0 or length == 0 then redis.call('LLEN', removed) end

local known, isKnown = 0, {}
inSteps(count, function(first, last)
  local found = redis.call('SMISMEMBER', ids, unpack(ARGV, 5 + first, 5 + last))
  for at, answer in ipairs(found) do
    if answer == 1 then
      known = known + 1
      isKnown[first + at - 1] = true
    end
  end
end)
-- Ids without a conversation are left over from one that is gone.
if length == 0 then known, isKnown = 0, {} end

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
  fresh = count - known
  local newIds, elements = {}, {}
  for at = 1, count do
    if not isKnown[at] then
      newIds[#newIds + 1] = ARGV[5 + at]
      elements[#elements + 1] = ARGV[5 + count + at]
    end
  end
  if isKnown[count] then elements[fresh] = stamp .. elements[fresh] end
  from, before = newIds, 0
  for at = 1, fresh do from[fresh + at] = elements[at] end
end

if length == 0 then redis.call('UNLINK', ids, removed) end
index(length == 0)
inSteps(fresh, function(first, last)
  redis.call('RPUSH', records, unpack(from, before + fresh + first, before + fresh + last))
end)
local failure
inSteps(fresh, function(first, last)
  local answer = redis.pcall('SADD', ids, unpack(from, before + first, before + last))
  if type(answer) == 'table' then failure = answer end
end)
if failure then
  -- Records whose ids are not remembered would be stored again by the retry.
  if length == 0 then redis.call('UNLINK', records) else redis.call('LTRIM', records, 0, length - 1) end
  return failure
end
trim(length + fresh)
expire()
return fresh
`,
);

/** KEYS as for writing, ARGV the name. */
export const CLEAR: Script = script(`
redis.call('LLEN', KEYS[1])
redis.call('SCARD', KEYS[2])
redis.call('LLEN', KEYS[3])
redis.call('ZCARD', KEYS[4])
redis.call('ZCARD', KEYS[5])
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[1])
return 1
`);
