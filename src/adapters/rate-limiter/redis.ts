import type { Redis, Result } from 'ioredis';
import { keyedId } from '../../kernel/ids.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { RateLimiter, type RateRefusal, type RateUse, type RateVerdict } from '../../ports/rate-limiter.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Uses in the window including this one, and milliseconds until the window ends. */
    hitRateWindow(key: string, windowMs: number): Result<[used: number, leftMs: number], Context>;
    /** How many keys, the keys, then limit and window of each. Which key refuses (from 1; 0: none), and milliseconds until its window ends. */
    takeFromRateWindows(
      keys: number,
      ...args: readonly (string | number)[]
    ): Result<[refusing: number, leftMs: number], Context>;
    giveBackToRateWindows(keys: number, ...args: readonly string[]): Result<null, Context>;
  }
}

/**
 * A window begins with its first use and ends by the expiry of its counter: by Redis's clock, so that the clocks of the
 * processes do not matter. A counter without an expiry cannot be (it would block its key for ever); should one appear,
 * it is given one.
 */
const LEFT = `
local function left(key, window)
  local ms = redis.call('PTTL', key)
  if ms >= 0 then return ms end
  redis.call('PEXPIRE', key, window)
  return tonumber(window)
end`;

const HIT = `${LEFT}
local used = redis.call('INCR', KEYS[1])
return { used, left(KEYS[1], ARGV[1]) }`;

const TAKE = `${LEFT}
local refusing, wait = 0, -1
for at, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or 0) >= tonumber(ARGV[2 * at - 1]) then
    local ms = left(key, ARGV[2 * at])
    if ms > wait then refusing, wait = at, ms end
  end
end
if refusing > 0 then return { refusing, wait } end
for at, key in ipairs(KEYS) do
  redis.call('INCR', key)
  left(key, ARGV[2 * at])
end
return { 0, 0 }`;

const GIVE_BACK = `
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or 0) > 0 then redis.call('DECR', key) end
end`;

const LIMIT_MS = 2_000;

export class RedisRateLimiter extends RateLimiter {
  private readonly connection: BoundedRedis;
  private hashing: Uint8Array | null = null;

  /** `hashKey`: 32 random bytes, always the same (see Vault.installationKey). `notCounted` hears of every time that Redis or the vault could not be asked. */
  constructor(
    redis: Redis,
    private readonly hashKey: () => Promise<Uint8Array>,
    private readonly notCounted: () => void = () => undefined,
  ) {
    super();
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    redis.defineCommand('hitRateWindow', { numberOfKeys: 1, lua: HIT });
    redis.defineCommand('takeFromRateWindows', { lua: TAKE });
    redis.defineCommand('giveBackToRateWindows', { lua: GIVE_BACK });
  }

  override async hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict> {
    const counted =
      limit === 0
        ? null
        : await this.ask([{ key }], (redis, [name = '']) => redis.hitRateWindow(name, milliseconds(windowSeconds)));
    if (counted === null) return { allowed: true, limit, remaining: limit, resetSeconds: windowSeconds };
    const [used, leftMs] = counted;
    return { allowed: used <= limit, limit, remaining: Math.max(0, limit - used), resetSeconds: seconds(leftMs) };
  }

  override async take(uses: readonly RateUse[]): Promise<RateRefusal | null> {
    const limited = uses.filter(({ limit }) => limit > 0);
    if (limited.length === 0) return null;
    const limits = limited.flatMap(({ limit, windowSeconds }) => [limit, milliseconds(windowSeconds)]);
    const [refusing, leftMs] = (await this.ask(limited, (redis, names) =>
      redis.takeFromRateWindows(limited.length, ...names, ...limits),
    )) ?? [0, 0];
    const refused = limited[refusing - 1];
    return refused === undefined ? null : { key: refused.key, retryAfterSeconds: seconds(leftMs) };
  }

  override async giveBack(uses: readonly RateUse[]): Promise<void> {
    const limited = uses.filter(({ limit }) => limit > 0);
    if (limited.length === 0) return;
    await this.ask(limited, (redis, names) => redis.giveBackToRateWindows(names.length, ...names));
  }

  /** Null when Redis could not be asked, or the key of the names not be had. */
  private async ask<Reply>(
    uses: readonly Pick<RateUse, 'key'>[],
    send: (redis: Redis, names: readonly string[]) => Promise<Reply>,
  ): Promise<Reply | null> {
    try {
      const hashing = (this.hashing ??= await this.hashKey());
      const names = uses.map(({ key }) => `rate:${keyedId(hashing, key)}`);
      return await this.connection.use((redis) => send(redis, names));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.notCounted();
      return null;
    }
  }
}

function milliseconds(windowSeconds: number): number {
  return Math.max(1, Math.round(windowSeconds * 1_000));
}

function seconds(leftMs: number): number {
  return Math.max(1, Math.ceil(leftMs / 1_000));
}
