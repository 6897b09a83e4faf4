import { type Script, script } from "./script.ts";

/** Lua: the version that stands in the newest element of `records`, as `versionOf` reads it. */
export const VERSION: string = `
local function version()
  local newest = redis.call('LINDEX', records, -1)
  if not newest then return '' end
  return string.match(newest, '^([0-9a-z]+%-[0-9a-f]+)|') or '~' .. redis.sha1hex(newest)
end
`;

/**
 * A page that a bare LRANGE cannot give. ARGV: how many records (0 is all), the anchor's distance from the end (0 is no
 * anchor), how many more elements to leave out before it, the anchor's id or nothing, and whether the first record is
 * wanted. Gives version, first record or nothing, the page's distance from the end, and its elements with one more in
 * front of them; or nothing when the anchor is not found. The first element may be the placeholder of a conversation that was
 * empty once.
 *
 * Appends leave the anchor where it is counted from the start, and the limit and replaced records move it: so it is looked
 * for where it was when the cursor was made, then on both sides of that, in growing steps and up to 50,000 elements away.
 */
export const PAGE: Script = script(`
local call, records = redis.call, KEYS[1]
local last, distance, skip, id, first = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
${VERSION}
local length = call('LLEN', records)

local function scan(low, high)
  for at, element in ipairs(low <= high and call('LRANGE', records, low, high) or {}) do
    if string.match(element, '^[^|]*|([^|]+)|') == id then return low + at - 1 end
  end
end

local function find(guess)
  local low, high, step = guess, guess + 1, 1
  while (low >= 0 or high < length) and high - guess <= 50000 do
    local found = scan(math.max(0, low - step + 1), low) or scan(high, high + step - 1)
    if found then return found end
    low, high, step = low - step, high + step, math.min(step * 4, 500)
  end
end

local finish = length
if distance > 0 then
  finish = length - distance
  if id ~= '' then finish = find(math.max(0, finish)) end
  if length == 0 or not finish or finish < 0 then return false end
  finish = math.max(0, finish - skip)
end
local start = last == 0 and 0 or math.max(0, finish - last - 1)
local elements = finish > 0 and call('LRANGE', records, start, finish - 1) or {}
local oldest = ''
if first == '1' then
  local two = call('LRANGE', records, 0, 1)
  oldest = two[1] or ''
  if string.match(oldest, '^[^|]*||$') then oldest = two[2] or '' end
end
return { version(), oldest, length - finish, elements }
`);

/**
 * KEYS: the index of names, that of expiries, then the records of conversations; ARGV: the names of those. Gives for each
 * its version, or nothing when it is gone, and then takes it out of the index. A replica that may not write answers as well;
 * the next list on a master clears up.
 * One of several commands of a call, and short, so it is sent as it is.
 */
export const PRESENT: string = `
local answers = {}
for at = 3, #KEYS do
  local newest = redis.pcall('LINDEX', KEYS[at], -1)
  if not newest then
    redis.pcall('ZREM', KEYS[1], ARGV[at - 2])
    redis.pcall('ZREM', KEYS[2], ARGV[at - 2])
    answers[at - 2] = ''
  else
    answers[at - 2] = type(newest) == 'string' and string.match(newest, '^([0-9a-z]+%-[0-9a-f]+)|') or '~'
  end
end
return answers
`;
