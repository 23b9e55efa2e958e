import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { newId } from '../../src/kernel/ids.js';
import {
  type Checkpoint,
  type Generations,
  type RebuildReport,
  type ShardCommit,
  SHARDS,
  shardOf,
} from '../../src/ports/projection-store.js';
import { RedisServer } from '../support/redis.js';
import { parcels, until } from './fixtures.js';

const NONE: Generations = { live: null, building: null };

describe('the projection store in Redis', () => {
  let server: RedisServer;
  let store: RedisProjectionStore;
  let fence: number;
  let generation: number;

  const id = newId();
  const parcel = (stamps: number): { revision: number; doc: object } => ({
    revision: stamps,
    doc: { account: 'a', stamps, dueAt: null },
  });
  const commit = (
    expected: string | null,
    next: string,
    stamps: number,
    change: Partial<ShardCommit> = {},
  ): ShardCommit => ({
    shard: shardOf(id),
    expected,
    next,
    log: 'first',
    writes: [{ id, ...parcel(stamps) }],
    ...change,
  });
  const stored = async (): Promise<number | undefined> =>
    (await store.documents(parcels, generation, [id])).get(id)?.revision;
  const checkpoint = async (): Promise<Checkpoint | undefined> => {
    const claimed = await store.claim(parcels, generation, fence);
    return typeof claimed === 'string' ? undefined : claimed[shardOf(id)];
  };
  const report = (number: number): RebuildReport => ({
    projection: 'parcels',
    generation: number,
    request: null,
    documents: 0,
    digest: '',
    differences: null,
    finishedAt: '2024-05-06T07:08:09.123Z',
  });

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  beforeEach(async () => {
    await server.flush();
    store = new RedisProjectionStore(server.client());
    fence = (await store.acquireLease(parcels, 'test', 60_000)) ?? 0;
    generation = (await store.beginGeneration(parcels, fence, NONE, true))?.building ?? 0;
  });

  afterAll(async () => {
    await server.stop();
  });

  it('spreads ids over all shards', () => {
    const counts = Array.from({ length: SHARDS }, () => 0);
    for (let n = 0; n < 16_000; n++) counts[shardOf(newId())]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1_200);
  });

  describe('a commit', () => {
    it('moves the documents and the checkpoint together', async () => {
      expect(await store.commit(parcels, generation, fence, [commit(null, 'p1', 0)])).toBeNull();
      expect([await stored(), await checkpoint()]).toEqual([0, { position: 'p1', log: 'first' }]);
    });

    it('is refused a second time, and changes nothing', async () => {
      await store.commit(parcels, generation, fence, [commit(null, 'p1', 0)]);
      expect(await store.commit(parcels, generation, fence, [commit(null, 'p1', 5)])).toBe('moved');
      expect([await stored(), (await checkpoint())?.position]).toEqual([0, 'p1']);
    });

    it('is refused after a gap, and changes nothing', async () => {
      await store.commit(parcels, generation, fence, [commit(null, 'p1', 0)]);
      expect(await store.commit(parcels, generation, fence, [commit('p2', 'p3', 5)])).toBe('moved');
      expect([await stored(), (await checkpoint())?.position]).toEqual([0, 'p1']);
    });

    it('is refused from a writer that was taken over from, and changes nothing', async () => {
      await store.commit(parcels, generation, fence, [commit(null, 'p1', 0)]);
      const zombie = fence;
      await store.releaseLease(parcels, fence);
      fence = (await store.acquireLease(parcels, 'other', 60_000)) ?? 0;
      expect(fence).toBeGreaterThan(zombie);
      expect(await store.claim(parcels, generation, fence)).toHaveLength(SHARDS);
      expect(await store.commit(parcels, generation, zombie, [commit('p1', 'p2', 5)])).toBe('fenced');
      expect(await store.claim(parcels, generation, zombie)).toBe('fenced');
      expect(await store.beginGeneration(parcels, zombie, { live: null, building: generation }, true)).toBeNull();
      expect(await store.flip(parcels, zombie, { live: null, building: generation }, report(generation))).toBe(false);
      expect([await stored(), (await checkpoint())?.position]).toEqual([0, 'p1']);
      expect(await store.commit(parcels, generation, fence, [commit('p1', 'p2', 5)])).toBeNull();
    });

    it('never takes a document back, and moves on all the same', async () => {
      await store.commit(parcels, generation, fence, [commit(null, 'p1', 7)]);
      expect(await store.commit(parcels, generation, fence, [commit('p1', 'p2', 3)])).toBeNull();
      expect([await stored(), (await checkpoint())?.position]).toEqual([7, 'p2']);
    });

    it('takes thousands of documents with many lists at once', async () => {
      const many = { ...parcels, indexes: () => ['one', 'two', 'three'], dueAt: () => '2024-05-06T07:08:09.123Z' };
      const ids = Array.from({ length: 40_000 }, newId).filter((each) => shardOf(each) === 3);
      const writes = ids.map((each) => ({ id: each, ...parcel(0) }));
      expect(
        await store.commit(many, generation, fence, [{ shard: 3, expected: null, next: 'p1', log: null, writes }]),
      ).toBeNull();
      expect(await store.fingerprint(parcels, generation)).toMatchObject({
        documents: ids.length,
        memberships: 3 * ids.length,
        due: ids.length,
      });
    });

    it('says when the shard is gone', async () => {
      await server.flush();
      expect(await store.commit(parcels, generation, fence, [commit(null, 'p1', 0)])).toBe('missing');
      expect(await store.claim(parcels, generation, fence)).toBe('missing');
    });
  });

  describe('a lease', () => {
    it('has one holder, until it is released or runs out', async () => {
      expect(await store.acquireLease(parcels, 'other', 60_000)).toBeNull();
      await store.releaseLease(parcels, fence - 1);
      expect(await store.acquireLease(parcels, 'other', 60_000)).toBeNull();
      await store.releaseLease(parcels, fence);
      const second = (await store.acquireLease(parcels, 'other', 30)) ?? 0;
      let third: number | null = null;
      await until('it has run out', async () => (third = await store.acquireLease(parcels, 'third', 60_000)) !== null);
      expect(third).toBeGreaterThan(second);
      expect((await store.renewLease(parcels, second, 60_000)).held).toBe(false);
    });

    it('has a number that rises although everything was lost', async () => {
      await server.flush();
      expect(await store.acquireLease(parcels, 'other', 60_000)).toBeGreaterThan(fence);
    });
  });

  describe('generations', () => {
    it('are pointed at by compare-and-set', async () => {
      expect(await store.flip(parcels, fence, NONE, report(0))).toBe(false);
      expect(await store.flip(parcels, fence, { live: null, building: generation }, report(generation))).toBe(true);
      expect(await store.generations(parcels)).toEqual({ live: generation, building: null });
      expect(await store.beginGeneration(parcels, fence, NONE, true)).toBeNull();
      expect(await store.lastReport(parcels)).toEqual(report(generation));
    });

    it('have numbers that do not come back although everything was lost', async () => {
      await server.flush();
      fence = (await store.acquireLease(parcels, 'test', 60_000)) ?? 0;
      expect((await store.beginGeneration(parcels, fence, NONE, true))?.building).toBeGreaterThan(generation);
    });

    it('expire a day after they were replaced, with every key they have', async () => {
      const redis = server.client();
      await store.commit({ ...parcels, dueAt: () => '2024-05-06T07:08:09.123Z' }, generation, fence, [
        commit(null, 'p1', 0),
      ]);
      await store.flip(parcels, fence, { live: null, building: generation }, report(generation));
      const begun = await store.beginGeneration(parcels, fence, { live: generation, building: null }, true);
      const building = begun?.building ?? 0;
      await store.retireOthers(parcels, { live: generation, building });
      expect(await redis.keys(`{parcels:v1.${generation}:*`)).toHaveLength(SHARDS + 3);
      for (const key of await redis.keys('*'))
        if (!key.endsWith(':lease')) expect([key, await redis.ttl(key)]).toEqual([key, -1]);
      await store.flip(parcels, fence, { live: generation, building }, report(building));
      await store.retireOthers(parcels, { live: building, building: null });
      for (const key of await redis.keys(`{parcels:v1.${generation}:*`))
        expect(await redis.ttl(key)).toBeGreaterThan(86_000);
      for (const key of await redis.keys(`{parcels:v1.${building}:*`)) expect(await redis.ttl(key)).toBe(-1);
    });

    it('of an older version expire once the newer one is live, unless a process of that version claims them', async () => {
      const redis = server.client();
      await store.flip(parcels, fence, { live: null, building: generation }, report(generation));
      const newer = { ...parcels, version: 2 };
      const own = (await store.acquireLease(newer, 'newer', 60_000)) ?? 0;
      const begun = await store.beginGeneration(newer, own, NONE, true);
      await store.retireOthers(newer, begun ?? NONE);
      const old = ['{parcels:v1}:generations', `{parcels:v1.${generation}:0}:state`];
      for (const key of old) expect(await redis.ttl(key)).toBe(-1);
      await store.flip(newer, own, begun ?? NONE, report(0));
      await store.retireOthers(newer, await store.generations(newer));
      for (const key of old) expect(await redis.ttl(key)).toBeGreaterThan(86_000);
      await store.claim(parcels, generation, fence);
      for (const key of old) expect(await redis.ttl(key)).toBe(-1);
    });
  });

  describe('comparing generations', () => {
    it('has equal fingerprints for equal contents, whatever the order they came in', async () => {
      const ids = Array.from({ length: 500 }, newId);
      const begun =
        (await store.beginGeneration(parcels, fence, { live: null, building: generation }, true))?.building ?? 0;
      for (const [number, order] of [
        [generation, ids],
        [begun, [...ids].reverse()],
      ] as const) {
        for (const each of order) {
          const claimed = await store.claim(parcels, number, fence);
          const expected = typeof claimed === 'string' ? null : (claimed[shardOf(each)]?.position ?? null);
          await store.commit(parcels, number, fence, [
            { shard: shardOf(each), expected, next: each, log: null, writes: [{ id: each, ...parcel(1) }] },
          ]);
        }
      }
      expect(await store.fingerprint(parcels, generation)).toEqual(await store.fingerprint(parcels, begun));
      expect(await store.differences(parcels, generation, begun, 10)).toEqual([]);

      const [changed = '', removed = ''] = ids;
      const redis = server.client();
      await redis.hset(`{parcels:v1.${generation}:${shardOf(changed)}}:docs`, changed, '1 {"account":"b"}');
      await redis.hdel(`{parcels:v1.${begun}:${shardOf(removed)}}:docs`, removed);
      expect((await store.fingerprint(parcels, generation)).digest).not.toBe(
        (await store.fingerprint(parcels, begun)).digest,
      );
      expect((await store.differences(parcels, generation, begun, 10)).sort()).toEqual([changed, removed].sort());
    });

    it('waits for a document that is merely ahead on one side', async () => {
      const begun =
        (await store.beginGeneration(parcels, fence, { live: null, building: generation }, true))?.building ?? 0;
      await store.commit(parcels, generation, fence, [commit(null, 'p1', 4)]);
      const differences = store.differences(parcels, generation, begun, 10);
      await store.commit(parcels, begun, fence, [commit(null, 'p1', 4)]);
      expect(await differences).toEqual([]);
    });
  });
});
