// Stands before every call to a vendor: pauses, the vendor's limit of calls a second, and a circuit breaker that all processes share.
import type { Redis, Result } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Environment } from '../kernel/environment.js';
import { within, withTimeout } from '../kernel/with-timeout.js';
import type { VendorCall } from '../ports/vendor-call.js';
import type { VendorLimits } from '../ports/vendors.js';
import { REDIS_AWAY_MS } from './vendor-places.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Returns the state of the breaker for this call, and the milliseconds until another call can be made. */
    enterVendor(...args: readonly (string | number)[]): Result<[state: BreakerState, leftMs: number], Context>;
    /** Returns 1 if this end has opened the breaker. */
    leaveVendor(...args: readonly (string | number)[]): Result<1 | 0, Context>;
  }
}

/** `failing`: the last calls failed. `probe`: this one call shows whether the vendor is well again. `busy`: too many calls in this second. */
type BreakerState = 'clear' | 'failing' | 'probe' | 'open' | 'busy';

/** KEYS: the breaker, the calls of this second, the mark of an open breaker. Uses Redis's clock, so the clocks of the processes do not matter. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local opened = tonumber(redis.call('HGET', KEYS[1], 'until') or 0)`;

const ENTER = `${NOW}
local most, probe = tonumber(ARGV[1]), tonumber(ARGV[2])
if opened > now then return { 'open', opened - now } end
if most > 0 then
  local used = redis.call('INCR', KEYS[2])
  if used == 1 then redis.call('PEXPIRE', KEYS[2], 1000) end
  if used > most then return { 'busy', redis.call('PTTL', KEYS[2]) } end
end
if opened > 0 then
  redis.call('HSET', KEYS[1], 'until', now + probe)
  return { 'probe', 0 }
end
return { redis.call('EXISTS', KEYS[1]) == 1 and 'failing' or 'clear', 0 }`;

const LEAVE = `${NOW}
local failed, probed, demanded = ARGV[1] == '1', ARGV[2] == '1', tonumber(ARGV[3])
local isOpen = opened > now and not probed
if not failed then
  if not isOpen then redis.call('DEL', KEYS[1], KEYS[3]) end
  return 0
end
local failures = redis.call('HINCRBY', KEYS[1], 'failures', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[6])
local ms = demanded > 0 and demanded or (failures >= tonumber(ARGV[4]) and tonumber(ARGV[5]) or 0)
if ms == 0 then return 0 end
local ends = isOpen and math.max(opened, now + ms) or now + ms
redis.call('HSET', KEYS[1], 'until', ends)
redis.call('SET', KEYS[3], 1, 'PX', ends - now)
return isOpen and 0 or 1`;

/** The number of failures in a row after which the breaker opens. */
const FAILURES = 5;
/** In milliseconds: how long a breaker stays open when the vendor demands no pause, and how long failures count without further calls. */
const OPEN_MS = 10_000;
const REMEMBERED_MS = 3_600_000;
/** The number of simultaneous calls of one process before the first call, or the first after a failure, has succeeded. */
const UNPROVEN = 4;
/** The longest wait of a call for the end of such calls, in milliseconds. */
const PROVING_MS = 500;

/** The key that exists while the breaker of the vendor is open for any account. */
export function openMark(vendor: string, environment: Environment): string {
  return `vendor-open:${vendor}:${environment}`;
}

export interface GuardOptions {
  /** The longest time of a call, in milliseconds. A probe that has not ended after this time counts for nothing. */
  readonly probeMs: number;
  isPaused(vendor: string, environment: Environment): Promise<boolean>;
  limitsOf(vendor: string): VendorLimits;
  opened(vendor: string, environment: Environment): void;
  refused(vendor: string, environment: Environment, why: string): void;
}

export interface Refused {
  readonly why: string;
  readonly retryAfterSeconds: number;
}

export function isRefused(entered: Refused | Leave | undefined): entered is Refused {
  return typeof entered === 'object';
}

/** Tells the guard the kind of the verdict, and the pause that the vendor demands. Null: the vendor was not called. */
export type Leave = (kind: string | null, retryAfterSeconds?: number) => Promise<void>;

interface Running {
  count: number;
  isProven: boolean;
  readonly waiting: Set<() => void>;
}

const PAUSED_SECONDS = 60;

/**
 * In test, each account has its own breaker, because testers ask for failures on purpose. There, only a 429 with a pause opens the breaker. While Redis
 * is away, all calls are made.
 */
export class VendorGuard {
  private readonly running = new LRUCache<string, Running>({ max: 10_000 });

  constructor(
    private readonly redis: Redis,
    private readonly options: GuardOptions,
  ) {
    redis.defineCommand('enterVendor', { numberOfKeys: 3, lua: ENTER });
    redis.defineCommand('leaveVendor', { numberOfKeys: 3, lua: LEAVE });
  }

  /** `name` names the vendor and its kind in metrics. `vendor` is its id. */
  async enter(name: string, vendor: string, call: VendorCall): Promise<Refused | Leave> {
    const { environment, accountId } = call;
    const refused = (why: string, leftMs: number): Refused => {
      this.options.refused(name, environment, why);
      return { why, retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)) };
    };
    if (await this.options.isPaused(vendor, environment)) return refused('paused', PAUSED_SECONDS * 1_000);
    const breaker = `vendor-breaker:${name}:${environment}${environment === 'test' ? `:${accountId ?? '-'}` : ''}`;
    const running = await this.turn(breaker);
    const keys = [breaker, `vendor-second:${name}:${environment}`, openMark(name, environment)];
    const { callsPerSecond = 0 } = this.options.limitsOf(vendor);
    const entering = this.redis.enterVendor(...keys, callsPerSecond, this.options.probeMs);
    const [state, leftMs] = (await withTimeout(REDIS_AWAY_MS, entering)) ?? ['clear' as const, 0];
    if (state === 'open' || state === 'busy') {
      this.end(running);
      return refused(state, leftMs);
    }
    const failures = environment === 'test' ? Number.MAX_SAFE_INTEGER : FAILURES;
    return async (kind, retryAfterSeconds = 0) => {
      const failed = kind === 'unavailable' || kind === 'timed-out';
      if (kind !== null && kind !== 'timed-out') running.isProven = !failed;
      const said = kind !== null && (failed || state !== 'clear');
      const numbers = [+failed, +(state === 'probe'), retryAfterSeconds * 1_000, failures, OPEN_MS, REMEMBERED_MS];
      const opened = said && (await withTimeout(REDIS_AWAY_MS, this.redis.leaveVendor(...keys, ...numbers)));
      if (opened === 1) this.options.opened(name, environment);
      this.end(running);
    };
  }

  /** For metrics and operators. Throws if Redis is unavailable. */
  async stateOf(name: string, vendor: string, environment: Environment): Promise<'ready' | 'paused' | 'open'> {
    if (await this.options.isPaused(vendor, environment)) return 'paused';
    return (await this.redis.exists(openMark(name, environment))) === 1 ? 'open' : 'ready';
  }

  /**
   * Few calls begin together until one has succeeded. A vendor that refuses all calls would otherwise get all waiting calls at once. The wait is short,
   * so that calls that hang do not hold up others.
   */
  private async turn(breaker: string): Promise<Running> {
    const running = this.running.get(breaker) ?? { count: 0, isProven: false, waiting: new Set() };
    this.running.set(breaker, running);
    const endsAt = performance.now() + PROVING_MS;
    for (let leftMs = PROVING_MS; !running.isProven && running.count >= UNPROVEN && leftMs > 0;) {
      await within(leftMs, new Promise<void>((resolve) => running.waiting.add(resolve)), () => undefined);
      leftMs = endsAt - performance.now();
    }
    running.count += 1;
    return running;
  }

  private end(running: Running): void {
    running.count -= 1;
    for (const wake of running.waiting) wake();
    running.waiting.clear();
  }
}
