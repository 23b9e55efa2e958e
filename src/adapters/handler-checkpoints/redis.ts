import type { Redis, Result } from 'ioredis';
import { HandlerCheckpoints, type HandlerShare } from '../../ports/handler-checkpoints.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { Gathered } from '../redis/gathered.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Keys; shares, holder and time to live of each. Of each, share and saved place of those that the holder has now, in pairs. */
    takeReactions(reactions: number, ...args: (number | string)[]): Result<(number | string | null)[][], Context>;
    /** Share and place in pairs; 0 when one of them is not the holder's. */
    saveReaction(
      reaction: string,
      holder: string,
      ttlMs: number,
      ...places: (number | string)[]
    ): Result<number, Context>;
    forgetReaction(reaction: string, shares: number, holder: string): Result<number, Context>;
    releaseReaction(reaction: string, shares: number, holder: string): Result<number, Context>;
  }
}

/**
 * The first share has the keys that an undivided reaction has. The others have their places from the first time that any is taken, empty for the
 * beginning: later the first share's place tells nothing of theirs.
 */
const KEY = `
local reaction = KEYS[1]
local function key(kind, share)
  if share == 0 then return reaction .. ':' .. kind end
  return reaction .. ':' .. kind .. ':' .. share
end`;

const TAKE = `${KEY}
-- How many of its shares are the holder's due, among all who ask.
local function dueOf(shares, holder, ttl)
  if shares == 1 then return 1 end
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local askers = reaction .. ':askers'
  redis.call('ZREMRANGEBYSCORE', askers, '-inf', now)
  redis.call('ZADD', askers, now + ttl, holder)
  redis.call('PEXPIRE', askers, ttl)
  local through = redis.call('GET', key('through', 0)) or ''
  for share = 1, shares - 1 do redis.call('SET', key('through', share), through, 'NX') end
  return math.ceil(shares / redis.call('ZCARD', askers))
end
local function takeOf(shares, holder, ttl)
  local due = dueOf(shares, holder, ttl)
  local taken = {}
  local function take(share)
    redis.call('SET', key('holder', share), holder, 'PX', ttl)
    table.insert(taken, share)
    table.insert(taken, redis.call('GET', key('through', share)))
  end
  local free = {}
  for share = 0, shares - 1 do
    local held = redis.call('GET', key('holder', share))
    if not held then
      table.insert(free, share)
    elseif held == holder then
      if #taken < 2 * due then take(share) else redis.call('DEL', key('holder', share)) end
    end
  end
  for _, share in ipairs(free) do
    if #taken < 2 * due then take(share) end
  end
  return taken
end
local all = {}
for n, name in ipairs(KEYS) do
  reaction = name
  all[n] = takeOf(tonumber(ARGV[3 * n - 2]), ARGV[3 * n - 1], tonumber(ARGV[3 * n]))
end
return all`;

const SAVE = `${KEY}
for place = 3, #ARGV, 2 do
  if redis.call('GET', key('holder', tonumber(ARGV[place]))) ~= ARGV[1] then return 0 end
end
for place = 3, #ARGV, 2 do
  local share = tonumber(ARGV[place])
  redis.call('SET', key('holder', share), ARGV[1], 'PX', ARGV[2])
  redis.call('SET', key('through', share), ARGV[place + 1])
end
return 1`;

const FORGET = `${KEY}
for share = 0, ARGV[1] - 1 do
  local held = redis.call('GET', key('holder', share))
  if held and held ~= ARGV[2] then return 0 end
end
for share = 0, ARGV[1] - 1 do redis.call('DEL', key('through', share)) end
return 1`;

const RELEASE = `${KEY}
redis.call('ZREM', KEYS[1] .. ':askers', ARGV[2])
for share = 0, ARGV[1] - 1 do
  if redis.call('GET', key('holder', share)) == ARGV[2] then redis.call('DEL', key('holder', share)) end
end
return 1`;

const LIMIT_MS = 2_000;

/** A reaction that is to be taken. */
interface Taking {
  readonly reaction: string;
  readonly shares: number;
  readonly holder: string;
  readonly ttlMs: number;
}

export class RedisHandlerCheckpoints extends HandlerCheckpoints {
  private readonly connection: BoundedRedis;
  /** An idle process takes all of its reactions again in one step. */
  private readonly takings = new Gathered((asks: readonly Taking[]) => this.takeAll(asks));

  constructor(redis: Redis) {
    super();
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    redis.defineCommand('takeReactions', { lua: TAKE });
    redis.defineCommand('saveReaction', { numberOfKeys: 1, lua: SAVE });
    redis.defineCommand('forgetReaction', { numberOfKeys: 1, lua: FORGET });
    redis.defineCommand('releaseReaction', { numberOfKeys: 1, lua: RELEASE });
  }

  override async take(reaction: string, shares: number, holder: string, ttlMs: number): Promise<HandlerShare[]> {
    const taken = await this.takings.ask({ reaction, shares, holder, ttlMs });
    return Array.from({ length: taken.length / 2 }, (_, pair) => ({
      share: Number(taken[pair * 2]),
      after: (taken[pair * 2 + 1] as string | null) || null,
    }));
  }

  private takeAll(asks: readonly Taking[]): Promise<(number | string | null)[][]> {
    const keys = asks.map(({ reaction }) => keyOf(reaction));
    const args = asks.flatMap(({ shares, holder, ttlMs }) => [shares, holder, ttlMs]);
    return this.connection.use((redis) => redis.takeReactions(keys.length, ...keys, ...args));
  }

  override async save(
    reaction: string,
    holder: string,
    places: ReadonlyMap<number, string>,
    ttlMs: number,
  ): Promise<boolean> {
    const saved = await this.connection.use((redis) =>
      redis.saveReaction(keyOf(reaction), holder, ttlMs, ...[...places].flat()),
    );
    return saved === 1;
  }

  override async passed(reaction: string, shares: number): Promise<string | null> {
    const key = `${keyOf(reaction)}:through`;
    const keys = Array.from({ length: shares }, (_, share) => (share === 0 ? key : `${key}:${share}`));
    const places = await this.connection.use((redis) => redis.mget(keys));
    return places.every(Boolean) ? (places.sort()[0] ?? null) : null;
  }

  override async forget(reaction: string, shares: number, holder: string): Promise<void> {
    await this.connection.use((redis) => redis.forgetReaction(keyOf(reaction), shares, holder));
  }

  override async release(reaction: string, shares: number, holder: string): Promise<void> {
    await this.connection.use((redis) => redis.releaseReaction(keyOf(reaction), shares, holder));
  }
}

function keyOf(reaction: string): string {
  return `{reaction:${reaction}}`;
}
