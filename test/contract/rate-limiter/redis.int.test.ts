import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisRateLimiter } from '../../../src/adapters/rate-limiter/redis.js';
import { keyedId } from '../../../src/kernel/ids.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

const HASHING = Buffer.alloc(32, 7);
const stored = (key: string): string => `rate:${keyedId(HASHING, key)}`;

describe('rate limiter in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let other: Redis;
  let one: RedisRateLimiter;
  let two: RedisRateLimiter;
  let uncounted = 0;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
    other = new Redis(server.url);
    one = new RedisRateLimiter(
      redis,
      () => Promise.resolve(HASHING),
      () => (uncounted += 1),
    );
    two = new RedisRateLimiter(other, () => Promise.resolve(HASHING));
  });
  afterAll(async () => {
    redis.disconnect();
    other.disconnect();
    await server.stop();
  });

  it('allows uses up to the limit, and counts the refused ones too', async () => {
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
    expect(await redis.get(stored(key))).toBe('5');
  });

  it('counts exactly across processes', async () => {
    const key = randomUUID();
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, use) => (use % 2 ? one : two).hit(key, 60, 60)));
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(60);
    expect(new Set(verdicts.map(({ remaining }) => remaining)).size).toBe(60);
  });

  it('returns reserved uses only once, however many processes request this', async () => {
    const [name, key, shared] = [randomUUID(), randomUUID(), randomUUID()];
    const uses = [
      { key, limit: 5, windowSeconds: 3_600 },
      { key: shared, limit: 5, windowSeconds: 3_600, callers: ['address', 'lineage'] },
      { key: randomUUID(), limit: 0, windowSeconds: 3_600 },
    ];
    for (let use = 0; use < 3; use++) expect(await one.take(uses)).toBeNull();
    await one.giveBackSetAside(name);
    await one.setAside(name, uses);
    await Promise.all([one.giveBackSetAside(name), two.giveBackSetAside(name), one.giveBackSetAside(name)]);
    await two.giveBackSetAside(name);
    expect(await redis.get(stored(key))).toBe('2');
    const sharedKey = stored(shared).replace('rate:', 'rate:shared:');
    expect(await redis.hget(sharedKey, 'all')).toBe('2');
    await redis.del(sharedKey);
    await one.setAside(name, uses);
    expect(await redis.pttl(`rate:set-aside:${name}`)).toBeGreaterThan(3_500_000);
    // The stored value does not reveal the key.
    expect(await redis.get(`rate:set-aside:${name}`)).not.toContain(key);
  });

  it('removes reserved uses, and only the first call reports that they existed', async () => {
    const name = randomUUID();
    await one.setAside(name, [{ key: randomUUID(), limit: 5, windowSeconds: 3_600 }]);
    expect([await one.forgetSetAside(name), await two.forgetSetAside(name)]).toEqual([true, false]);
  });

  it('separates keys from each other', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    expect((await one.hit(a, 1, 60)).allowed).toBe(true);
    expect((await one.hit(a, 1, 60)).allowed).toBe(false);
    expect((await one.hit(b, 1, 60)).allowed).toBe(true);
  });

  it('reports the whole seconds until the window ends', async () => {
    const key = randomUUID();
    expect((await one.hit(key, 1, 60)).resetSeconds).toBe(60);
    await redis.pexpire(stored(key), 30_900);
    expect((await two.hit(key, 1, 60)).resetSeconds).toBe(31);
    await redis.pexpire(stored(key), 200);
    expect((await two.hit(key, 1, 60)).resetSeconds).toBe(1);
  });

  it('does not let a use extend the window', async () => {
    const key = randomUUID();
    await one.hit(key, 1, 60);
    await redis.pexpire(stored(key), 5_000);
    await two.hit(key, 1, 60);
    expect(await redis.pttl(stored(key))).toBeLessThanOrEqual(5_000);
  });

  it('starts again when the window has ended', async () => {
    const key = randomUUID();
    expect((await one.hit(key, 1, 60)).allowed).toBe(true);
    expect((await two.hit(key, 1, 60)).allowed).toBe(false);
    await redis.pexpire(stored(key), 50);
    await until('the window has ended', async () => (await redis.exists(stored(key))) === 0);
    expect((await two.hit(key, 1, 60)).allowed).toBe(true);
    expect((await one.hit(key, 1, 60)).allowed).toBe(false);
  });

  it('repairs a counter that would never expire', async () => {
    const key = randomUUID();
    await redis.set(stored(key), '9');
    expect(await one.hit(key, 5, 60)).toEqual({ allowed: false, limit: 5, remaining: 0, resetSeconds: 60 });
    expect(await redis.pttl(stored(key))).toBeGreaterThan(0);
  });

  it('stores no key in plain text', async () => {
    await one.hit('203.0.113.9', 1, 60);
    expect(await redis.keys('*203.0.113.9*')).toEqual([]);
  });

  it('counts one use of every limit or of none, and names the limit with the longest wait', async () => {
    const [hour, day, off] = [
      { key: randomUUID(), limit: 2, windowSeconds: 3_600 },
      { key: randomUUID(), limit: 3, windowSeconds: 86_400 },
      { key: randomUUID(), limit: 0, windowSeconds: 60 },
    ];
    expect([await one.take([hour, day, off]), await two.take([hour, day, off])]).toEqual([null, null]);
    expect(await one.take([hour, day])).toEqual({ key: hour.key, retryAfterSeconds: 3_600 });
    // The refused use did not count for any limit.
    expect([await one.take([day]), await one.take([day])]).toEqual([null, { key: day.key, retryAfterSeconds: 86_400 }]);
    expect(await one.take([hour, day])).toEqual({ key: day.key, retryAfterSeconds: 86_400 });
    expect(await redis.pttl(stored(hour.key))).toBeGreaterThan(3_500_000);
    await expect(one.admit([hour])).rejects.toMatchObject({
      code: 'request.rate_limited',
      detail: { retryAfterSeconds: 3_600 },
    });
    expect(await redis.exists(stored(off.key))).toBe(0);
  });

  it('allows no more simultaneous uses than the limit has left', async () => {
    const use = { key: randomUUID(), limit: 6, windowSeconds: 3_600 };
    const taken = await Promise.all(Array.from({ length: 200 }, (_, at) => (at % 2 ? one : two).take([use])));
    expect(taken.filter((refusal) => refusal === null)).toHaveLength(6);
  });

  it('makes a returned use available again, and never allows more uses than the limit', async () => {
    const use = { key: randomUUID(), limit: 1, windowSeconds: 60 };
    await one.giveBack([use]);
    expect([await one.take([use]), await two.take([use])]).toEqual([null, { key: use.key, retryAfterSeconds: 60 }]);
    await two.giveBack([use]);
    expect([await one.take([use]), await one.take([use])]).toEqual([null, { key: use.key, retryAfterSeconds: 60 }]);
  });

  it('refuses, beyond a shared window, addresses and lineages that have used their part, and allows new callers', async () => {
    const key = randomUUID();
    const by = (address: string, lineage: string) => ({
      key,
      limit: 6,
      windowSeconds: 60,
      callers: [address, lineage],
    });
    const refused = async (address: string, lineage: string): Promise<boolean> =>
      (await two.take([by(address, lineage)])) !== null;
    for (const lineage of ['a', 'b', 'c', 'd']) expect(await one.take([by('203.0.113.1', lineage)])).toBeNull();
    for (const _ of [1, 2]) expect(await one.take([by('203.0.113.2', 'e')])).toBeNull();
    expect(await one.take([by('203.0.113.1', 'new')])).toEqual({ key, retryAfterSeconds: 60 });
    // Lineage `e` has used two of six. Two uses are the whole part of a lineage when a third address uses the window.
    expect([
      await refused('203.0.113.3', 'f'),
      await refused('203.0.113.4', 'e'),
      await refused('203.0.113.3', 'f'),
    ]).toEqual([false, true, false]);
    expect(await refused('203.0.113.3', 'f')).toBe(true);
    const stored = await redis.keys('rate:shared:*');
    expect(stored).toHaveLength(1);
    expect(await redis.pttl(stored[0]!)).toBeGreaterThan(0);
    expect(JSON.stringify(await redis.hgetall(stored[0]!))).not.toContain('203.0');
    // A returned use is available again. Returning the same use twice does not add another use.
    for (const _ of [1, 2, 3]) await one.giveBack([by('203.0.113.3', 'f')]);
    expect(await redis.hget(stored[0]!, 'addresses')).toBe('2');
    expect(await redis.hget(stored[0]!, 'all')).toBe('6');
  });

  it('names the rule that refuses the use', async () => {
    const use = { key: randomUUID(), limit: 1, windowSeconds: 60, rule: 'Once a minute.' };
    await one.admit([use]);
    await expect(two.admit([use])).rejects.toMatchObject({ detail: { retryAfterSeconds: 60, rule: 'Once a minute.' } });
  });

  it('allows everything while Redis is down, and reports this each time', async () => {
    const use = { key: randomUUID(), limit: 1, windowSeconds: 60 };
    await one.take([use]);
    redis.disconnect();
    const before = uncounted;
    expect(await one.hit(use.key, 1, 60)).toEqual({ allowed: true, limit: 1, remaining: 1, resetSeconds: 60 });
    expect(await one.take([use])).toBeNull();
    await one.giveBack([use]);
    expect(uncounted).toBe(before + 3);
    await redis.connect();
  });

  it('allows everything until the vault has given the hash key, and reports this each time; then it counts', async () => {
    let away = true;
    let missed = 0;
    const limiter = new RedisRateLimiter(
      redis,
      () => (away ? Promise.reject(new Unavailable('The vault is away')) : Promise.resolve(HASHING)),
      () => (missed += 1),
    );
    const use = { key: randomUUID(), limit: 1, windowSeconds: 60 };
    expect([await limiter.hit(use.key, 1, 60), await limiter.take([use])]).toEqual([
      { allowed: true, limit: 1, remaining: 1, resetSeconds: 60 },
      null,
    ]);
    await limiter.giveBack([use]);
    expect(missed).toBe(3);
    away = false;
    expect([await limiter.take([use]), await limiter.take([use]), missed]).toEqual([
      null,
      { key: use.key, retryAfterSeconds: 60 },
      3,
    ]);
  });

  it('asks neither Redis nor the vault when no limit applies', async () => {
    const asked = (): never => {
      throw new Error('Nothing is to be asked');
    };
    const limiter = new RedisRateLimiter(redis, asked, asked);
    expect(await limiter.hit('any', 0, 60)).toMatchObject({ allowed: true, limit: 0 });
    expect(await limiter.take([{ key: 'any', limit: 0, windowSeconds: 60 }])).toBeNull();
  });
});
