import type { RateUse } from '../kernel/rate-use.js';
import { DomainError } from '../kernel/domain-error.js';

export interface RateVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export type { RateUse };

export interface RateRefusal {
  /** Of the uses that are not left, the one whose window ends last. */
  readonly key: string;
  /** Of that use. */
  readonly rule?: string;
  /** Whole seconds until that end, at least 1. */
  readonly retryAfterSeconds: number;
}

/**
 * Fixed windows, counted in Redis so that the count is right across processes. Answers within seconds. While it cannot count,
 * everything is allowed, and a metric counts how often that was: a limit against abuse must not stop the service.
 */
export abstract class RateLimiter {
  /** Counts one use of `key` (failures count too) against `limit` per `windowSeconds`. */
  abstract hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict>;

  /** Counts one use of each, at once, or none of any when one of them is not left. Null: counted. */
  abstract take(uses: readonly RateUse[]): Promise<RateRefusal | null>;

  /** Uncounts what was taken and not used after all. */
  abstract giveBack(uses: readonly RateUse[]): Promise<void>;

  /** Remembers under a name what was taken, for an hour, where it turns out later whether it was used. */
  abstract setAside(name: string, uses: readonly RateUse[]): Promise<void>;

  /** Uncounts what was set aside under the name: once, however often it is called. */
  abstract giveBackSetAside(name: string): Promise<void>;

  /** What was set aside is settled. True where it was there: then no other process gives it back. */
  abstract forgetSetAside(name: string): Promise<boolean>;

  /** Takes, or refuses the caller. */
  async admit(uses: readonly RateUse[]): Promise<void> {
    const refusal = await this.take(uses);
    if (refusal === null) return;
    const { retryAfterSeconds, rule } = refusal;
    throw new DomainError('request.rate_limited', { retryAfterSeconds, ...(rule !== undefined && { rule }) });
  }
}
