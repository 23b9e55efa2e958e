export interface RateVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
}

/** Fixed windows, counted in Redis so that the count is right across processes. Throws Unavailable within seconds when it cannot count. */
export abstract class RateLimiter {
  /** Counts one use of `key` (failures count too) against `limit` per `windowSeconds`. */
  abstract hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict>;
}
