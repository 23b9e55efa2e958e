import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { BoundedRedis, RedisUnavailable } from '../../../src/adapters/redis/bounded-redis.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

const LIMIT_MS = 100;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describe('a Redis connection that limits the time of every use', () => {
  it('forgets the uses that timed out while Redis was unavailable', async () => {
    const redis = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => 20 });
    redis.on('error', () => undefined);
    try {
      const bounded = new BoundedRedis(redis, LIMIT_MS);
      const uses = Array.from({ length: 20 }, () => bounded.use((one) => one.ping()));
      for (const { status } of await Promise.allSettled(uses)) expect(status).toBe('rejected');
      await until(() => redis.listenerCount('ready') === 0);
      await expect(bounded.use((one) => one.ping())).rejects.toThrow(RedisUnavailable);
    } finally {
      redis.disconnect();
    }
  });

  it('works again when its closed connection was opened again', async () => {
    const redis = server.client();
    const bounded = new BoundedRedis(redis, 5_000);
    await bounded.use((one) => one.ping());
    redis.disconnect();
    await until(() => redis.status === 'end');
    await expect(bounded.use((one) => one.ping())).rejects.toThrow('closed');
    void redis.connect();
    expect(await bounded.use((one) => one.ping())).toBe('PONG');
  });
});
