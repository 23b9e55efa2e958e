import type { Redis } from 'ioredis';
import { Unavailable } from '../../kernel/unavailable.js';
import { within } from '../../kernel/with-timeout.js';

/** Redis is away, silent, or refuses. An outage is never an absence. */
export class RedisUnavailable extends Unavailable {
  override readonly name = 'RedisUnavailable';
}

/**
 * A connection whose every use ends within a time limit. Nothing is queued while the connection is down: a use waits for it
 * to come back and then sends, or gives up. A use that gave up after sending may still take effect.
 */
export class BoundedRedis {
  private becomingReady: Promise<void> | null = null;

  constructor(
    readonly redis: Redis,
    private readonly limitMs: number,
  ) {}

  /** Throws RedisUnavailable for whatever goes wrong with Redis; `send` must do nothing but talk to it. */
  async use<Reply>(send: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    const { redis, limitMs } = this;
    const endsAt = performance.now() + limitMs;
    const late = (): never => {
      throw new RedisUnavailable(`Redis gave no answer in ${limitMs} ms`);
    };
    const sendInTime = (): Promise<Reply> => (performance.now() < endsAt ? send(redis) : late());
    try {
      return await within(limitMs, redis.status === 'ready' ? send(redis) : this.becomeReady().then(sendInTime), late);
    } catch (cause) {
      throw cause instanceof RedisUnavailable ? cause : new RedisUnavailable('Redis failed', { cause });
    }
  }

  /** Many uses wait on one promise, so that an outage costs one listener. */
  private becomeReady(): Promise<void> {
    const { redis } = this;
    return (this.becomingReady ??= new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        redis.off('ready', settle).off('end', settle);
        this.becomingReady = null;
        if (redis.status === 'ready') resolve();
        else reject(new RedisUnavailable('The connection to Redis is closed'));
      };
      redis.on('ready', settle).on('end', settle);
      if (redis.status === 'end') settle();
      else if (redis.status === 'wait') redis.connect().catch(() => undefined);
    }));
  }
}
