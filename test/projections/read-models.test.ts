import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { newId } from '../../src/kernel/ids.js';
import { type Generations, type RebuildReport, shardOf } from '../../src/ports/projection-store.js';
import { ReadModelsUnavailable } from '../../src/ports/read-models.js';
import { SLACK_MS } from '../support/measuring.js';
import { RedisServer } from '../support/redis.js';
import {
  append,
  delivered,
  event,
  Failures,
  Log,
  opened,
  parcels,
  stamped,
  until,
  weights,
  write,
} from './fixtures.js';

describe('the read models in Redis', () => {
  let server: RedisServer;
  let log: Log;
  let store: RedisProjectionStore;
  let failures: Failures;
  let models: RedisReadModels;
  let fence: number;

  const report = (generation: number): RebuildReport => ({
    projection: 'parcels',
    generation,
    request: null,
    documents: 0,
    digest: '',
    differences: null,
    finishedAt: '2024-05-06T07:08:09.123Z',
  });

  /** Begins a generation; live at once if asked, as if everything had been built. */
  async function begin(live: boolean): Promise<Generations> {
    const begun = await store.beginGeneration(parcels, fence, await store.generations(parcels), true);
    if (begun === null) throw new Error('lost the lease');
    if (live) await store.flip(parcels, fence, begun, report(begun.building ?? 0));
    return store.generations(parcels);
  }

  function anotherProcess(): RedisReadModels {
    return new RedisReadModels(server.client(), log.store, [parcels], failures);
  }

  beforeAll(async () => {
    server = await RedisServer.start();
    log = await Log.open();
  });

  beforeEach(async () => {
    await server.flush();
    store = new RedisProjectionStore(server.client());
    failures = new Failures();
    models = new RedisReadModels(server.client(), log.store, [parcels], failures);
    fence = (await store.acquireLease(parcels, 'test', 60_000)) ?? 0;
  });

  afterAll(async () => {
    await server.stop();
    await log.close();
  });

  it('answers null for a stream that does not exist, and folds one that was never projected', async () => {
    expect(await models.get(parcels, newId())).toBeNull();
    const id = newId();
    await append(log.store, id, opened('a'), stamped());
    expect(await models.get(parcels, id)).toEqual({ id, revision: 1, doc: { account: 'a', stamps: 1, dueAt: null } });
    expect(failures.misses).toBe(1);
  });

  it('gives the document that was applied, without asking the log', async () => {
    await begin(true);
    const id = newId();
    await write(log.store, models, id, opened('a'), stamped(), stamped());
    for (const reader of [models, anotherProcess()]) {
      expect(await reader.get(parcels, id)).toEqual({ id, revision: 2, doc: { account: 'a', stamps: 2, dueAt: null } });
    }
    expect(failures).toEqual({ applies: [], misses: 0 });
  });

  it('heals a document that went missing', async () => {
    const { live } = await begin(true);
    const id = newId();
    await write(log.store, models, id, opened('a', '2024-01-01T00:00:00.000Z'));
    const keys = `{parcels:v1.${live}:${shardOf(id)}}`;
    await server.client().del(`${keys}:docs`, `${keys}:index`, `${keys}:due`);
    expect((await models.get(parcels, id))?.revision).toBe(0);
    await until('it is stored again', async () => (await server.client().hget(`${keys}:docs`, id)) !== null);
    expect(await models.idsIn(parcels, 'account:a', 10)).toEqual([id]);
    expect(await models.due(parcels, new Date(), 10)).toEqual([id]);
  });

  it('folds a document that cannot be read', async () => {
    const { live } = await begin(true);
    const id = newId();
    await write(log.store, models, id, opened('a'));
    await server.client().hset(`{parcels:v1.${live}:${shardOf(id)}}:docs`, id, '0 {');
    expect((await models.get(parcels, id))?.doc).toEqual({ account: 'a', stamps: 0, dueAt: null });
  });

  it('never lets a document go back, whatever order the writers come in', async () => {
    await begin(true);
    const id = newId();
    const old = await append(log.store, id, opened('a', '2024-01-01T00:00:00.000Z'), stamped());
    await write(log.store, models, id, stamped(), delivered());
    await anotherProcess().applyNow(old);
    expect(await models.get(parcels, id)).toEqual({ id, revision: 3, doc: { account: 'a', stamps: 2, dueAt: null } });
    expect(await models.due(parcels, new Date(), 10)).toEqual([]);
  });

  it('lists by index, oldest id first, up to the limit', async () => {
    await begin(true);
    const ids = Array.from({ length: 40 }, newId).sort();
    for (const id of [...ids].reverse()) await write(log.store, models, id, opened('many'));
    await write(log.store, models, newId(), opened('man'));
    await write(log.store, models, newId(), opened('many-more'));
    expect(await models.idsIn(parcels, 'account:many', 100)).toEqual(ids);
    expect(await models.idsIn(parcels, 'account:many', 7)).toEqual(ids.slice(0, 7));
    expect(await models.idsIn(parcels, 'account:nobody', 7)).toEqual([]);
    expect(await models.idsIn(parcels, 'account:many', 0)).toEqual([]);
  });

  it('says what is due, the most overdue first, and forgets what no longer is', async () => {
    await begin(true);
    const due = (minute: number): string => `2024-05-06T07:0${minute}:00.000Z`;
    const ids: string[] = [];
    for (const minute of [3, 1, 2, 4]) {
      const id = newId();
      ids[minute] = id;
      await write(log.store, models, id, opened('a', due(minute)));
    }
    expect(await models.due(parcels, new Date(due(3)), 10)).toEqual([ids[1], ids[2], ids[3]]);
    expect(await models.due(parcels, new Date(due(3)), 2)).toEqual([ids[1], ids[2]]);
    await write(log.store, models, ids[1] ?? '', delivered());
    expect(await models.due(parcels, new Date(due(3)), 10)).toEqual([ids[2], ids[3]]);
  });

  it('applies to every projection of the category, and one that fails does not keep the others', async () => {
    const id = newId();
    const broken = {
      ...parcels,
      name: 'broken',
      evolve: (): never => {
        throw new Error('does not know it');
      },
    };
    const both = new RedisReadModels(server.client(), log.store, [broken, weights], failures);
    const own = (await store.acquireLease(weights, 'test', 60_000)) ?? 0;
    const begun = await store.beginGeneration(weights, own, { live: null, building: null }, true);
    if (begun === null) throw new Error('lost the lease');
    await store.flip(weights, own, begun, report(0));
    await both.applyNow(await append(log.store, id, opened('a'), stamped()));
    expect(await both.get(weights, id)).toEqual({ id, revision: 1, doc: { events: 2 } });
    expect(failures.misses).toBe(0);
    expect(failures.applies).toHaveLength(1);
  });

  it('does not bring a lost shard back with one document', async () => {
    await begin(true);
    const id = newId();
    await write(log.store, models, id, opened('a'));
    const redis = server.client();
    await redis.flushall();
    await write(log.store, models, id, stamped());
    expect(await redis.keys('*')).toEqual([]);
    expect((await models.get(parcels, id))?.revision).toBe(1);
  });

  it('does not show a generation that is being built', async () => {
    const { building } = await begin(false);
    const id = newId();
    const history = await append(log.store, id, opened('a'), stamped(), stamped());
    await store.commit(parcels, building ?? 0, fence, [
      {
        shard: shardOf(id),
        expected: null,
        next: history[0]?.position ?? null,
        log: null,
        writes: [{ id, revision: 0, doc: { account: 'a', stamps: 0, dueAt: null } }],
      },
    ]);
    expect((await models.get(parcels, id))?.revision).toBe(2);
  });

  describe('around a flip', () => {
    it('shows a write of one process to another that learns of the flip later', async () => {
      await begin(true);
      const [writer, reader] = [anotherProcess(), anotherProcess()];
      const id = newId();
      await write(log.store, writer, id, opened('a'));
      expect((await reader.get(parcels, id))?.revision).toBe(0);
      const building = await begin(false);
      await write(log.store, writer, id, stamped());
      await store.flip(parcels, fence, building, report(building.building ?? 0));
      // By the second one the writer knows of the flip, and leaves the old generation alone.
      await write(log.store, writer, id, stamped());
      await write(log.store, writer, id, stamped());
      expect((await reader.get(parcels, id))?.revision).toBe(3);
      expect((await anotherProcess().get(parcels, id))?.revision).toBe(3);
      expect(failures).toEqual({ applies: [], misses: 0 });
    });

    it('shows a write of a process that learns of it later, also when the new generation was filled before that write', async () => {
      await begin(true);
      const [writer, reader] = [anotherProcess(), anotherProcess()];
      const id = newId();
      await write(log.store, writer, id, opened('a'));
      const building = await begin(false);
      await store.commit(parcels, building.building ?? 0, fence, [
        {
          shard: shardOf(id),
          expected: null,
          next: 'x',
          log: null,
          writes: [{ id, revision: 0, doc: { account: 'a', stamps: 0, dueAt: null } }],
        },
      ]);
      await write(log.store, writer, id, stamped());
      expect((await reader.get(parcels, id))?.revision).toBe(1);
      await store.flip(parcels, fence, building, report(building.building ?? 0));
      expect((await reader.get(parcels, id))?.revision).toBe(1);
      expect(failures).toEqual({ applies: [], misses: 0 });
    });

    it('never shows an older state than one answered before, while generations come and go', async () => {
      await begin(true);
      const [writer, reader] = [anotherProcess(), anotherProcess()];
      const id = newId();
      let answered = await write(log.store, writer, id, opened('a'));
      let done = false;
      const flips = (async (): Promise<void> => {
        for (let round = 0; round < 30; round++) {
          const { building } = await begin(false);
          // What a rebuild does: the document as of the log when it was read.
          const history = await log.store.readStream(`parcel-${id}`);
          await store.commit(parcels, building ?? 0, fence, [
            {
              shard: shardOf(id),
              expected: null,
              next: 'x',
              log: null,
              writes: [
                { id, revision: history.length - 1, doc: { account: 'a', stamps: history.length - 1, dueAt: null } },
              ],
            },
          ]);
          await store.flip(parcels, fence, await store.generations(parcels), report(building ?? 0));
        }
        done = true;
      })();
      const writes = (async (): Promise<void> => {
        while (!done) answered = await write(log.store, writer, id, stamped());
      })();
      let reads = 0;
      while (!done) {
        const atLeast = answered;
        const view = await reader.get(parcels, id);
        expect(view?.revision).toBeGreaterThanOrEqual(atLeast);
        expect(view?.doc.stamps).toBe(view?.revision);
        reads++;
      }
      await Promise.all([flips, writes]);
      expect(reads).toBeGreaterThan(30);
      expect(failures.applies).toEqual([]);
    });
  });

  describe('without Redis', () => {
    it('fails within the time limit and works again by itself', async () => {
      await begin(true);
      const id = newId();
      await write(log.store, models, id, opened('a'));
      const history = await append(log.store, id, stamped());
      await server.kill9();
      const started = Date.now();
      const uses = await Promise.allSettled([
        models.get(parcels, id),
        models.idsIn(parcels, 'account:a', 1),
        models.due(parcels, new Date(), 1),
      ]);
      for (const use of uses) expect(use.status === 'rejected' && use.reason).toBeInstanceOf(ReadModelsUnavailable);
      await models.applyNow(history);
      expect(Date.now() - started).toBeLessThan(5_000 + SLACK_MS);
      expect(failures.applies).toHaveLength(1);
      await server.startAgain();
      await until('it answers again', async () => {
        try {
          return (await models.get(parcels, id)) !== null;
        } catch (error) {
          if (error instanceof ReadModelsUnavailable) return false;
          throw error;
        }
      });
    });

    it('fails within the time limit when Redis hangs', async () => {
      await begin(true);
      const id = newId();
      await write(log.store, models, id, opened('a'));
      server.freeze();
      const started = Date.now();
      await expect(models.get(parcels, id)).rejects.toBeInstanceOf(ReadModelsUnavailable);
      expect(Date.now() - started).toBeLessThan(3_000 + SLACK_MS);
      server.resume();
      expect((await models.get(parcels, id))?.revision).toBe(0);
    });
  });

  it('passes on what the log says about itself, and what a projection does not know', async () => {
    const id = newId();
    await append(log.store, id, opened('a'), event('Unheard'));
    await expect(models.get(parcels, id)).rejects.toThrow('does not know Unheard');
  });
});
