import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisRateLimiter } from '../../../src/adapters/rate-limiter/redis.js';
import { RedisServer } from '../../support/redis.js';

describe('rate limiter in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let other: Redis;
  let one: RedisRateLimiter;
  let two: RedisRateLimiter;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
    other = new Redis(server.url);
    one = new RedisRateLimiter(redis);
    two = new RedisRateLimiter(other);
  });
  afterAll(async () => {
    redis.disconnect();
    other.disconnect();
    await server.stop();
  });

  it('allows as many uses as the limit says, and counts those it refuses', async () => {
    const key = randomUUID();
    const verdicts = [];
    for (let use = 0; use < 5; use++) verdicts.push(await one.hit(key, 3, 60));
    expect(verdicts.map(({ allowed, limit, remaining }) => [allowed, limit, remaining])).toEqual([
      [true, 3, 2],
      [true, 3, 1],
      [true, 3, 0],
      [false, 3, 0],
      [false, 3, 0],
    ]);
    expect(await redis.get(`rate:${key}`)).toBe('5');
  });

  it('counts exactly across processes', async () => {
    const key = randomUUID();
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, use) => (use % 2 ? one : two).hit(key, 60, 60)));
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(60);
    expect(new Set(verdicts.map(({ remaining }) => remaining)).size).toBe(60);
  });

  it('keeps keys apart', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    expect((await one.hit(a, 1, 60)).allowed).toBe(true);
    expect((await one.hit(a, 1, 60)).allowed).toBe(false);
    expect((await one.hit(b, 1, 60)).allowed).toBe(true);
  });

  it('tells the whole seconds until the window ends', async () => {
    const key = randomUUID();
    expect((await one.hit(key, 1, 60)).resetSeconds).toBe(60);
    await redis.pexpire(`rate:${key}`, 30_900);
    expect((await two.hit(key, 1, 60)).resetSeconds).toBe(31);
    await redis.pexpire(`rate:${key}`, 200);
    expect((await two.hit(key, 1, 60)).resetSeconds).toBe(1);
  });

  it('does not let a use prolong the window', async () => {
    const key = randomUUID();
    await one.hit(key, 1, 60);
    await redis.pexpire(`rate:${key}`, 5_000);
    await two.hit(key, 1, 60);
    expect(await redis.pttl(`rate:${key}`)).toBeLessThanOrEqual(5_000);
  });

  it('starts anew when the window has ended', async () => {
    const key = randomUUID();
    const started = performance.now();
    expect((await one.hit(key, 1, 0.25)).allowed).toBe(true);
    let refusedAt = 0;
    for (;;) {
      const verdict = await two.hit(key, 1, 0.25);
      if (verdict.allowed) break;
      refusedAt = performance.now();
    }
    expect(refusedAt).toBeGreaterThan(0);
    expect(performance.now() - started).toBeGreaterThanOrEqual(245);
    expect((await one.hit(key, 1, 0.25)).allowed).toBe(false);
  });

  it('repairs a counter that would never expire', async () => {
    const key = randomUUID();
    await redis.set(`rate:${key}`, '9');
    expect(await one.hit(key, 5, 60)).toEqual({ allowed: false, limit: 5, remaining: 0, resetSeconds: 60 });
    expect(await redis.pttl(`rate:${key}`)).toBeGreaterThan(0);
  });
});
