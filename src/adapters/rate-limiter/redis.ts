import type { Redis, Result } from 'ioredis';
import { RateLimiter, type RateVerdict } from '../../ports/rate-limiter.js';
import { BoundedRedis } from '../redis/bounded-redis.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Uses in the window including this one, and milliseconds until the window ends. */
    hitRateWindow(key: string, windowMs: number): Result<[used: number, leftMs: number], Context>;
  }
}

/**
 * A window begins with its first use and ends by the expiry of its counter: by Redis's clock, so that the clocks of the
 * processes do not matter. A counter without an expiry cannot be (it would block its key for ever); should one appear,
 * it is given one.
 */
const HIT = `
local used = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { used, left }`;

const LIMIT_MS = 2_000;

export class RedisRateLimiter extends RateLimiter {
  private readonly connection: BoundedRedis;

  constructor(redis: Redis) {
    super();
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    redis.defineCommand('hitRateWindow', { numberOfKeys: 1, lua: HIT });
  }

  override async hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict> {
    const [used, leftMs] = await this.connection.use((redis) => redis.hitRateWindow(`rate:${key}`, Math.max(1, Math.round(windowSeconds * 1_000))));
    return { allowed: used <= limit, limit, remaining: Math.max(0, limit - used), resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)) };
  }
}
