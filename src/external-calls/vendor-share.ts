// How many calls of one account may be under way or waiting at a vendor at once, over all processes.
import type { Redis, Result } from 'ioredis';
import { DomainError } from '../kernel/domain-error.js';
import { withTimeout } from '../kernel/with-timeout.js';
import type { Attempt } from './external-call.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeVendorPlace(key: string, member: string, limit: number, ttlMs: number): Result<0 | 1, Context>;
  }
}

/** By Redis's clock. An attempt has one place, however often it is taken. A place of a process that died is free again when its time is up. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

/** How long Redis may keep silent before it counts as away, milliseconds. */
export const REDIS_AWAY_MS = 1_500;
/** When a place may be free again, seconds: calls are short. */
const RETRY_AFTER_SECONDS = 1;

/**
 * An account has `limit` places at a vendor, in each environment. While Redis is away calls are not counted, as with every
 * limit against abuse; they are not made either.
 */
export class VendorShare {
  /** `limit` 0 is none. */
  constructor(
    private readonly redis: Redis,
    private readonly limit: number,
    private readonly ttlMs: number,
    private readonly notCounted: () => void,
    private readonly redisAwayMs = REDIS_AWAY_MS,
  ) {
    redis.defineCommand('takeVendorPlace', { numberOfKeys: 1, lua: TAKE });
  }

  async take(vendor: string, attempt: Attempt): Promise<void> {
    if (this.limit === 0) return;
    const taken = await withTimeout(
      this.redisAwayMs,
      this.redis.takeVendorPlace(placesOf(vendor, attempt), attempt.attemptId, this.limit, this.ttlMs),
    );
    if (taken === null) this.notCounted();
    if (taken === 0) throw new DomainError('request.rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  async giveBack(vendor: string, attempt: Attempt): Promise<void> {
    if (this.limit > 0)
      await withTimeout(this.redisAwayMs, this.redis.zrem(placesOf(vendor, attempt), attempt.attemptId));
  }
}

function placesOf(vendor: string, { context }: Attempt): string {
  return `vendor-places:${vendor}:${context.environment}:${context.accountId}`;
}
