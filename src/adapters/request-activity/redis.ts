import type { Redis } from 'ioredis';
import { withTimeout } from '../../kernel/with-timeout.js';
import { RequestActivity } from '../../ports/request-activity.js';

const KEY = 'requests-recent';
const RECENT_MS = 1_000;
/** A process tells of requests, and asks about them, at most so often. */
const EVERY_MS = 250;
const ANSWER_WITHIN_MS = 1_000;

/** One key that expires: where nobody asks anything, nothing is sent and no timer runs. */
export class RedisRequestActivity extends RequestActivity {
  private toldAt = Number.NEGATIVE_INFINITY;
  private askedAt = Number.NEGATIVE_INFINITY;
  private recent = Promise.resolve(false);

  constructor(private readonly redis: Redis) {
    super();
  }

  override note(): void {
    const now = performance.now();
    if (now - this.toldAt < EVERY_MS) return;
    this.toldAt = now;
    this.redis.set(KEY, '', 'PX', RECENT_MS).catch(() => undefined);
  }

  override isRecent(): Promise<boolean> {
    const now = performance.now();
    if (now - this.askedAt >= EVERY_MS) {
      this.askedAt = now;
      this.recent = withTimeout(ANSWER_WITHIN_MS, this.redis.exists(KEY)).then((keys) => keys === 1);
    }
    return this.recent;
  }
}
