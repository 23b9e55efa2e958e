import type { Redis } from 'ioredis';
import { ReadModelsUnavailable } from '../../ports/read-models.js';

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

  /** Throws ReadModelsUnavailable for whatever goes wrong with Redis; `send` must do nothing but talk to it. */
  async use<Reply>(send: (redis: Redis) => Promise<Reply>): Promise<Reply> {
    let limitMs = this.limitMs;
    if (this.redis.status !== 'ready') {
      const started = Date.now();
      await this.becomeReady();
      limitMs = Math.max(1, limitMs - (Date.now() - started));
    }
    return this.within(send(this.redis), limitMs);
  }

  /** The reply, or ReadModelsUnavailable. */
  private within<Reply>(reply: Promise<Reply>, limitMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new ReadModelsUnavailable(`Redis gave no answer in ${limitMs} ms`)),
        limitMs,
      );
      const answered = (): void => clearTimeout(timer);
      reply.finally(answered).then(resolve, (cause: unknown) => reject(unavailable(cause)));
    });
  }

  /** Many uses wait on one promise, so that an outage under load costs one listener. */
  private becomeReady(): Promise<void> {
    this.becomingReady ??= new Promise<void>((resolve, reject) => {
      const { redis } = this;
      const done = (): void => {
        clearTimeout(timer);
        redis.off('ready', onReady);
        redis.off('end', onEnd);
        this.becomingReady = null;
      };
      const onReady = (): void => {
        done();
        resolve();
      };
      const onEnd = (): void => {
        done();
        reject(new ReadModelsUnavailable('The connection to Redis is closed'));
      };
      const timer = setTimeout(() => {
        done();
        reject(new ReadModelsUnavailable(`No connection to Redis in ${this.limitMs} ms`));
      }, this.limitMs);
      redis.on('ready', onReady);
      redis.on('end', onEnd);
      if (redis.status === 'end') onEnd();
      else if (redis.status === 'wait') redis.connect().catch(() => undefined);
    });
    return this.becomingReady;
  }
}

export function unavailable(cause: unknown): ReadModelsUnavailable {
  if (cause instanceof ReadModelsUnavailable) return cause;
  return new ReadModelsUnavailable('Redis failed', { cause });
}
