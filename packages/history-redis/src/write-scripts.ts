import { VERSION } from "./read-scripts.ts";
import { type Script, script } from "./script.ts";

/*
 * Lua does not roll back: a command that fails leaves what the ones before it wrote. So the first command that writes is
 * the one that fails when a key has another type, and what a later one must not leave behind half done is taken back.
 * Lua's unpack takes at most some 8,000 values, so long lists go in steps. Each command costs about a microsecond of the
 * server's time, each function that is defined a tenth, and an append is called more often than anything else.
 */

/** KEYS of every script that writes a conversation; ARGV begins with condition, ttl in ms and maxRecords or nothing. */
export const WRITING: string = `
local call = redis.call
local records, ids, removed, names, expiries = unpack(KEYS)
local condition, ttl, limit = unpack(ARGV, 1, 3)
local STEP = 4000
${VERSION}`;

/** Lua: the types of all keys are seen before anything is written. */
export const TYPES: string = `
call('LLEN', records)
call('SCARD', ids)
call('LLEN', removed)
call('ZCARD', names)
call('ZCARD', expiries)
`;

/** Lua: an error unless the user may call each of these commands on a key; a write that stops halfway loses records. */
export const PERMISSIONS: string = `
local function need(key, ...)
  for _, command in ipairs({ ... }) do
    if redis.acl_check_cmd and not redis.acl_check_cmd(command, key, '0', '0') then
      error(redis.error_reply('NOPERM this user has no permissions to run ' .. command))
    end
  end
end
`;

/**
 * Lua: the limit, kept in the same step as the write that went above it. Ids whose records go stay remembered for the next
 * 1,000 of them and as many as may be stored, then are forgotten. A list that becomes empty is gone, and its version and
 * expiry with it, so a placeholder is pushed first.
 */
export const TRIMMING: string = `
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

local function trim(over, stamp)
  if limit == '0' then call('RPUSH', records, stamp .. '||') end
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
 * and a sixteenth longer than the records, so they need not be told of every write that renews those. GT leaves a key alone
 * that never expires. Each conversation that begins clears away some that are long over, so the index cannot grow without end.
 */
export const INDEXING: string = `
local function hold(key, isFirst, life)
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

/** KEYS as for writing. */
export const CLEAR: Script = script(
  WRITING,
  TYPES,
  PERMISSIONS,
  `
need(names, 'ZREM')
need(expiries, 'ZREM')
call('UNLINK', records, ids, removed)
local name = string.match(records, ':%d+:h:{%d+}:(.*)$')
call('ZREM', names, name)
call('ZREM', expiries, name)
return 1
`,
);
