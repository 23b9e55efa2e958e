import { RateLimiter, type RateRefusal, type RateUse, type RateVerdict } from '../../src/ports/rate-limiter.js';

/** Counts in memory; a window ends when the test says so. The real one has a suite of its own (test/contract/rate-limiter). */
export class CountedInMemory extends RateLimiter {
  private readonly used = new Map<string, RateUse & { readonly count: number }>();

  override hit(): Promise<RateVerdict> {
    throw new Error('Only the token exchange counts one by one');
  }

  override async take(uses: readonly RateUse[]): Promise<RateRefusal | null> {
    const limited = uses.filter(({ limit }) => limit > 0);
    const refusing = limited
      .filter(({ key, limit }) => this.countOf(key) >= limit)
      .sort((a, b) => b.windowSeconds - a.windowSeconds)[0];
    if (refusing) return { key: refusing.key, retryAfterSeconds: refusing.windowSeconds };
    for (const use of limited) this.used.set(use.key, { ...use, count: this.countOf(use.key) + 1 });
    return null;
  }

  override async giveBack(uses: readonly RateUse[]): Promise<void> {
    for (const use of uses)
      if (this.countOf(use.key) > 0) this.used.set(use.key, { ...use, count: this.countOf(use.key) - 1 });
  }

  /** Windows of that length are over. */
  endWindows(seconds: number): void {
    for (const [key, { windowSeconds }] of this.used) if (windowSeconds === seconds) this.used.delete(key);
  }

  private countOf(key: string): number {
    return this.used.get(key)?.count ?? 0;
  }
}
