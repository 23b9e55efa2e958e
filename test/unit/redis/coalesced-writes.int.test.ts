import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { coalesceWrites } from '../../../src/adapters/redis/coalesced-writes.js';
import { RedisServer } from '../../support/redis.js';

describe('coalesced writes', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = coalesceWrites(new Redis(server.url, { retryStrategy: () => 20 }));
    redis.on('error', () => undefined);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  /** Times that Redis read from a socket. */
  const reads = async (): Promise<number> => Number(/total_reads_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);

  const burst = async (): Promise<number> => {
    const before = await reads();
    const replies = await Promise.all(Array.from({ length: 500 }, (_, index) => redis.echo(`${index}`)));
    expect(replies).toEqual(Array.from({ length: 500 }, (_, index) => `${index}`));
    return (await reads()) - before;
  };

  it('sends what one turn sends together, in order', async () => {
    expect(await burst()).toBeLessThan(10);
  });

  it('sends together what different events of a turn send, such as requests that have arrived on several connections', async () => {
    const before = await reads();
    // Timers of one list run in one turn, each as an event of its own.
    await Promise.all(
      Array.from({ length: 500 }, () => new Promise((resolve) => setTimeout(() => resolve(redis.echo('x')), 5))),
    );
    expect((await reads()) - before).toBeLessThan(50);
  });

  it('does so after a reconnect too', async () => {
    await server.kill9();
    await server.startAgain();
    expect(await burst()).toBeLessThan(10);
  });

  it('leaves order between plain commands, pipelines and transactions', async () => {
    const all = [
      redis.rpush('l', '1'),
      redis.pipeline().rpush('l', '2').rpush('l', '3').exec(),
      redis.multi().rpush('l', '4').exec(),
      redis.rpush('l', '5'),
    ];
    await Promise.all(all);
    expect(await redis.lrange('l', 0, -1)).toEqual(['1', '2', '3', '4', '5']);
  });
});
