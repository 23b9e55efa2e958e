import { RateLimiter, type RateRefusal, type RateUse, type RateVerdict } from '../../src/ports/rate-limiter.js';

/**
 * A limiter that counts in memory. A window ends when the test ends it. The real limiter has a suite of its own
 * (test/contract/rate-limiter).
 */
export class CountedInMemory extends RateLimiter {
  private readonly aside = new Map<string, readonly RateUse[]>();
  private readonly windows = new Map<string, { count: number; windowSeconds: number; callers: Map<string, number> }>();

  override async hit(key: string, limit: number, windowSeconds: number): Promise<RateVerdict> {
    if (limit > 0) this.change({ key, limit, windowSeconds }, 1);
    const count = this.windows.get(key)?.count ?? 0;
    const remaining = Math.max(0, limit - count);
    return { allowed: limit === 0 || count <= limit, limit, remaining, resetSeconds: windowSeconds };
  }

  override async take(uses: readonly RateUse[]): Promise<RateRefusal | null> {
    const limited = uses.filter(({ limit }) => limit > 0);
    const refusing = limited.filter((use) => this.refuses(use)).sort((a, b) => b.windowSeconds - a.windowSeconds)[0];
    if (refusing) {
      const { key, windowSeconds, rule } = refusing;
      return { key, retryAfterSeconds: windowSeconds, ...(rule !== undefined && { rule }) };
    }
    for (const use of limited) this.change(use, 1);
    return null;
  }

  override async giveBack(uses: readonly RateUse[]): Promise<void> {
    for (const use of uses) if ((this.windows.get(use.key)?.count ?? 0) > 0) this.change(use, -1);
  }

  override async setAside(name: string, uses: readonly RateUse[]): Promise<void> {
    if (uses.length > 0) this.aside.set(name, uses);
  }

  override async giveBackSetAside(name: string): Promise<void> {
    const uses = this.aside.get(name) ?? [];
    this.aside.delete(name);
    await this.giveBack(uses);
  }

  override async forgetSetAside(name: string): Promise<boolean> {
    return this.aside.delete(name);
  }

  /** Ends the windows of this length. */
  endWindows(seconds: number): void {
    for (const [key, { windowSeconds }] of this.windows) if (windowSeconds === seconds) this.windows.delete(key);
  }

  private refuses({ key, limit, callers }: RateUse): boolean {
    const window = this.windows.get(key);
    if (window === undefined || window.count < limit) return false;
    if (callers === undefined) return true;
    // The first caller of a use is the address. Names distinguish the other callers.
    const addresses = [...window.callers.keys()].filter((name) => name.startsWith('0 ')).length;
    const most = Math.max(...named(callers).map((name) => window.callers.get(name) ?? 0));
    return most >= limit / Math.max(addresses, 1);
  }

  private change({ key, windowSeconds, callers = [] }: RateUse, by: number): void {
    const window = this.windows.get(key) ?? { count: 0, windowSeconds, callers: new Map<string, number>() };
    window.count += by;
    for (const name of named(callers)) window.callers.set(name, (window.callers.get(name) ?? 0) + by);
    this.windows.set(key, window);
  }
}

function named(callers: readonly string[]): string[] {
  return callers.map((caller, at) => `${at} ${caller}`);
}
