import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import { MasterKeys } from '../../../src/adapters/vault/master-keys.js';
import { RedisServer } from '../../support/redis.js';

const secret = Buffer.from('ssn 900-55-1234, born 02031990');
const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

describe('sealed payloads in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let other: Redis;
  const text = key('k1');
  const keys = MasterKeys.parse(text);

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
    other = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    other.disconnect();
    await server.stop();
  });

  const stored = (reference: string): Promise<Buffer | null> => redis.getBuffer(`sealed:${reference}`);

  it('gives a payload to another process once', async () => {
    const reference = await new RedisSealedPayloads(redis, keys).seal(secret, 10_000);
    const taker = new RedisSealedPayloads(other, MasterKeys.parse(text));
    expect(Buffer.from((await taker.take(reference)) ?? [])).toEqual(secret);
    expect(await taker.take(reference)).toBeNull();
    expect(await stored(reference)).toBeNull();
  });

  it('gives a payload to exactly one of many takers', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await payloads.seal(secret, 10_000);
    const taken = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? payloads : new RedisSealedPayloads(other, keys)).take(reference)));
    expect(taken.filter((payload) => payload !== null)).toHaveLength(1);
  });

  it('carries empty and large payloads unchanged', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    for (const payload of [Buffer.alloc(0), randomBytes(300_000)]) {
      expect(payload.equals((await payloads.take(await payloads.seal(payload, 10_000))) ?? Buffer.of(1))).toBe(true);
    }
  });

  it('forgets a payload after its time', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await payloads.seal(secret, 30);
    expect(await redis.pttl(`sealed:${reference}`)).toBeLessThanOrEqual(30);
    while ((await redis.exists(`sealed:${reference}`)) === 1);
    expect(await payloads.take(reference)).toBeNull();
  });

  it('shows Redis nothing of the payload', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await payloads.seal(secret, 10_000);
    const bytes = await stored(reference);
    expect(bytes?.includes('900-55-1234')).toBe(false);
    expect(bytes?.toString('latin1')).not.toContain(secret.toString('base64').slice(0, 12));
  });

  it('makes references that cannot be guessed', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const references = await Promise.all(Array.from({ length: 100 }, () => payloads.seal(secret, 1_000)));
    expect(new Set(references).size).toBe(100);
    for (const reference of references) expect(Buffer.from(reference, 'base64url')).toHaveLength(32);
  });

  it('opens nothing with another master key of the same id', async () => {
    const reference = await new RedisSealedPayloads(redis, keys).seal(secret, 10_000);
    await expect(new RedisSealedPayloads(redis, MasterKeys.parse(key('k1'))).take(reference)).rejects.toThrow('not authentic');
  });

  it('opens nothing with the right master key and another reference', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const [one, two] = [await payloads.seal(secret, 10_000), await payloads.seal(Buffer.from('else'), 10_000)];
    await redis.copy(`sealed:${one}`, `sealed:${two}`, 'REPLACE');
    await expect(payloads.take(two)).rejects.toThrow('not authentic');
  });

  it('refuses changed bytes', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await payloads.seal(secret, 10_000);
    const bytes = await stored(reference);
    if (bytes === null) throw new Error('nothing was stored');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await redis.set(`sealed:${reference}`, bytes);
    await expect(payloads.take(reference)).rejects.toThrow('not authentic');
  });

  it('opens what was sealed before the master key was rotated', async () => {
    const reference = await new RedisSealedPayloads(redis, keys).seal(secret, 10_000);
    const rotated = new RedisSealedPayloads(redis, MasterKeys.parse(`${key('k2')},${text}`));
    expect(Buffer.from((await rotated.take(reference)) ?? [])).toEqual(secret);
    const newer = await rotated.seal(secret, 10_000);
    await expect(new RedisSealedPayloads(redis, keys).take(newer)).rejects.toThrow("'k2' is not among");
  });

  it('finds a named payload again by its name, once, also across a rotation', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const rotated = new RedisSealedPayloads(other, MasterKeys.parse(`${key('k2')},${text}`));
    await payloads.sealAs('verdict/1', secret, 10_000);
    expect(await rotated.takeNamed('verdict/2')).toBeNull();
    expect(Buffer.from((await rotated.takeNamed('verdict/1')) ?? [])).toEqual(secret);
    expect(await rotated.takeNamed('verdict/1')).toBeNull();
  });

  it('keeps the first payload of a name', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    await payloads.sealAs('verdict/3', secret, 10_000);
    await payloads.sealAs('verdict/3', Buffer.from('later'), 10_000);
    expect(Buffer.from((await payloads.takeNamed('verdict/3')) ?? [])).toEqual(secret);
  });

  it('answers null to what is no reference', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    for (const reference of ['', 'x', '../sealed', 'a'.repeat(44), `${'a'.repeat(42)}\n`]) expect(await payloads.take(reference)).toBeNull();
  });

  it('tells an outage from an absence', async () => {
    const away = new Redis(server.url, { lazyConnect: true, enableOfflineQueue: false });
    await expect(new RedisSealedPayloads(away, keys).take('a'.repeat(43))).rejects.toThrow();
    away.disconnect();
  });
});
