import { VERSION } from "./read-scripts.ts";
import { type Script, script } from "./script.ts";
import { INDEXING, PERMISSIONS, TRIMMING } from "./write-scripts.ts";

/**
 * Lua: an append to a conversation whose ids and index need not be told of anything, without an id that is remembered.
 * Nearly every append is one, so it comes before anything else is so much as defined: each function costs a tenth of a
 * microsecond. RPUSHX adds nothing where no conversation is. `asked` are the mark, then the ids of the elements.
 *
 * PEXPIRE and SADD give anything else than is looked for only when they fail. SADD comes last, here as below, because a record
 * whose id is remembered is never stored again.
 */
const USUAL = `
local call, try, match = redis.call, redis.pcall, string.match
local records, ids, mark = KEYS[1], KEYS[2], ARGV[1]
local ttl = string.sub(mark, 2)
local ID, asked = '^[^|]*|([^|]+)|', { mark }
if not KEYS[3] then
  local fresh = #ARGV - 1
  for at = 2, #ARGV do asked[at] = match(ARGV[at], ID) end
  local found, isUsual = call('SMISMEMBER', ids, unpack(asked)), true
  if found[1] == 0 and ttl ~= '0' then return '?' end
  for at = 2, 1 + fresh do
    if found[at] == 1 then isUsual = false end
  end
  if isUsual then
    local length = call('RPUSHX', records, unpack(ARGV, 2))
    if length == 0 then return '?' end
    local answer = ttl == '0' and 1 or try('PEXPIRE', records, ttl)
    if answer == 1 then answer = try('SADD', ids, unpack(asked, 2)) end
    if answer == fresh then return fresh end
    if try('LTRIM', records, 0, length - fresh - 1).err then call('RPOP', records, fresh) end
    return answer
  end
end
`;

/** Lua: the arguments of an append that is not the usual one, or turned out not to be. */
const ARGUMENTS = `
local STEP = 4000
local removed, names, expiries = KEYS[3], KEYS[4], KEYS[5]
local isWhole = names ~= nil
local count = #ARGV - (isWhole and 4 or 1)
local newest = ARGV[1 + count]
local condition, limit, isDue = '*', '', false
if isWhole then
  condition, limit, isDue = ARGV[#ARGV - 2], ARGV[#ARGV - 1], ARGV[#ARGV] == '+'
end
${VERSION}`;

/**
 * Lua: how many records an earlier try of this very call added whose answer was lost, or nothing. It goes by the stamp of
 * the call, wherever that is among the newest 10,000 records: the last record that was new has it, and the newest record
 * before that write has one too. LPOS copies nothing, so looking costs little when there was no such try. What a limit
 * removed was among those that were added.
 */
const ADDED_BEFORE = `
  local stamp, last = match(newest, '^[^|]*'), nil
  local at = count + 1
  while not last and at > 1 and at > count - 99 do
    at = at - 1
    local element = (at == count and '' or stamp) .. ARGV[1 + at]
    last = call('LPOS', records, element, 'RANK', -1, 'MAXLEN', at == count and 10000 or 200)
  end
  if not last then return '=' .. version() end
  local added = 1
  while added < at and last > 0 do
    local page = call('LRANGE', records, math.max(0, last - math.min(at - added, 200)), last - 1)
    for place = #page, 1, -1 do
      if string.byte(page[place]) ~= 124 then return added end
      added = added + 1
    end
    last = last - #page
  end
  return limit == '' and added or at
`;

/**
 * Lua: which of the ids are remembered. Who believes that ids and index were told of its ttl may mean those of a conversation
 * that is gone, and ids without a conversation are left over from one.
 */
const KNOWN = `
for at = #asked + 1, count + 1 do asked[at] = match(ARGV[at], ID) end
local known, isKnown, isTold = 0, nil, false
for first = 0, count, STEP do
  local found = call('SMISMEMBER', ids, unpack(asked, 1 + first, 1 + math.min(first + STEP - 1, count)))
  for at = 1, #found do
    if found[at] == 1 then
      if first + at == 1 then
        isTold = true
      else
        known, isKnown = known + 1, isKnown or {}
        isKnown[first + at - 1] = true
      end
    end
  end
end
if not isTold and ttl ~= '0' then isDue = true end
if known > 0 and call('EXISTS', records) == 0 then
  if not isWhole then return '?' end
  known = 0
end
`;

/**
 * Lua: only the newest part of an append above the limit ever stays. Where that is known, this is a repetition, and what came
 * before it and was forgotten must not be stored behind it.
 */
const REPEATED = `
if known > 0 and known < count and limit ~= '' and count - limit > 0 then
  local isRepeated = false
  for at = count - limit + 1, count do isRepeated = isRepeated or isKnown[at] end
  for at = 1, isRepeated and count - limit or 0 do
    if not isKnown[at] then known, isKnown[at] = known + 1, true end
  end
end
`;

/** Lua: adds the records whose ids are not remembered: the `fresh` ones behind `before` in both lists. Gives `length`. */
const PUSH = `
local elements, before, fresh = ARGV, 1, count
if known > 0 then
  local some, their = {}, {}
  for at = 1, count do
    if not isKnown[at] then
      some[#some + 1], their[#their + 1] = ARGV[1 + at], asked[1 + at]
    end
  end
  elements, asked, before, fresh = some, their, 0, #some
  if isKnown[count] then elements[fresh] = match(newest, '^[^|]*') .. elements[fresh] end
end

local length
for first = 1, fresh, STEP do
  length = call('RPUSH', records, unpack(elements, before + first, before + math.min(first + STEP - 1, fresh)))
end
`;

/**
 * Lua: all that may fail once the records are there. The types of keys are seen before anything hangs on them, the index is
 * told, and what `settle` does later must be allowed; the first ids that are removed get their life too, which takes two
 * commands more. The ids come last.
 */
const ATTEMPT = `
local isNew, over = length == fresh, limit == '' and 0 or length - limit
local settle
local isDone, failure = pcall(function()
  if isNew then
    call('LLEN', removed)
    call('UNLINK', ids, removed)
  end
  if ttl ~= '0' then call('PEXPIRE', records, ttl) end
  if isNew or isDue or over > 0 then
    ${PERMISSIONS}${TRIMMING}${INDEXING}
    local isMarked = ttl ~= '0' and (isNew or isDue)
    if isNew or isDue then enlist(isNew) end
    if over > 0 then
      if call('LLEN', removed) == 0 then
        need(ids, 'PTTL')
        need(removed, 'PEXPIRE')
      end
      need(records, 'LPOP')
      need(ids, 'SREM')
    end
    if isMarked then need(ids, 'SADD', 'PEXPIRE', 'PTTL') end
    function settle()
      if isMarked then
        hold(ids, isNew, lifeOfIndex())
        call('SADD', ids, mark)
      end
      if over > 0 then trim(over, match(newest, '^[^|]*')) end
    end
  end
  for first = 1, fresh, STEP do
    call('SADD', ids, unpack(asked, before + first, before + math.min(first + STEP - 1, fresh)))
  end
end)
`;

/** Lua: takes the records back where that failed. The server's pcall gives the text of an error, Lua's would give the error. */
const ENDING = `
if isDone then
  if settle then settle() end
  return fresh
end
local taken = isNew and try('LTRIM', records, 1, 0) or try('LTRIM', records, 0, length - fresh - 1)
if taken.err then call('RPOP', records, fresh) end
if isNew then
  local name = match(records, ':%d+:h:{%d+}:(.*)$')
  try('ZREM', names, name)
  try('ZREM', expiries, name)
end
return type(failure) == 'table' and failure or redis.error_reply(failure)
`;

/**
 * ARGV: the mark `|ttl`, which tells in the set of ids that these and the index know of this ttl in ms, the ids, as many
 * elements; then, with all KEYS, condition, maxRecords or nothing, and `+` when ids and index are due to be told. With only the
 * records and the ids for KEYS there is no condition and no limit. Gives how many were added, `=version` when none was,
 * `!version` when the condition does not hold, or `?` when nothing was done because it takes all of the KEYS.
 */
export const APPEND: Script = script(
  USUAL,
  ARGUMENTS,
  KNOWN,
  REPEATED,
  `
if known == count then
`,
  ADDED_BEFORE,
  `
end
if condition ~= '*' then
  local current = version()
  if condition ~= '=' .. current then return '!' .. current end
end
`,
  PUSH,
  ATTEMPT,
  ENDING,
);
