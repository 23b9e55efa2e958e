import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisTemporaryFiles } from '../../../src/adapters/temporary-files/redis.js';
import type { DiskVault } from '../../../src/adapters/vault/disk.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { SubjectErased } from '../../../src/ports/vault.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';

const content = Buffer.from('%PDF-1.4 ssn 900-55-1234');
const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
const placeOf = (name: string): string =>
  `temporary-file:${createHash('sha256').update(`temporary-file/${name}`).digest('base64url')}`;

describe('temporary files in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let other: Redis;
  const text = key('k1');
  const vaults = new Vaults();
  let keys: DiskVault;

  beforeAll(async () => {
    keys = vaults.open(text);
    server = await RedisServer.start();
    redis = server.client();
    other = server.client();
  });
  afterAll(async () => {
    await server.stop();
    await vaults.close();
  });

  it('are given to every process any number of times', async () => {
    await new RedisTemporaryFiles(redis, keys).put('report-1', 'person', content, 10_000);
    for (const reader of [new RedisTemporaryFiles(other, vaults.open(text)), new RedisTemporaryFiles(redis, keys)]) {
      for (let time = 0; time < 3; time++) expect(Buffer.from((await reader.get('report-1')) ?? [])).toEqual(content);
    }
  });

  it('answer null for a name that was never stored', async () => {
    expect(await new RedisTemporaryFiles(redis, keys).get('never')).toBeNull();
  });

  it('are unchanged when they are empty or large, and the latest of a name counts', async () => {
    const files = new RedisTemporaryFiles(redis, keys);
    for (const file of [randomBytes(3_000_000), Buffer.alloc(0), content]) {
      await files.put('report-2', 'person', file, 10_000);
      expect(file.equals((await files.get('report-2')) ?? Buffer.of(1))).toBe(true);
    }
  });

  it('are forgotten after their lifetime, even if they were read in the meantime', async () => {
    const files = new RedisTemporaryFiles(redis, keys);
    await files.put('report-3', 'person', content, 60);
    await files.get('report-3');
    expect(await redis.pttl(placeOf('report-3'))).toBeLessThanOrEqual(60);
    await until('its lifetime is over', async () => (await redis.exists(placeOf('report-3'))) === 0);
    expect(await files.get('report-3')).toBeNull();
  });

  it('leave neither their name nor their content readable in Redis', async () => {
    await new RedisTemporaryFiles(redis, keys).put('report-of-somebody', 'person', content, 10_000);
    const bytes = await redis.getBuffer(placeOf('report-of-somebody'));
    expect(bytes).not.toBeNull();
    expect(bytes?.includes('900-55-1234')).toBe(false);
    expect(bytes?.includes('%PDF')).toBe(false);
    expect((await redis.keys('*')).join()).not.toContain('somebody');
  });

  it('cannot be opened under another name, with another master key of the same id, or after a change', async () => {
    const files = new RedisTemporaryFiles(redis, keys);
    await files.put('one', 'person', content, 10_000);
    await files.put('two', 'person', Buffer.from('else'), 10_000);
    await redis.copy(placeOf('one'), placeOf('two'), 'REPLACE');
    await expect(files.get('two')).rejects.toThrow('not authentic');
    await expect(new RedisTemporaryFiles(redis, vaults.open(key('k1'))).get('one')).rejects.toThrow('not authentic');
    const bytes = (await redis.getBuffer(placeOf('one'))) ?? Buffer.of(0);
    bytes[bytes.length - 1]! ^= 1;
    await redis.set(placeOf('one'), bytes);
    await expect(files.get('one')).rejects.toThrow('not authentic');
  });

  it('can be opened when the master key was rotated after they were stored', async () => {
    await new RedisTemporaryFiles(redis, keys).put('report-4', 'person', content, 10_000);
    const rotated = new RedisTemporaryFiles(redis, vaults.open(`${key('k2')},${text}`));
    expect(Buffer.from((await rotated.get('report-4')) ?? [])).toEqual(content);
  });

  it('are not returned when they belong to an erased person, and no new ones are accepted', async () => {
    const files = new RedisTemporaryFiles(redis, keys);
    await files.put('report-6', 'erased-later', content, 10_000);
    await keys.erase('erased-later');
    expect(await files.get('report-6')).toBeNull();
    await expect(files.put('report-6', 'erased-later', content, 10_000)).rejects.toThrow(SubjectErased);
  });

  it('distinguish an outage from an absence, within their time limit', async () => {
    const frozen = await RedisServer.start();
    const files = new RedisTemporaryFiles(frozen.client(), keys, 200);
    await files.put('report-5', 'person', content, 10_000);
    frozen.freeze();
    try {
      await expect(files.get('report-5')).rejects.toThrow(Unavailable);
      await expect(files.put('report-5', 'person', content, 10_000)).rejects.toThrow(Unavailable);
      frozen.resume();
      await frozen.kill9();
      await expect(files.get('report-5')).rejects.toThrow(Unavailable);
    } finally {
      await frozen.stop();
    }
  });
});
