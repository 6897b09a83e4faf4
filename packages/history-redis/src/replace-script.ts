import { type Script, script } from "./script.ts";
import { INDEXING, PERMISSIONS, TRIMMING, TYPES, WRITING } from "./write-scripts.ts";

/** Lua: `inSteps` calls work(first, last) for the pieces of 1 to size. */
const PREPARING = `
local stamp = ARGV[4]
local count = (#ARGV - 6) / 2
local length = call('LLEN', records)

local function inSteps(size, work)
  for first = 1, size, STEP do work(first, math.min(first + STEP - 1, size)) end
end

local function idOf(element)
  return string.match(element, '^[^|]*|([^|]+)|')
end
`;

/**
 * Lua: the stamp is near the end when an earlier try of this very call was carried out and only its answer was lost. Its
 * version is what that answer said: the caller has not seen what others wrote behind it.
 */
const REFUSING = `
local function refuse(reason)
  if count > 0 and call('LPOS', records, ARGV[#ARGV], 'RANK', -1, 'MAXLEN', 10000) then return { 'ok', stamp } end
  for _, element in ipairs(call('LRANGE', records, -200, -1)) do
    if string.sub(element, 1, #stamp + 1) == stamp .. '|' then return { 'ok', stamp } end
  end
  return { reason, version() }
end
`;

/** Lua: where an id is. From both ends at once: what is replaced is mostly at one of them. */
const FINDING = `
local function find(id)
  local low, high = 0, length - 1
  while low <= high do
    for _, first in ipairs({ low, math.max(low, high - 199) }) do
      for at, element in ipairs(call('LRANGE', records, first, math.min(first + 199, high))) do
        if idOf(element) == id then return first + at - 1 end
      end
    end
    low, high = low + 200, high - 200
  end
end

if condition ~= '*' and condition ~= '=' .. version() then return refuse('conflict') end
local from = find(ARGV[5])
if not from then return refuse('from') end
local through = find(ARGV[6])
if not through then return refuse('through') end
if through < from then return { 'order', version() } end
`;

/** Lua: `gone` are the ids that go, unless one that is to come is stored elsewhere. */
const COMPARING = `
local gone = {}
for first = from, through, STEP do
  for _, element in ipairs(call('LRANGE', records, first, math.min(first + STEP - 1, through))) do
    local id = idOf(element)
    if id then gone[id] = true end
  end
end
local taken
inSteps(count, function(first, last)
  local found = call('SMISMEMBER', ids, unpack(ARGV, 6 + first, 6 + last))
  for at, answer in ipairs(found) do
    local id = ARGV[5 + first + at]
    if answer == 1 and not gone[id] and not taken then taken = first + at - 1 end
    gone[id] = nil
  end
end)
if taken then return { 'stored', tostring(taken - 1) } end
`;

/**
 * Lua: the newest element that stays gets the new version, unless a new record is the newest. `stays` is the rest of it behind
 * its own stamp.
 */
const KEEPING = `
local function withoutStamp(element)
  return string.match(element, '^|[^|]*|.*') or string.match(element, '^[0-9a-z]+%-[0-9a-f]+(|[^|]*|.*)')
end

local before, after = from, length - 1 - through
local isAll = before == 0 and after == 0
local stays
if after > 0 or (count == 0 and not isAll) then
  stays = withoutStamp(call('LINDEX', records, after > 0 and -1 or from - 1))
  if not stays then return { 'unreadable', version() } end
end
`;

/** Lua: half of a replace would lose records, so all of its commands must be allowed before the first is called. */
const ALLOWED = `
need(records, 'LTRIM', 'LPUSH', 'RPUSH', 'LSET', 'LPOP', 'LINDEX', 'PEXPIRE')
need(ids, 'SADD', 'SREM', 'PEXPIRE', 'PTTL')
need(removed, 'RPUSH', 'LPOP', 'PEXPIRE')
need(names, 'ZADD')
need(expiries, 'ZADD')
`;

/** Lua: ids are moved to the removed ones later, which live as long. */
const RENEWING = `
if ttl ~= '0' then
  enlist(false)
  hold(ids, false, lifeOfIndex())
end
`;

/** Lua: where all goes, the new records are pushed first: a list that becomes empty is gone, and its expiry with it. */
const STORING = `
inSteps(count, function(first, last) call('SADD', ids, unpack(ARGV, 6 + first, 6 + last)) end)
local function push(list, offset, size)
  inSteps(size, function(first, last) call('RPUSH', records, unpack(list, offset + first, offset + last)) end)
end
if isAll then
  if count == 0 then call('RPUSH', records, stamp .. '||') end
  push(ARGV, 6 + count, count)
  call('LTRIM', records, length, -1)
elseif before <= after then
  local moved = before > 0 and call('LRANGE', records, 0, before - 1) or {}
  for at = 1, count do moved[before + at] = ARGV[6 + count + at] end
  call('LTRIM', records, through + 1, -1)
  for at = #moved, 1, -1 do call('LPUSH', records, moved[at]) end
else
  local moved = after > 0 and call('LRANGE', records, through + 1, -1) or {}
  call('LTRIM', records, 0, before - 1)
  push(ARGV, 6 + count, count)
  push(moved, 0, #moved)
end
if stays then call('LSET', records, -1, stamp .. stays) end
if limit ~= '' then
  local left = {}
  for id in pairs(gone) do left[#left + 1] = id end
  inSteps(#left, function(first, last) remember({ unpack(left, first, last) }) end)
  trim(call('LLEN', records) - limit, stamp)
end
if ttl ~= '0' then call('PEXPIRE', records, ttl) end
return { 'ok', version() }
`;

/**
 * ARGV after the common ones: stamp, fromId, throughId, then the ids and as many elements. Gives a list: `ok` or `conflict`
 * with the version, or `from`, `through`, `order`, `unreadable`, or `stored` with the position of a new id.
 */
export const REPLACE: Script = script(
  WRITING,
  TYPES,
  PERMISSIONS,
  TRIMMING,
  INDEXING,
  PREPARING,
  REFUSING,
  FINDING,
  COMPARING,
  KEEPING,
  ALLOWED,
  RENEWING,
  STORING,
);
