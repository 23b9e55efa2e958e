import type { RateUse } from '../kernel/rate-use.js';
import { DomainError } from '../kernel/domain-error.js';

export interface RateVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** The whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

export type { RateUse };

const PER: Readonly<Record<number, string>> = { 1: 'a second', 60: 'a minute', 3_600: 'an hour', 86_400: 'a day' };

/** Tells a caller beyond a limit the limit's number, what it counts, and which variable sets it. */
export function limitRule(limit: number, things: string, windowSeconds: number, variable: string): string {
  const per = PER[windowSeconds] ?? `in ${windowSeconds / 86_400} days`;
  return `Too many requests: the limit is ${limit} ${things} ${per} (${variable}).`;
}

export interface RateRefusal {
  /** The key of the refused use whose window ends last. */
  readonly key: string;
  /** The rule of that use. */
  readonly rule?: string;
  /** The whole seconds until the end of that window, at least 1. */
  readonly retryAfterSeconds: number;
}

/**
 * Fixed windows, counted in Redis so that all processes share one count. Answers within seconds. While it cannot count, it allows everything and a
 * metric counts the uses, because a limit against abuse must not stop the service.
 */
export abstract class RateLimiter {
  /** Counts one use of `key` (failures count too) for the limit `limit` in `windowSeconds`. */
  abstract hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict>;

  /** Counts one use of each limit in one step. If one limit has no use left, it counts none. Null means that the uses were counted. */
  abstract take(uses: readonly RateUse[]): Promise<RateRefusal | null>;

  /** Returns uses that were counted and not needed. */
  abstract giveBack(uses: readonly RateUse[]): Promise<void>;

  /** Remembers counted uses under a name for an hour, until it is known whether they were needed. */
  abstract setAside(name: string, uses: readonly RateUse[]): Promise<void>;

  /** Returns the uses set aside under the name, once even after several calls. */
  abstract giveBackSetAside(name: string): Promise<void>;

  /** Keeps the uses as counted. True when the uses were still set aside. No other process can return the uses afterwards. */
  abstract forgetSetAside(name: string): Promise<boolean>;

  /** Counts the uses, or refuses the caller. */
  async admit(uses: readonly RateUse[]): Promise<void> {
    const refusal = await this.take(uses);
    if (refusal === null) return;
    const { retryAfterSeconds, rule } = refusal;
    throw new DomainError('request.rate_limited', { retryAfterSeconds, ...(rule !== undefined && { rule }) });
  }
}
