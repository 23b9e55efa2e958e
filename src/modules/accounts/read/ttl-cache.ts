import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../kernel/clock.js';
import { cachedBytes } from '../../../kernel/json.js';

const REMEMBERED_BYTES = 8 * 2 ** 20;

/** Remembers what was found for a short while, in this process. Absence is not remembered. */
export class TtlCache<Value> {
  private readonly values = new LRUCache<string, { readonly value: Value; readonly until: number }>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: cachedBytes,
  });

  constructor(
    private readonly clock: Clock,
    private readonly forMs: number,
  ) {}

  async get(key: string, read: () => Promise<Value | null>): Promise<Value | null> {
    // The age counts from before the read: what was read may have been replaced while it was on its way.
    const now = this.clock.now().getTime();
    const known = this.values.get(key);
    if (known !== undefined && now < known.until) return known.value;
    this.values.delete(key);
    const value = await read();
    if (value === null) return null;
    this.values.set(key, { value, until: now + this.forMs });
    return value;
  }
}
