import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { newId } from '../../src/kernel/ids.js';
import type { Commit, RebuildReport } from '../../src/ports/projection-store.js';
import { RedisServer } from '../support/redis.js';
import { liveContents, parcels, storedLines } from './fixtures.js';
import { until } from '../support/eventually.js';

describe('the projection store in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let store: RedisProjectionStore;

  const id = newId();
  const occurredAt = '2024-05-06T07:08:09.123Z';
  const parcel = (stamps: number) => ({ revision: stamps, state: { account: 'a', stamps, dueAt: null }, occurredAt });
  const commit = (expected: string | null, next: string, stamps: number): Commit => ({
    expected,
    next,
    log: 'first',
    writes: [{ id, ...parcel(stamps) }],
  });
  /** Commits with the token of the lease's holder, to generation 1 by default. */
  const take = (change: Commit, token = 'test', generation = 1) => store.commit(parcels, token, generation, change);
  const report = (generation: number): RebuildReport => ({
    projection: 'parcels',
    generation,
    request: null,
    documents: 0,
    differences: null,
    finishedAt: '2024-05-06T07:08:09.123Z',
  });
  /** The revision of the document, and the checkpoint. */
  const stored = async () => [
    (await storedLines(redis, parcels)).get(id)?.revision,
    (await store.checkpoint(parcels, 1))?.position,
  ];

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });

  /** Generation 1 is live and empty. */
  beforeEach(async () => {
    await server.flush();
    store = new RedisProjectionStore(server.client());
    await store.lease(parcels, 'test', 60_000);
    await store.beginGeneration(parcels, 'test', 1, true);
    await store.promote(parcels, 'test', null, report(1));
  });

  afterAll(async () => {
    await server.stop();
  });

  describe('a commit', () => {
    it('stores a document and the checkpoint together', async () => {
      expect(await take(commit(null, 'p1', 0))).toBeNull();
      expect(await stored()).toEqual([0, 'p1']);
      expect(await store.checkpoint(parcels, 1)).toEqual({ position: 'p1', log: 'first' });
    });

    it('writes at most 50 documents a step, so that a reader waits for at most one step', async () => {
      const client = server.client();
      const splitting = new RedisProjectionStore(client);
      const steps = jest.spyOn(client, 'changeIf');
      const writes = Array.from({ length: 101 }, () => ({ id: newId(), ...parcel(0) }));
      const many = { ...commit(null, 'p1', 0), writes };
      expect(await splitting.commit(parcels, 'test', 1, many)).toBeNull();
      expect(steps).toHaveBeenCalledTimes(3);
      expect((await storedLines(redis, parcels)).size).toBe(writes.length);
    });

    it('keeps its old checkpoint when a large commit loses its lease halfway, and can be repeated', async () => {
      const other = server.client();
      const writes = Array.from({ length: 4_000 }, () => ({ id: newId(), ...parcel(0) }));
      const [first] = writes;
      const losing = {
        ...writes[500]!,
        get state() {
          void other.set('{parcels:v1}:lease', 'another');
          return parcel(0).state;
        },
      };
      const many = { ...commit(null, 'p1', 0), writes };
      expect(await take({ ...many, writes: [...writes.slice(0, 500), losing, ...writes.slice(501)] })).toBe('fenced');
      const written = await storedLines(redis, parcels);
      expect([written.has(first!.id), written.size < writes.length]).toEqual([true, true]);
      expect(await store.checkpoint(parcels, 1)).toEqual({ position: null, log: 'first' });

      await other.set('{parcels:v1}:lease', 'test');
      expect(await take(many)).toBeNull();
      expect((await storedLines(redis, parcels)).size).toBe(writes.length);
      expect(await store.checkpoint(parcels, 1)).toEqual({ position: 'p1', log: 'first' });
    });

    it('is refused when it is repeated, and changes nothing', async () => {
      await take(commit(null, 'p1', 0));
      expect(await take(commit(null, 'p1', 5))).toBe('moved');
      expect(await stored()).toEqual([0, 'p1']);
    });

    it('is refused when its events do not follow the checkpoint, and changes nothing', async () => {
      await take(commit(null, 'p1', 0));
      expect(await take(commit('p2', 'p3', 5))).toBe('moved');
      expect(await stored()).toEqual([0, 'p1']);
    });

    it('is refused, like every other write, when its writer was replaced, and changes nothing', async () => {
      await take(commit(null, 'p1', 0));
      await store.releaseLease(parcels, 'test');
      await store.lease(parcels, 'other', 60_000);
      expect(await take(commit('p1', 'p2', 5))).toBe('fenced');
      expect(await store.beginGeneration(parcels, 'test', 2, true)).toBe(false);
      await store.beginGeneration(parcels, 'other', 2, true);
      expect(await store.promote(parcels, 'test', 'p9', report(2))).toBe('fenced');
      expect(await stored()).toEqual([0, 'p1']);
      expect(await take(commit('p1', 'p2', 5), 'other')).toBeNull();
    });

    it("is refused after the writer's lease has expired, even without another holder", async () => {
      await redis.del('{parcels:v1}:lease');
      expect(await take(commit(null, 'p1', 0))).toBe('fenced');
    });

    it('never replaces a document or its entries by older ones, and still moves the checkpoint', async () => {
      const due = (stamps: number, dueAt: string | null): Commit['writes'] => [
        { id, revision: stamps, state: { account: 'a', stamps, dueAt }, occurredAt },
      ];
      await take({ ...commit(null, 'p1', 7), writes: due(7, null) });
      expect(await take({ ...commit('p1', 'p2', 3), writes: due(3, '2024-05-06T07:08:09.123Z') })).toBeNull();
      expect(await stored()).toEqual([7, 'p2']);
      expect(await liveContents(redis, parcels)).toMatchObject({ entries: 2, due: 0 });
    });

    it('accepts thousands of documents with many entries, and replaces all of them', async () => {
      let lists = ['one', 'two', 'three'];
      const many = { ...parcels, entries: () => lists.map((list) => ({ list })) };
      const ids = Array.from({ length: 5_000 }, newId);
      const writes = (revision: number) => ids.map((each) => ({ id: each, ...parcel(revision) }));
      const make = (expected: string | null, next: string, revision: number) =>
        store.commit(many, 'test', 1, { expected, next, log: null, writes: writes(revision) });
      expect(await make(null, 'p1', 0)).toBeNull();
      expect(await liveContents(redis, parcels)).toMatchObject({ documents: 5_000, entries: 15_000 });
      lists = ['two', 'four'];
      expect(await make('p1', 'p2', 1)).toBeNull();
      expect(await liveContents(redis, parcels)).toMatchObject({ documents: 5_000, entries: 10_000 });
    });

    it('reports a missing generation', async () => {
      await redis.del('{parcels:v1}:live:state');
      expect(await take(commit(null, 'p1', 0))).toBe('missing');
      expect(await store.checkpoint(parcels, 1)).toBeNull();
    });
  });

  describe('a lease on the read models', () => {
    it('has one holder until it is released or expires', async () => {
      expect(await store.lease(parcels, 'other', 60_000)).toBeNull();
      await store.releaseLease(parcels, 'other');
      expect(await store.lease(parcels, 'other', 60_000)).toBeNull();
      expect(await store.lease(parcels, 'test', 60_000)).not.toBeNull();
      await store.releaseLease(parcels, 'test');
      expect(await store.lease(parcels, 'other', 30)).not.toBeNull();
      await until('it has run out', async () => (await store.lease(parcels, 'third', 60_000)) !== null);
      expect(await store.lease(parcels, 'other', 60_000)).toBeNull();
    });

    it('returns the generations and a rebuild request', async () => {
      await store.beginGeneration(parcels, 'test', 2, true);
      await store.requestRebuild(parcels, 'request');
      expect(await store.lease(parcels, 'test', 60_000)).toEqual({
        generations: { live: 1, building: 2 },
        rebuildRequest: 'request',
      });
    });
  });

  describe('generations', () => {
    it('replace each other completely when the new generation is not behind the old one', async () => {
      await take(commit(null, 'p5', 0));
      await store.beginGeneration(parcels, 'test', 2, true);
      await take(commit(null, 'p4', 3), 'test', 2);
      await store.requestRebuild(parcels, 'request');
      const made = { ...report(2), request: 'request' };
      expect(await store.promote(parcels, 'test', 'p4', made)).toBe('behind');
      expect(await store.generations(parcels)).toEqual({ live: 1, building: 2 });
      expect(await store.promote(parcels, 'test', 'p5', made)).toBe('promoted');
      expect(await store.generations(parcels)).toEqual({ live: 2, building: null });
      expect(await store.lastReport(parcels)).toEqual(made);
      expect((await store.lease(parcels, 'test', 60_000))?.rebuildRequest).toBeNull();
      expect((await storedLines(redis, parcels)).get(id)?.revision).toBe(3);
      // The writer of the new generation continues. The writer of the old generation cannot commit any more.
      expect(await take(commit('p4', 'p6', 4), 'test', 2)).toBeNull();
      expect(await take(commit('p5', 'p6', 5))).toBe('missing');
    });

    it.each([
      ['its first', []],
      ['its last', ['{parcels:v1}:building:lines', '{parcels:v1}:building:entries']],
    ])(
      'are promoted only when complete, even if %s entry is added or removed during the promotion',
      async (_, emptied) => {
        await store.beginGeneration(parcels, 'test', 2, true);
        const [other, client] = [store, server.client()];
        if (emptied.length > 0) await take(commit(null, 'p1', 0), 'test', 2);
        store = new RedisProjectionStore(client);
        const exists = client.exists.bind(client) as (key: string) => Promise<number>;
        const asked = jest.spyOn(client, 'exists').mockImplementation(async (key) => {
          const found = await exists(String(key));
          if (String(key).endsWith('entries')) {
            if (emptied.length > 0) await redis.del(...emptied);
            else await other.commit(parcels, 'test', 2, commit(null, 'p1', 0));
          }
          return found;
        });
        expect(await store.promote(parcels, 'test', 'p1', report(2))).toBe('behind');
        expect(await store.generations(parcels)).toEqual({ live: 1, building: 2 });
        asked.mockRestore();
        expect(await store.promote(parcels, 'test', 'p1', report(2))).toBe('promoted');
        expect([...(await storedLines(redis, parcels)).keys()]).toEqual(emptied.length > 0 ? [] : [id]);
        expect(await redis.keys('{parcels:v1}:building:*')).toEqual([]);
      },
    );

    it('are promoted only under their own number', async () => {
      await store.beginGeneration(parcels, 'test', 3, true);
      expect(await store.promote(parcels, 'test', 'p1', report(2))).toBe('fenced');
    });

    it('are removed at once when the next generation begins and they need not be kept', async () => {
      await take(commit(null, 'p1', 0));
      await store.beginGeneration(parcels, 'test', 2, false);
      expect(await store.generations(parcels)).toEqual({ live: null, building: 2 });
      expect((await storedLines(redis, parcels)).size).toBe(0);
    });

    it('of an older version expire after a day, even in earlier layouts, unless a process of that older version still runs', async () => {
      await take(commit(null, 'p1', 0));
      await redis.set('{parcels:v1.17:3}:docs', 'earlier');
      await redis.set('{parcels_more:v1}:lease', 'of another projection');
      await store.retireOlderVersions(parcels);
      for (const key of await redis.keys('{*'))
        if (key !== '{parcels:v1}:lease') expect([key, await redis.ttl(key)]).toEqual([key, -1]);
      await store.retireOlderVersions({ ...parcels, version: 2 });
      const old = ['{parcels:v1}:live:state', '{parcels:v1}:live:lines', '{parcels:v1}:live:entries'];
      for (const key of [...old, '{parcels:v1.17:3}:docs']) expect(await redis.ttl(key)).toBeGreaterThan(86_000);
      expect(await redis.ttl('{parcels_more:v1}:lease')).toBe(-1);
      expect((await store.checkpoint(parcels, 1))?.position).toBe('p1');
      for (const key of old) expect(await redis.ttl(key)).toBeGreaterThan(86_000);
      expect((await store.resume(parcels, 1))?.position).toBe('p1');
      for (const key of old) expect(await redis.ttl(key)).toBe(-1);
    });
  });

  describe('the comparison of generations', () => {
    beforeEach(() => store.beginGeneration(parcels, 'test', 2, true));

    /** Waits a moment, and then compares again the documents that are ahead on one side. */
    const impatient = (): RedisProjectionStore => new RedisProjectionStore(server.client(), new SystemClock(), 5);

    it('lists differing documents and index entries, whatever the order of the writes', async () => {
      const ids = Array.from({ length: 700 }, newId);
      const writes = ids.map((each) => ({ id: each, ...parcel(1) }));
      await take({ ...commit(null, 'p1', 1), writes });
      await take({ ...commit(null, 'p1', 1), writes: [...writes].reverse() }, 'test', 2);
      expect(await store.differences(parcels, 10)).toEqual([]);
      expect(await store.sizes(parcels)).toEqual({ live: 700, building: 700 });

      const [changed = '', removed = '', listed = ''] = ids;
      await redis.hset('{parcels:v1}:live:lines', changed, '1\taccount=b ');
      await redis.hdel('{parcels:v1}:building:lines', removed);
      const text = (await redis.hget('{parcels:v1}:live:lines', listed)) ?? '';
      await redis.hset('{parcels:v1}:live:lines', listed, text.replace('account=a', 'account=b'));
      expect((await impatient().differences(parcels, 10)).sort()).toEqual([changed, removed, listed].sort());
      expect(await impatient().differences(parcels, 1)).toHaveLength(1);
    });

    it.each(['live', 'building'])('lists a document that only the %s generation has', async (longer) => {
      await take(commit(null, 'p1', 1));
      await take(commit(null, 'p1', 1), 'test', 2);
      const more = newId();
      await redis.hset(`{parcels:v1}:${longer}:lines`, more, '1\taccount=a ');
      expect(await impatient().differences(parcels, 10)).toEqual([more]);
    });

    it('waits for a document that is only ahead on one side', async () => {
      await take(commit(null, 'p1', 4));
      const differences = store.differences(parcels, 10);
      await take(commit(null, 'p1', 4), 'test', 2);
      expect(await differences).toEqual([]);
    });
  });
});
