// Limits the running and waiting calls that one account and one lineage of tokens have at a vendor, over all processes.
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis, Result } from 'ioredis';
import { DomainError } from '../kernel/domain-error.js';
import { Unavailable } from '../kernel/unavailable.js';
import { withTimeout } from '../kernel/with-timeout.js';
import type { Attempt } from './external-call.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** KEYS: the places of all, of the account, of the lineage; the waiting callers. 1: taken, 0: refused, -1: wait. */
    takeVendorPlace(...args: readonly (string | number)[]): Result<1 | 0 | -1, Context>;
  }
}

/**
 * Uses Redis's clock. An attempt has one place, even if it takes it several times. A place of a dead process is free again after its time. An account
 * or lineage of tokens with places gets another place only while more places are free than it has. Places therefore remain for other callers.
 * Strangers leave an eighth of the account's places to the account's servers and session grants.
 */
const TAKE = `
local attempt, ttl = ARGV[1], tonumber(ARGV[2])
local slots, limit, perLineage, mostStrangers = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local counts = {}
for at, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  counts[at] = redis.call('ZCARD', key)
end
local function put(key, ms)
  redis.call('ZADD', key, now + ms, attempt)
  redis.call('PEXPIRE', key, ms)
end
local all, ofAccount, ofLineage, waiting, ofStrangers = unpack(counts)
local function mayGrow(held, most, free) return held < most and (held == 0 or held < free) end
local fits = mayGrow(ofAccount, limit, slots - all) and
  (perLineage == 0 or mayGrow(ofLineage, perLineage, limit - ofAccount)) and
  (mostStrangers == 0 or ofStrangers < mostStrangers)
if fits or redis.call('ZSCORE', KEYS[2], attempt) then
  for at = 1, 3 do put(KEYS[at], ttl) end
  if mostStrangers > 0 then put(KEYS[5], ttl) end
  redis.call('ZREM', KEYS[4], attempt)
  return 1
end
local waits = redis.call('ZSCORE', KEYS[4], attempt)
if (perLineage == 0 and ofAccount >= limit) or (not waits and waiting >= slots) then return 0 end
put(KEYS[4], ARGV[6])
return -1`;

/** The silence in milliseconds after which Redis counts as unavailable. */
export const REDIS_AWAY_MS = 1_500;
/** The seconds until a place may be free again. Calls to vendors are short. */
const RETRY_AFTER_SECONDS = 1;
const NO_PLACE = 'Too many requests: the account has all the calls at the vendor that its share allows (VENDOR_SHARE).';
/** In milliseconds: how often a waiting caller checks for its turn, and how long a caller that has left still counts as waiting. */
const TURN_MS = 100;
const GONE_MS = 2_000;
/** After calls have waited for the log, other callers get no place for this time, in milliseconds. */
const AFTERWARDS_MS = 2_000;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export interface PlaceLimits {
  /** The places of an account in each environment. 0 means no limit. */
  readonly limit: number;
  /** The places of a lineage of tokens among those of its account. 0 means no limit. */
  readonly perLineage: number;
  /** The slots of one worker process. */
  readonly slots: number;
  /** The longest wait of a caller for its turn. */
  readonly waitMs: number;
  /** The longest time for which a call has a place. */
  readonly ttlMs: number;
  /** A call that is not reserved after this time waits for the log, and has no place during the wait. */
  readonly reservedWithinMs: number;
}

/** While Redis is unavailable, calls are not counted, like all limits against abuse, and no call is made. */
export class VendorPlaces {
  /** Calls that have a place and are not reserved yet. */
  private readonly reserving = new Map<string, NodeJS.Timeout>();
  private readonly waiting = new Set<string>();
  private waitedUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly redis: Redis,
    private readonly limits: PlaceLimits,
    private readonly notCounted: () => void,
    private readonly redisAwayMs = REDIS_AWAY_MS,
  ) {
    redis.defineCommand('takeVendorPlace', { numberOfKeys: 5, lua: TAKE });
  }

  /** `workers` counts the processes with slots for the call. This function is called only when the slots of one process are not enough. */
  async take(vendor: string, attempt: Attempt, workers: () => Promise<number>): Promise<void> {
    const { limit, perLineage, slots, waitMs, ttlMs } = this.limits;
    if (limit === 0) return;
    const most = attempt.context.lineage === undefined ? 0 : perLineage;
    const [endsAt, keys] = [performance.now() + waitMs, keysOf(vendor, attempt)];
    for (let processes: number | null = null; ; await pause(TURN_MS)) {
      const numbers = [ttlMs, slots * (processes ?? 1), limit, most, GONE_MS, this.mostStrangers(attempt, limit)];
      const taken = await withTimeout(
        this.redisAwayMs,
        this.redis.takeVendorPlace(...keys, attempt.attemptId, ...numbers),
      );
      if (taken === null) return this.notCounted();
      if (taken === 1) return void this.reserving.set(attempt.attemptId, this.untilLate(vendor, attempt));
      if (taken === 0 || performance.now() >= endsAt) throw this.refusal();
      processes ??= Math.max(1, (await withTimeout(this.redisAwayMs, workers())) ?? 1);
    }
  }

  /** A call that waited for the log gets its place again, even if others have taken all places. */
  async reserved(vendor: string, attempt: Attempt): Promise<void> {
    if (!this.goesOn(attempt)) return;
    const limits = [this.limits.ttlMs, NO_LIMIT, NO_LIMIT, 0, GONE_MS, this.mostStrangers(attempt, NO_LIMIT)];
    const taken = this.redis.takeVendorPlace(...keysOf(vendor, attempt), attempt.attemptId, ...limits);
    await withTimeout(this.redisAwayMs, taken);
  }

  async giveBack(vendor: string, attempt: Attempt): Promise<void> {
    this.goesOn(attempt);
    if (this.limits.limit > 0) await this.free(vendor, attempt);
  }

  private async free(vendor: string, attempt: Attempt): Promise<void> {
    const given = keysOf(vendor, attempt).map((key) => this.redis.zrem(key, attempt.attemptId));
    await withTimeout(this.redisAwayMs, Promise.all(given));
  }

  /** 0 means no limit: for servers and session grants, and when there is only one place. */
  private mostStrangers({ context: { lineage, grantId } }: Attempt, limit: number): number {
    return lineage === undefined || grantId !== undefined ? 0 : limit - Math.max(1, Math.floor(limit / 8));
  }

  private untilLate(vendor: string, attempt: Attempt): NodeJS.Timeout {
    const late = (): void => {
      this.waiting.add(attempt.attemptId);
      void this.free(vendor, attempt);
    };
    return setTimeout(late, this.limits.reservedWithinMs).unref();
  }

  /** Whether the call waited for the log. */
  private goesOn({ attemptId }: Attempt): boolean {
    clearTimeout(this.reserving.get(attemptId));
    this.reserving.delete(attemptId);
    const waited = this.waiting.delete(attemptId);
    if (waited) this.waitedUntil = performance.now();
    return waited;
  }

  private refusal(): Error {
    return this.waiting.size > 0 || performance.now() - this.waitedUntil < AFTERWARDS_MS
      ? new Unavailable('Calls wait for the event store, and no place at the vendor is free.')
      : new DomainError('request.rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS, rule: NO_PLACE });
  }
}

function keysOf(vendor: string, { context: { environment, accountId, lineage = '-' } }: Attempt): string[] {
  const all = `vendor-places:${vendor}:${environment}`;
  const ofAccount = `${all}:${accountId}`;
  const ofLineage = `${ofAccount}:${lineage}`;
  return [all, ofAccount, ofLineage, `${ofLineage}:waiting`, `${ofAccount}:strangers`];
}
