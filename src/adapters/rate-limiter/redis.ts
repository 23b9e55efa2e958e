import type { Redis, Result } from 'ioredis';
import { keyedId } from '../../kernel/ids.js';
import { Unavailable } from '../../kernel/unavailable.js';
import { RateLimiter, type RateRefusal, type RateUse, type RateVerdict } from '../../ports/rate-limiter.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /**
     * Takes the number of keys, the keys, the uses as JSON, and 1 to count or -1 to return. Returns the key that refuses (from 1; 0: none), and the
     * milliseconds until its window ends.
     */
    useRateWindows(keys: number, ...args: readonly string[]): Result<[refusing: number, leftMs: number], Context>;
  }
}

/**
 * A window begins with its first use and ends when its counter expires. Redis's clock is used, so the clocks of the processes do not matter. A
 * counter without an expiry would block its key for ever, so every counter gets an expiry.
 *
 * A shared window (see RateUse.callers) is a hash: its uses, its number of addresses, and the uses of each caller.
 */
const USE = `
local function left(key, window)
  local ms = redis.call('PTTL', key)
  if ms >= 0 then return ms end
  redis.call('PEXPIRE', key, window)
  return tonumber(window)
end
local uses, by = cjson.decode(ARGV[1]), tonumber(ARGV[2])
local function used(key, caller) return tonumber(redis.call('HGET', key, caller) or 0) end
local function refuses(key, use)
  if not use.callers then return tonumber(redis.call('GET', key) or 0) >= use.limit end
  if used(key, 'all') < use.limit then return false end
  local most = 0
  for _, caller in ipairs(use.callers) do most = math.max(most, used(key, caller)) end
  return most >= use.limit / math.max(used(key, 'addresses'), 1)
end
local refusing, wait = 0, -1
for at, key in ipairs(KEYS) do
  if by > 0 and refuses(key, uses[at]) then
    local ms = left(key, uses[at].windowMs)
    if ms > wait then refusing, wait = at, ms end
  end
end
if refusing > 0 then return { refusing, wait } end
for at, key in ipairs(KEYS) do
  local callers = uses[at].callers
  if by < 0 and (callers and used(key, callers[1]) or tonumber(redis.call('GET', key) or 0)) <= 0 then
    -- Nothing of it is left.
  elseif callers then
    redis.call('HINCRBY', key, 'all', by)
    for which, caller in ipairs(callers) do
      local now = redis.call('HINCRBY', key, caller, by)
      if which == 1 and now == math.max(by, 0) then redis.call('HINCRBY', key, 'addresses', by) end
    end
  else
    redis.call('INCRBY', key, by)
  end
  if by > 0 then left(key, uses[at].windowMs) end
end
return { 0, 0 }`;

const LIMIT_MS = 2_000;
const SET_ASIDE = 'rate:set-aside:';
const SET_ASIDE_MS = 3_600_000;

export class RedisRateLimiter extends RateLimiter {
  private readonly connection: BoundedRedis;
  private hashing: Uint8Array | null = null;

  /** `hashKey` returns 32 bytes (Vault.installationKey). `notCounted` is called when Redis or the vault is unavailable. */
  constructor(
    redis: Redis,
    private readonly hashKey: () => Promise<Uint8Array>,
    private readonly notCounted: () => void = () => undefined,
  ) {
    super();
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    redis.defineCommand('useRateWindows', { lua: USE });
  }

  override async hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict> {
    const windowMs = milliseconds(windowSeconds);
    const counted = await this.ask(limited([{ key, limit, windowSeconds }]), async (redis, [name = '']) => {
      const replies = await redis.multi().set(name, 0, 'PX', windowMs, 'NX').incr(name).pttl(name).exec();
      const [, used, leftMs] = (replies ?? []).map(([, reply]) => reply) as [unknown, number, number];
      if (leftMs < 0) await redis.pexpire(name, windowMs);
      return [used, leftMs < 0 ? windowMs : leftMs] as const;
    });
    if (counted === null) return { allowed: true, limit, remaining: limit, resetSeconds: windowSeconds };
    const [used, leftMs] = counted;
    return { allowed: used <= limit, limit, remaining: Math.max(0, limit - used), resetSeconds: seconds(leftMs) };
  }

  override async take(uses: readonly RateUse[]): Promise<RateRefusal | null> {
    const counting = limited(uses);
    const [refusing, leftMs] = (await this.ask(counting, (redis, names, told) =>
      redis.useRateWindows(names.length, ...names, told, '1'),
    )) ?? [0, 0];
    const refused = counting[refusing - 1];
    if (refused === undefined) return null;
    const { key, rule } = refused;
    return { key, retryAfterSeconds: seconds(leftMs), ...(rule !== undefined && { rule }) };
  }

  override async giveBack(uses: readonly RateUse[]): Promise<void> {
    await this.ask(limited(uses), (redis, names, told) => redis.useRateWindows(names.length, ...names, told, '-1'));
  }

  override async setAside(name: string, uses: readonly RateUse[]): Promise<void> {
    await this.ask(limited(uses), (redis, names, told) =>
      redis.set(SET_ASIDE + name, JSON.stringify([names, told]), 'PX', SET_ASIDE_MS),
    );
  }

  override async giveBackSetAside(name: string): Promise<void> {
    await this.unlessAway(async () => {
      const kept = await this.connection.use((redis) => redis.getdel(SET_ASIDE + name));
      const [names, told] = JSON.parse(kept ?? '[[]]') as [string[], string];
      if (names.length > 0)
        await this.connection.use((redis) => redis.useRateWindows(names.length, ...names, told, '-1'));
    });
  }

  override async forgetSetAside(name: string): Promise<boolean> {
    return (await this.unlessAway(() => this.connection.use((redis) => redis.del(SET_ASIDE + name)))) === 1;
  }

  /** Also null if all uses are unlimited. */
  private async ask<Reply>(
    uses: readonly RateUse[],
    send: (redis: Redis, names: readonly string[], told: string) => Promise<Reply>,
  ): Promise<Reply | null> {
    if (uses.length === 0) return null;
    return this.unlessAway(async () => {
      const hashing = (this.hashing ??= await this.hashKey());
      const named = (name: string): string => keyedId(hashing, name);
      const names = uses.map(({ key, callers }) => `rate:${callers ? 'shared:' : ''}${named(key)}`);
      const told = uses.map(({ limit, windowSeconds, callers }) => ({
        limit,
        windowMs: milliseconds(windowSeconds),
        ...(callers && { callers: callers.map(named) }),
      }));
      return this.connection.use((redis) => send(redis, names, JSON.stringify(told)));
    });
  }

  /** Null when Redis could not be reached, or when the key that hashes the names is not available. */
  private async unlessAway<Reply>(work: () => Promise<Reply>): Promise<Reply | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.notCounted();
      return null;
    }
  }
}

/** Removes uses without a limit. */
function limited(uses: readonly RateUse[]): readonly RateUse[] {
  return uses.filter(({ limit }) => limit > 0);
}

function milliseconds(windowSeconds: number): number {
  return Math.max(1, Math.round(windowSeconds * 1_000));
}

function seconds(leftMs: number): number {
  return Math.max(1, Math.ceil(leftMs / 1_000));
}
