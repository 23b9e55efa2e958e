// The Lua scripts of the read models. Each that writes documents touches the keys of one hash tag only. Positions are compared as strings: Lua
// numbers are doubles. Revisions and generations are far below 2^53.
import type { Redis, Result } from 'ioredis';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    readModelApply(...args: readonly string[]): Result<number, Context>;
    /** The total, and the entry and the document of each in turn. */
    readModelList(...args: readonly string[]): Result<[number, ...(string | null)[]], Context>;
    /** Of each list the entries that are due. */
    readModelsDue(keys: number, ...args: readonly string[]): Result<string[][], Context>;
    /** Of each live generation, building generation, request; null: another process has the lease. */
    projectionLeases(keys: number, ...args: readonly string[]): Result<((string | null)[] | null)[], Context>;
    projectionRelease(...args: readonly string[]): Result<number, Context>;
    projectionBegin(...args: readonly string[]): Result<number, Context>;
    projectionCommit(...args: readonly string[]): Result<'done' | 'fenced' | 'moved' | 'missing', Context>;
    /** The next cursor, and ids. */
    projectionUnequal(...args: readonly string[]): Result<string[], Context>;
    projectionPromote(...args: readonly string[]): Result<'promoted' | 'behind' | 'fenced', Context>;
  }
}

/**
 * Guarded writes of documents, four arguments each: see `documentFields`. A document with a revision that is not higher than the
 * stored one changes nothing; the entries of a new one replace those of the one before. Of a document that is older than `since` only
 * `remains` is written, and nothing of one whose entries are older than `listedSince`. Everything is sent to Redis in a few large
 * commands; unpack has a limit of some thousands.
 */
const WRITE = `
local function send(command, key, args)
  for first = 1, #args, 2000 do redis.call(command, key, unpack(args, first, math.min(first + 1999, #args))) end
end
-- What stays of a document that leaves: its line without the entry in the list of those that are to leave, if it is in others.
local function remains(text)
  local revision, others = string.match(text, '^(%d+)\\trecent [^\\t\\n]+([^\\n]*)\\n')
  if not revision then return text end
  return others ~= '' and revision .. others .. '\\n' or nil
end
-- What is to be stored of it now; nil for nothing.
local function due(text, since, listedSince)
  local hour = string.match(text, '^%d+\\trecent ([^\\t\\n]+)')
  if hour and hour < since then text = remains(text) end
  local listed = text and string.match(text, '^%d+\\tlisted ([^\\t\\n]+)')
  if listed and listed < listedSince then return nil end
  return text
end
local function entriesOf(text) return text and string.match(text, '^%d+([^\\n]*)\\n') or '' end
local function keepLatest(entries, latest)
  for list, member in pairs(latest) do
    local known = redis.call('ZREVRANGEBYLEX', entries, '(' .. list .. '!', '[' .. list .. ' ', 'LIMIT', 0, 1)[1]
    if not known or known < member then
      redis.call('ZADD', entries, 0, member)
      if known then redis.call('ZREM', entries, known) end
    end
  end
end
local function write(docs, entries, since, listedSince, from)
  local values, gone, removed, added, latest = {}, {}, {}, {}, {}
  for first = from, #ARGV, 4000 do
    local ids = {}
    for i = first, math.min(first + 3999, #ARGV), 4 do ids[#ids + 1] = ARGV[i] end
    for n, old in ipairs(redis.call('HMGET', docs, unpack(ids))) do
      local at = first + 4 * n - 4
      local id, revision = ARGV[at], tonumber(ARGV[at + 1])
      if not old or (tonumber(string.match(old, '^%d+')) or -1) < revision then
        local text = due(ARGV[at + 2], since, listedSince)
        if text then
          values[#values + 1] = id
          values[#values + 1] = text
        elseif old then
          gone[#gone + 1] = id
        end
        local before, now = entriesOf(old), entriesOf(text)
        if before ~= now then
          for entry in string.gmatch(before, '[^\\t]+') do removed[#removed + 1] = entry .. ' ' .. id end
          for entry in string.gmatch(now, '[^\\t]+') do
            added[#added + 1] = 0
            added[#added + 1] = entry .. ' ' .. id
          end
        end
        for entry in string.gmatch(ARGV[at + 3], '[^\\t]+') do
          local list, member = string.match(entry, '^[^ ]+'), entry .. ' ' .. id
          if not latest[list] or latest[list] < member then latest[list] = member end
        end
      end
    end
  end
  send('HSET', docs, values)
  send('HDEL', docs, gone)
  send('ZREM', entries, removed)
  send('ZADD', entries, added)
  keepLatest(entries, latest)
end
`;

/** Lets some of the documents, or of their entries, go that have become too old: more than a commit brings, so that none are left in the long run. */
const LEAVE = `
local function leave(docs, entries, since, listedSince, list)
  local old = redis.call('ZRANGEBYLEX', entries, '[' .. list .. ' ', '(' .. list .. ' ' .. (list == 'recent' and since or listedSince), 'LIMIT', 0, 250)
  if #old == 0 then return end
  local ids, values, gone = {}, {}, {}
  local removed = old
  for n, entry in ipairs(old) do ids[n] = string.match(entry, '[^ ]+$') end
  for n, text in ipairs(redis.call('HMGET', docs, unpack(ids))) do
    local rest = text and due(text, since, listedSince)
    if rest then
      values[#values + 1] = ids[n]
      values[#values + 1] = rest
    else
      gone[#gone + 1] = ids[n]
      for other in string.gmatch(entriesOf(text), '[^\\t]+') do removed[#removed + 1] = other .. ' ' .. ids[n] end
    end
  end
  send('HSET', docs, values)
  send('HDEL', docs, gone)
  send('ZREM', entries, removed)
end
`;

/** KEYS live generation, building generation. A generation that is gone is not brought back by a writer that only knows one document. */
const APPLY = `${WRITE}
for k = 1, 4, 3 do
  if redis.call('EXISTS', KEYS[k]) == 1 then write(KEYS[k + 1], KEYS[k + 2], '', '', 1) end
end
return 1
`;

/**
 * KEYS live generation, building generation; ARGV bounds of the list, bounds of the page, order, skip, count. While nothing is live,
 * what has been built so far is listed.
 */
const LIST = `
local k = redis.call('EXISTS', KEYS[1]) == 1 and 1 or 4
local reply = { redis.call('ZLEXCOUNT', KEYS[k + 2], ARGV[1], ARGV[2]) }
local found
if ARGV[5] == 'ascending' then
  found = redis.call('ZRANGEBYLEX', KEYS[k + 2], ARGV[3], ARGV[4], 'LIMIT', ARGV[6], ARGV[7])
else
  found = redis.call('ZREVRANGEBYLEX', KEYS[k + 2], ARGV[4], ARGV[3], 'LIMIT', ARGV[6], ARGV[7])
end
for _, entry in ipairs(found) do
  reply[#reply + 1] = entry
  reply[#reply + 1] = redis.call('HGET', KEYS[k + 1], string.match(entry, '[^ ]+$'))
end
return reply
`;

/** KEYS live state, entries of live, entries of building, of each; ARGV bounds and count of each. While nothing is live, as in LIST. */
const DUE = `
local all = {}
for n = 1, #KEYS / 3 do
  local k = 3 * n - 2
  local entries = redis.call('EXISTS', KEYS[k]) == 1 and KEYS[k + 1] or KEYS[k + 2]
  all[n] = redis.call('ZRANGEBYLEX', entries, ARGV[k], ARGV[k + 1], 'LIMIT', 0, ARGV[k + 2])
end
return all
`;

/** KEYS lease, live state, building state, request, of each; ARGV token and time to live of each. */
const LEASE = `
local all = {}
for n = 1, #KEYS / 4 do
  local k, token = 4 * n - 3, ARGV[2 * n - 1]
  local holder = redis.call('GET', KEYS[k])
  if holder and holder ~= token then
    all[n] = false
  else
    redis.call('SET', KEYS[k], token, 'PX', ARGV[2 * n])
    all[n] = { redis.call('HGET', KEYS[k + 1], 'generation'), redis.call('HGET', KEYS[k + 2], 'generation'), redis.call('GET', KEYS[k + 3]) }
  end
end
return all
`;

const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`;

/** KEYS lease, live generation, building generation; ARGV token, generation, '1' to keep the live one. */
const BEGIN = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[5], KEYS[6], KEYS[7])
if ARGV[3] ~= '1' then redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4]) end
redis.call('HSET', KEYS[5], 'generation', ARGV[2], 'position', '', 'log', '')
return 1
`;

/** KEYS lease, live generation, building generation; ARGV token, generation, expected, next, log, since when documents and since when entries are kept, documents. */
const COMMIT = `${WRITE}${LEAVE}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'fenced' end
for k = 2, 5, 3 do
  local state = redis.call('HMGET', KEYS[k], 'generation', 'position')
  if state[1] == ARGV[2] then
    if state[2] ~= ARGV[3] then return 'moved' end
    write(KEYS[k + 1], KEYS[k + 2], ARGV[6], ARGV[7], 8)
    leave(KEYS[k + 1], KEYS[k + 2], ARGV[6], ARGV[7], 'recent')
    if ARGV[7] ~= '' then leave(KEYS[k + 1], KEYS[k + 2], ARGV[6], ARGV[7], 'listed') end
    redis.call('HSET', KEYS[k], 'position', ARGV[4], 'log', ARGV[5])
    return 'done'
  end
end
return 'missing'
`;

/** KEYS lease, live generation, building generation, report, request; ARGV token, generation, through, report, request that it answers or ''. */
const PROMOTE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('HGET', KEYS[5], 'generation') ~= ARGV[2] then return 'fenced' end
if (redis.call('HGET', KEYS[2], 'position') or '') > ARGV[3] then return 'behind' end
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
for k = 5, 7 do
  if redis.call('EXISTS', KEYS[k]) == 1 then redis.call('RENAME', KEYS[k], KEYS[k - 3]) end
end
redis.call('SET', KEYS[8], ARGV[4])
if ARGV[5] ~= '' and redis.call('GET', KEYS[9]) == ARGV[5] then redis.call('DEL', KEYS[9]) end
return 'promoted'
`;

/** KEYS documents that are scanned, documents that they are compared with; ARGV cursor, count. */
const UNEQUAL = `
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local ids, reply = {}, { page[1] }
for n = 1, #page[2], 2 do ids[#ids + 1] = page[2][n] end
if #ids == 0 then return reply end
for n, other in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do
  if other ~= page[2][2 * n] then reply[#reply + 1] = ids[n] end
end
return reply
`;

/** Makes the scripts commands of this connection; again is harmless. */
export function defineScripts(redis: Redis): void {
  redis.defineCommand('readModelsDue', { lua: DUE });
  redis.defineCommand('projectionLeases', { lua: LEASE });
  const scripts: readonly (readonly [string, number, string])[] = [
    ['readModelApply', 6, APPLY],
    ['readModelList', 6, LIST],
    ['projectionRelease', 1, RELEASE],
    ['projectionBegin', 7, BEGIN],
    ['projectionCommit', 7, COMMIT],
    ['projectionUnequal', 2, UNEQUAL],
    ['projectionPromote', 9, PROMOTE],
  ];
  for (const [name, numberOfKeys, lua] of scripts) redis.defineCommand(name, { numberOfKeys, lua });
}
