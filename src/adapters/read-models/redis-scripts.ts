// The Lua scripts of the read models. Each touches the keys of one hash tag only. Positions, fencing numbers and pointers are
// compared as strings: Lua numbers are doubles. Revisions and due times are far below 2^53.
import type { Redis, Result } from 'ioredis';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Number of documents written, -1 when the shard is gone. */
    readModelWrite(...args: readonly string[]): Result<number, Context>;
    /** 1 done, 0 shard gone, -1 fenced, -2 the checkpoint is another. */
    projectionCommit(...args: readonly string[]): Result<number, Context>;
    /** Null: shard gone; one element: fenced; else position and log. */
    projectionClaim(...args: readonly string[]): Result<string[] | null, Context>;
    projectionPrepare(...args: readonly string[]): Result<number, Context>;
    projectionLease(...args: readonly string[]): Result<number | null, Context>;
    /** Held (1 or 0), pointer, request. */
    projectionRenew(...args: readonly string[]): Result<[number, string | null, string | null], Context>;
    projectionRelease(...args: readonly string[]): Result<number, Context>;
    projectionPoint(...args: readonly string[]): Result<number, Context>;
  }
}

/**
 * Guarded writes. For each document: id, revision, value, due time or '', number of memberships, memberships. A document with a
 * revision that is not higher than the stored one changes nothing, neither its lists nor its due time. Everything is sent
 * to Redis in a few large commands; unpack has a limit of some thousands.
 */
const WRITE = `
local function write(docs, index, due, from)
  local ids, at = {}, {}
  local i = from
  while i <= #ARGV do
    ids[#ids + 1] = ARGV[i]
    at[#at + 1] = i
    i = i + 5 + tonumber(ARGV[i + 4])
  end
  local written = 0
  for first = 1, #ids, 1000 do
    local last = math.min(first + 999, #ids)
    local stored = redis.call('HMGET', docs, unpack(ids, first, last))
    local values, members, times, gone = {}, {}, {}, {}
    for n = first, last do
      local old, p = stored[n - first + 1], at[n]
      if not old or (tonumber(string.match(old, '^(%d+) ')) or -1) < tonumber(ARGV[p + 1]) then
        written = written + 1
        values[#values + 1] = ids[n]
        values[#values + 1] = ARGV[p + 2]
        if ARGV[p + 3] ~= '' then
          times[#times + 1] = ARGV[p + 3]
          times[#times + 1] = ids[n]
        elseif old then
          gone[#gone + 1] = ids[n]
        end
        for m = p + 5, p + 4 + tonumber(ARGV[p + 4]) do
          members[#members + 1] = 0
          members[#members + 1] = ARGV[m]
          if #members >= 2000 then
            redis.call('ZADD', index, unpack(members))
            members = {}
          end
        end
      end
    end
    if #values > 0 then redis.call('HSET', docs, unpack(values)) end
    if #members > 0 then redis.call('ZADD', index, unpack(members)) end
    if #times > 0 then redis.call('ZADD', due, unpack(times)) end
    if #gone > 0 then redis.call('ZREM', due, unpack(gone)) end
  end
  return written
end
`;

/** A shard that is gone is not brought back by a writer that only knows one document. */
const READ_MODEL_WRITE = `${WRITE}
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
return write(KEYS[2], KEYS[3], KEYS[4], 1)
`;

const COMMIT = `${WRITE}
local state = redis.call('HMGET', KEYS[1], 'fence', 'position')
if not state[1] then return 0 end
if state[1] ~= ARGV[1] then return -1 end
if state[2] ~= ARGV[2] then return -2 end
write(KEYS[2], KEYS[3], KEYS[4], 5)
redis.call('HSET', KEYS[1], 'position', ARGV[3], 'log', ARGV[4])
return 1
`;

/** What an older process let expire is wanted again by whoever claims it. Fencing numbers have 13 digits until the year 2286. */
const CLAIM = `
local state = redis.call('HMGET', KEYS[1], 'fence', 'position', 'log')
if not state[1] then return false end
if state[1] > ARGV[1] then return {'fenced'} end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
for _, key in ipairs(KEYS) do redis.call('PERSIST', key) end
return {state[2], state[3]}
`;

const PREPARE = `
redis.call('UNLINK', unpack(KEYS))
return redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'position', '', 'log', '')
`;

/** The number follows the time of day, so that it rises even over the loss of everything stored. */
const LEASE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return false end
local now = redis.call('TIME')
local fence = math.max(now[1] * 1000 + math.floor(now[2] / 1000), (tonumber(redis.call('GET', KEYS[2])) or 0) + 1)
local text = string.format('%.0f', fence)
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], text .. ' ' .. ARGV[1], 'PX', ARGV[2])
return fence
`;

const HELD = `
local function held(lease, fence)
  local stored = redis.call('GET', lease)
  return stored and string.match(stored, '^%d+') == fence
end
`;

const RENEW = `${HELD}
local mine = held(KEYS[1], ARGV[1])
if mine then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {mine and 1 or 0, redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])}
`;

const RELEASE = `${HELD}
if not held(KEYS[1], ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])
`;

/**
 * Pointer compare-and-set by the lease holder. KEYS lease, pointer, known, request, report; ARGV fence, from, to, generation begun or
 * '', report or '', request that the report answers or ''.
 */
const POINT = `${HELD}
if not held(KEYS[1], ARGV[1]) then return 0 end
local stored = redis.call('GET', KEYS[2])
if (stored or '- -') ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[2], ARGV[3])
if ARGV[4] ~= '' then redis.call('SADD', KEYS[3], ARGV[4]) end
if ARGV[5] ~= '' then redis.call('SET', KEYS[5], ARGV[5]) end
if ARGV[6] ~= '' and redis.call('GET', KEYS[4]) == ARGV[6] then redis.call('DEL', KEYS[4]) end
return 1
`;

/** Makes the scripts commands of this connection; again is harmless. */
export function defineScripts(redis: Redis): void {
  const scripts: readonly (readonly [string, number, string])[] = [
    ['readModelWrite', 4, READ_MODEL_WRITE],
    ['projectionCommit', 4, COMMIT],
    ['projectionClaim', 4, CLAIM],
    ['projectionPrepare', 4, PREPARE],
    ['projectionLease', 2, LEASE],
    ['projectionRenew', 3, RENEW],
    ['projectionRelease', 1, RELEASE],
    ['projectionPoint', 5, POINT],
  ];
  for (const [name, numberOfKeys, lua] of scripts) redis.defineCommand(name, { numberOfKeys, lua });
}
