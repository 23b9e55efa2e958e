import type { Redis } from 'ioredis';
import { Unavailable } from '../../kernel/unavailable.js';
import { within } from '../../kernel/with-timeout.js';

/** Redis is unavailable, silent, or refuses. An outage never counts as an absence. */
export class RedisUnavailable extends Unavailable {
  override readonly name = 'RedisUnavailable';
}

/**
 * A connection whose every use ends within a time limit. No command is queued while the connection is down. A use waits for the connection and then
 * sends its command, or gives up. A use that gave up after sending may still have its effect.
 */
export class BoundedRedis {
  private changing: Promise<void> | null = null;

  constructor(
    readonly redis: Redis,
    private readonly limitMs: number,
  ) {}

  /** Throws RedisUnavailable for every failure of Redis. `send` must do nothing except talk to Redis. */
  async use<Reply>(send: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    const { redis, limitMs } = this;
    const endsAt = performance.now() + limitMs;
    const late = (): never => {
      throw new RedisUnavailable(`Redis gave no answer in ${limitMs} ms`);
    };
    const sendInTime = async (): Promise<Reply> => {
      while (redis.status !== 'ready') {
        await this.change();
        if (performance.now() >= endsAt) late();
      }
      return send(redis);
    };
    try {
      return await within(limitMs, sendInTime(), late);
    } catch (cause) {
      throw cause instanceof RedisUnavailable ? cause : new RedisUnavailable('Redis failed', { cause });
    }
  }

  /** All uses wait on one promise, so an outage needs one listener. The promise ends with the time limit, so no use waits for a whole outage. */
  private change(): Promise<void> {
    const { redis } = this;
    if (redis.status === 'end') throw new RedisUnavailable('The connection to Redis is closed');
    return (this.changing ??= new Promise<void>((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        redis.off('ready', settle).off('end', settle);
        this.changing = null;
        resolve();
      };
      const timer = setTimeout(settle, this.limitMs);
      redis.on('ready', settle).on('end', settle);
      if (redis.status === 'wait') redis.connect().catch(() => undefined);
    }));
  }
}
