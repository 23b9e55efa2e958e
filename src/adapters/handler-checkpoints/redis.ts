import type { Redis } from 'ioredis';
import { HandlerCheckpoints } from '../../ports/handler-checkpoints.js';
import { BoundedRedis } from '../redis/bounded-redis.js';
import { changeIf, defineChangeIf, releaseLease, takeLease } from '../redis/guarded.js';

const LIMIT_MS = 2_000;
/** Earlier releases divided a handler's events into up to eight shares, each with its own checkpoint. This code can be removed after June 2027. */
const EARLIER_SHARES = 8;

export class RedisHandlerCheckpoints extends HandlerCheckpoints {
  private readonly connection: BoundedRedis;

  constructor(redis: Redis) {
    super();
    this.connection = new BoundedRedis(redis, LIMIT_MS);
    defineChangeIf(redis);
  }

  override take(handler: string, holder: string, ttlMs: number): Promise<boolean> {
    return this.connection.use((redis) => takeLease(redis, leaseOf(handler), holder, ttlMs));
  }

  override async save(handler: string, holder: string, place: string, ttlMs: number): Promise<boolean> {
    const lease = leaseOf(handler);
    const [saved, ...ofShares] = placesOf(handler) as [string, ...string[]];
    const failed = await this.connection.use((redis) =>
      changeIf(
        redis,
        [[holder, 'GET', lease]],
        [['PEXPIRE', lease, ttlMs], ['SET', saved, place], ...ofShares.map((key) => ['DEL', key] as const)],
      ),
    );
    return failed === null;
  }

  /** The earliest checkpoint of the shares that an earlier release has left. */
  override async passed(handler: string): Promise<string | null> {
    const [saved, ...ofShares] = await this.connection.use((redis) => redis.mget(placesOf(handler)));
    const places = [saved ?? '', ...ofShares.filter((place) => place !== null)];
    return places.sort()[0] || null;
  }

  override async forget(handler: string, holder: string): Promise<void> {
    const forgotten = placesOf(handler).map((key) => ['DEL', key] as const);
    await this.connection.use((redis) => changeIf(redis, [[holder, 'GET', leaseOf(handler)]], forgotten));
  }

  override async release(handler: string, holder: string): Promise<void> {
    await this.connection.use((redis) => releaseLease(redis, leaseOf(handler), holder));
  }
}

/** Stored keys still use the earlier word for event handler. */
function leaseOf(handler: string): string {
  return `{reaction:${handler}}:holder`;
}

/** The key of the checkpoint, then the keys of the shares of earlier releases. */
function placesOf(handler: string): string[] {
  const place = `{reaction:${handler}}:through`;
  return [place, ...Array.from({ length: EARLIER_SHARES - 1 }, (_, share) => `${place}:${share + 1}`)];
}
