import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisSealedPayloads } from '../../../src/adapters/sealed-payloads/redis.js';
import type { DiskVault } from '../../../src/adapters/vault/disk.js';
import type { SealedPayloads } from '../../../src/ports/sealed-payloads.js';
import { SubjectErased } from '../../../src/ports/vault.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';

const secret = Buffer.from('ssn 900-55-1234, born 02031990');
const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

describe('sealed payloads in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let other: Redis;
  const text = key('k1');
  const vaults = new Vaults();
  let keys: DiskVault;

  beforeAll(async () => {
    keys = vaults.open(text);
    server = await RedisServer.start();
    redis = new Redis(server.url);
    other = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    other.disconnect();
    await server.stop();
    await vaults.close();
  });

  /** Encrypts the content under a new reference, and returns the reference. */
  const sealed = async (
    payloads: SealedPayloads,
    content: Buffer = secret,
    subject: string | null = 'person',
    ttlMs = 10_000,
  ): Promise<string> => {
    const reference = randomUUID();
    await payloads.seal(reference, subject, content, ttlMs);
    return reference;
  };
  /** Reads and removes a payload, like the process that uses it. */
  const take = async (payloads: SealedPayloads, reference: string): Promise<Uint8Array | null> => {
    const payload = await payloads.read(reference);
    return payload !== null && (await payloads.remove(reference)) ? payload : null;
  };
  const stored = (reference: string): Promise<Buffer | null> => redis.getBuffer(`sealed:${reference}`);

  it('can be taken once by another process', async () => {
    const reference = await sealed(new RedisSealedPayloads(redis, keys));
    const taker = new RedisSealedPayloads(other, vaults.open(text));
    expect(Buffer.from((await take(taker, reference)) ?? [])).toEqual(secret);
    expect(await take(taker, reference)).toBeNull();
    expect(await stored(reference)).toBeNull();
  });

  it('can be taken by exactly one of many readers', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, at) => take(at % 2 ? payloads : new RedisSealedPayloads(other, keys), reference)),
    );
    expect(taken.filter((payload) => payload !== null)).toHaveLength(1);
  });

  it('are unchanged when they are empty or large', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    for (const payload of [Buffer.alloc(0), randomBytes(300_000)]) {
      expect(payload.equals((await take(payloads, await sealed(payloads, payload))) ?? Buffer.of(1))).toBe(true);
    }
  });

  it('are forgotten after their lifetime', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads, secret, 'person', 30);
    expect(await redis.pttl(`sealed:${reference}`)).toBeLessThanOrEqual(30);
    await until('its lifetime is over', async () => (await redis.exists(`sealed:${reference}`)) === 0);
    expect(await take(payloads, reference)).toBeNull();
  });

  it('leave nothing readable of their content in Redis', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads);
    const bytes = await stored(reference);
    expect(bytes?.includes('900-55-1234')).toBe(false);
    expect(bytes?.toString('latin1')).not.toContain(secret.toString('base64').slice(0, 12));
  });

  it('cannot be opened with another master key of the same id', async () => {
    const reference = await sealed(new RedisSealedPayloads(redis, keys));
    await expect(take(new RedisSealedPayloads(redis, vaults.open(key('k1'))), reference)).rejects.toThrow(
      'not authentic',
    );
  });

  it('cannot be opened with the right master key and another reference', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const [one, two] = [await sealed(payloads), await sealed(payloads, Buffer.from('else'))];
    await redis.copy(`sealed:${one}`, `sealed:${two}`, 'REPLACE');
    await expect(take(payloads, two)).rejects.toThrow('not authentic');
  });

  it('are refused when their bytes were changed', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads);
    const bytes = await stored(reference);
    if (bytes === null) throw new Error('nothing was stored');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await redis.set(`sealed:${reference}`, bytes);
    await expect(take(payloads, reference)).rejects.toThrow('not authentic');
  });

  it('can be opened when the master key was rotated after they were sealed', async () => {
    const reference = await sealed(new RedisSealedPayloads(redis, keys));
    const rotated = new RedisSealedPayloads(redis, vaults.open(`${key('k2')},${text}`));
    expect(Buffer.from((await take(rotated, reference)) ?? [])).toEqual(secret);
    const newer = await sealed(rotated, secret, 'another-person');
    await expect(take(new RedisSealedPayloads(redis, keys), newer)).rejects.toThrow("'k2' is not among");
  });

  it('cannot be opened when their person was erased, even from a copy of Redis', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads, secret, 'erased-later');
    const kept = (await stored(reference)) ?? Buffer.of();
    await keys.erase('erased-later');
    expect(await take(payloads, reference)).toBeNull();
    await redis.set(`sealed:${reference}`, kept);
    expect(await take(new RedisSealedPayloads(other, vaults.open(text)), reference)).toBeNull();
    await expect(payloads.seal(randomUUID(), 'erased-later', secret, 10_000)).rejects.toThrow(SubjectErased);
  });

  it('may be about no person', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads, secret, null);
    expect((await stored(reference))?.includes('900-55-1234')).toBe(false);
    expect(Buffer.from((await take(new RedisSealedPayloads(other, vaults.open(text)), reference)) ?? [])).toEqual(
      secret,
    );
  });

  it('are treated as gone when an earlier version wrote them', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    const reference = await sealed(payloads);
    await redis.set(`sealed:${reference}`, Buffer.concat([Buffer.of(2), Buffer.from('k1'), randomBytes(60)]));
    expect(await take(payloads, reference)).toBeNull();
  });

  it('answer null to an invalid reference', async () => {
    const payloads = new RedisSealedPayloads(redis, keys);
    for (const reference of ['', 'x', '../sealed', 'a'.repeat(44), `${'a'.repeat(42)}\n`])
      expect(await take(payloads, reference)).toBeNull();
  });

  it('distinguish an outage from an absence', async () => {
    const away = new Redis(server.url, { lazyConnect: true, enableOfflineQueue: false });
    await expect(take(new RedisSealedPayloads(away, keys), 'a'.repeat(43))).rejects.toThrow();
    away.disconnect();
  });
});
