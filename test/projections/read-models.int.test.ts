import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { RedisUnavailable } from '../../src/adapters/redis/bounded-redis.js';
import { newId } from '../../src/kernel/ids.js';
import { listOf, listsBy } from '../../src/kernel/projection.js';
import type { RebuildReport } from '../../src/ports/projection-store.js';
import { EventStoreUnavailable } from '../../src/ports/event-store.js';
import type { ListQuery } from '../../src/ports/read-models.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import {
  append,
  delivered,
  event,
  Failures,
  listed,
  Log,
  opened,
  parcels,
  stamped,
  storedDocuments,
  weights,
  write,
} from './fixtures.js';
import { until } from '../support/eventually.js';

describe('the read models in Redis', () => {
  let server: RedisServer;
  let log: Log;
  let store: RedisProjectionStore;
  let failures: Failures;
  let models: RedisReadModels;
  let generation = 0;

  const report = (generation: number): RebuildReport => ({
    projection: 'parcels',
    generation,
    request: null,
    documents: 0,
    differences: null,
    finishedAt: '2024-05-06T07:08:09.123Z',
  });

  /** Begins a generation beside the live one. */
  async function begin(): Promise<void> {
    generation += 1;
    await store.beginGeneration(parcels, 'test', generation, true);
  }

  /** As if everything had been built. */
  async function promote(): Promise<void> {
    expect(await store.promote(parcels, 'test', 'z', report(generation))).toBe('promoted');
  }

  async function goLive(): Promise<void> {
    await begin();
    await promote();
  }

  /** What a rebuild does: the parcel as of a revision. */
  async function build(id: string, revision: number): Promise<void> {
    const state = { account: 'a', stamps: revision, dueAt: null };
    const writes = [{ id, revision, state, occurredAt: '2024-05-06T07:08:09.123Z' }];
    await store.commit(parcels, 'test', generation, { expected: null, next: 'x', log: null, writes });
  }

  async function idsIn(list: string, query: Partial<ListQuery> = {}): Promise<string[]> {
    return (await models.list(parcels, list, { limit: 100, ...query })).items.map(({ id }) => id);
  }

  function anotherProcess(): RedisReadModels {
    return new RedisReadModels(server.client(), log.store, [parcels], failures, KEPT_MS);
  }

  beforeAll(async () => {
    server = await RedisServer.start();
    log = await Log.open();
  });

  beforeEach(async () => {
    await server.flush();
    generation = 0;
    store = new RedisProjectionStore(server.client(), KEPT_MS);
    failures = new Failures();
    models = new RedisReadModels(server.client(), log.store, [parcels], failures, KEPT_MS);
    await store.lease(parcels, 'test', 60_000);
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
  });

  // Redis may have lost a write, and could be changed by others.
  it.each([
    ['behind', '0'],
    ['forged', '1'],
    ['forged as newer', '9'],
  ])('gives a document as the log has it when that in Redis is %s', async (_what, revision) => {
    await goLive();
    const id = newId();
    await write(log.store, models, id, opened('a'), stamped());
    await server.client().hset('{parcels:v1}:live:docs', id, `${revision}\n{"account":"b","stamps":7,"dueAt":null}`);
    expect((await listed(models, id))?.doc.account).toBe('b');
    expect(await models.get(parcels, id)).toEqual({ id, revision: 1, doc: { account: 'a', stamps: 1, dueAt: null } });
  });

  it('gives the stored document while the log cannot be read, and fails when there is none', async () => {
    await goLive();
    const id = newId();
    await write(log.store, models, id, opened('a'), stamped());
    const away = Object.assign(Object.create(log.store) as typeof log.store, {
      readStream: () => Promise.reject(new EventStoreUnavailable('away')),
    });
    const reader = new RedisReadModels(server.client(), away, [parcels], failures, KEPT_MS);
    expect(await reader.get(parcels, id)).toEqual({ id, revision: 1, doc: { account: 'a', stamps: 1, dueAt: null } });
    await expect(reader.get(parcels, newId())).rejects.toThrow(EventStoreUnavailable);
  });

  it('lists the document that was applied, without asking the log', async () => {
    await goLive();
    const id = newId();
    await write(log.store, models, id, opened('a'), stamped(), stamped());
    for (const reader of [models, anotherProcess()]) {
      expect(await listed(reader, id)).toEqual({ id, revision: 2, doc: { account: 'a', stamps: 2, dueAt: null } });
    }
    expect(failures).toEqual({ applies: [], misses: 0 });
  });

  it('heals a document of a list that went missing', async () => {
    await goLive();
    const id = newId();
    await write(log.store, models, id, opened('a', '2024-01-01T00:00:00.000Z'));
    const redis = server.client();
    await redis.del('{parcels:v1}:live:docs');
    expect((await listed(models, id))?.revision).toBe(0);
    await until('it is stored again', async () => (await redis.hget('{parcels:v1}:live:docs', id)) !== null);
    expect(await idsIn('account=a')).toEqual([id]);
    expect(await models.due(parcels, new Date(), 10)).toEqual([id]);
  });

  it('folds a document of a list that cannot be read', async () => {
    await goLive();
    const id = newId();
    await write(log.store, models, id, opened('a'));
    const redis = server.client();
    await redis.hset('{parcels:v1}:live:docs', id, '0\n{');
    expect((await listed(models, id))?.doc).toEqual({ account: 'a', stamps: 0, dueAt: null });
  });

  it('never lets a document go back, whatever order the writers come in', async () => {
    await goLive();
    const id = newId();
    const old = await append(log.store, id, opened('a', '2024-01-01T00:00:00.000Z'), stamped());
    await write(log.store, models, id, stamped(), delivered());
    await anotherProcess().applyNow(old);
    expect(await listed(models, id)).toEqual({ id, revision: 3, doc: { account: 'a', stamps: 2, dueAt: null } });
    expect(await models.due(parcels, new Date(), 10)).toEqual([]);
  });

  describe('a list', () => {
    it('has the newest first or the oldest, in pages by cursor or by number, with the total of all', async () => {
      await goLive();
      const ids = Array.from({ length: 40 }, newId).sort();
      for (const id of [...ids].reverse()) await write(log.store, models, id, opened('many'));
      await write(log.store, models, newId(), opened('man'));
      await write(log.store, models, newId(), opened('many-more'));
      const newest = [...ids].reverse();
      expect(await idsIn('account=many')).toEqual(newest);
      expect(await idsIn('account=many', { order: 'ascending' })).toEqual(ids);
      const read = async (query: Partial<ListQuery>) => {
        const { items, total, next } = await models.list(parcels, 'account=many', { limit: 15, ...query });
        return { ids: items.map(({ id }) => id), total, next };
      };
      const first = await read({});
      expect(first).toEqual({ ids: newest.slice(0, 15), total: 40, next: { sort: '', id: newest[14] } });
      const second = await read({ after: first.next });
      expect(second).toEqual({ ids: newest.slice(15, 30), total: 40, next: { sort: '', id: newest[29] } });
      const third = { ids: newest.slice(30), total: 40, next: null };
      expect([await read({ after: second.next }), await read({ skip: 30 })]).toEqual([third, third]);
      expect(await read({ order: 'ascending', after: { sort: '', id: ids[37] ?? '' } })).toMatchObject({
        ids: ids.slice(38),
        next: null,
      });
      expect(await read({ limit: 0 })).toEqual({ ids: [], total: 40, next: null });
      expect(await models.list(parcels, 'account=nobody', { limit: 7 })).toEqual({ items: [], total: 0, next: null });
    });

    it('is ordered by sort value and then id, and ends where it is asked to', async () => {
      const byStamps: typeof parcels = {
        ...parcels,
        entries: ({ stamps }) => [{ list: 'all', sort: String(stamps).padStart(3, '0') }],
      };
      models = new RedisReadModels(server.client(), log.store, [byStamps], failures, KEPT_MS);
      await goLive();
      const ids = Array.from({ length: 6 }, newId).sort();
      for (const [place, id] of ids.entries())
        await write(log.store, models, id, opened('a'), ...Array.from({ length: place % 3 }, stamped));
      const byValue = [ids[0], ids[3], ids[1], ids[4], ids[2], ids[5]];
      const page = await models.list(byStamps, 'all', { order: 'ascending', limit: 3 });
      expect([page.items.map(({ id }) => id), page.next]).toEqual([byValue.slice(0, 3), { sort: '001', id: ids[1] }]);
      const rest = await models.list(byStamps, 'all', { order: 'ascending', limit: 3, after: page.next });
      expect(rest.items.map(({ id }) => id)).toEqual(byValue.slice(3));
      const upTo = await models.list(byStamps, 'all', { limit: 10, upTo: '001' });
      expect([upTo.items.map(({ id }) => id), upTo.total]).toEqual([byValue.slice(0, 4).reverse(), 4]);
    });

    it('does not have a document that left it, and has it where it went', async () => {
      await goLive();
      const ids = Array.from({ length: 3 }, newId).sort();
      for (const id of ids) await write(log.store, models, id, opened('a', '2024-01-01T00:00:00.000Z'));
      const list = (status?: string) => idsIn(listOf({ account: 'a', status }), { order: 'ascending' });
      expect([await list('open'), await list('delivered')]).toEqual([ids, []]);
      await write(log.store, models, ids[1] ?? '', delivered());
      expect([await list('open'), await list('delivered')]).toEqual([[ids[0], ids[2]], [ids[1]]]);
      expect(await list()).toEqual(ids);
      expect((await models.list(parcels, listOf({ status: 'open', account: 'a' }), { limit: 0 })).total).toBe(2);
    });

    it('is of one moment: a page and its total agree while documents come and go', async () => {
      await goLive();
      const ids = Array.from({ length: 30 }, newId);
      for (const id of ids) await write(log.store, models, id, opened('a', '2024-01-01T00:00:00.000Z'));
      const writer = anotherProcess();
      let done = false;
      const writes = (async () => {
        for (const id of ids.slice(0, 25)) {
          await write(log.store, writer, id, delivered());
          await write(log.store, writer, newId(), opened('a', '2024-01-01T00:00:00.000Z'));
        }
        done = true;
      })();
      while (!done) {
        const { items, total } = await models.list(parcels, 'account=a&status=open', { skip: 20, limit: 10 });
        expect([total, items.length]).toEqual([total, Math.min(10, total - 20)]);
        expect(total === 29 || total === 30).toBe(true);
        for (const { doc } of items) expect(doc.dueAt).not.toBeNull();
      }
      await writes;
      expect((await models.list(parcels, 'account=a&status=delivered', { limit: 0 })).total).toBe(25);
    });

    it('shows what has been built so far while nothing is live', async () => {
      await begin();
      const id = newId();
      await write(log.store, models, id, opened('a'));
      expect(await idsIn('account=a')).toEqual([id]);
    });

    it('takes any value as one of its own', () => {
      expect(listOf({ account: 'a b&c=d\n', status: undefined })).toBe('account=a%20b%26c%3Dd%0A');
      expect(listOf({})).toBe('all');
      expect(listsBy({ of: '1' }, { type: 't', status: 's' }).sort()).toEqual(
        ['of=1', 'of=1&type=t', 'of=1&status=s', 'of=1&status=s&type=t'].sort(),
      );
    });
  });

  it('says what is due, the most overdue first, and forgets what no longer is', async () => {
    await goLive();
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
    const both = new RedisReadModels(server.client(), log.store, [broken, weights], failures, KEPT_MS);
    await store.lease(weights, 'test', 60_000);
    await store.beginGeneration(weights, 'test', 1, true);
    await store.promote(weights, 'test', null, report(1));
    await both.applyNow(await append(log.store, id, opened('a'), stamped()));
    expect((await storedDocuments(server.client(), weights)).get(id)).toEqual({ revision: 1, doc: { events: 2 } });
    expect(failures.applies).toHaveLength(1);
  });

  it('does not bring a lost generation back with one document', async () => {
    await goLive();
    const id = newId();
    await write(log.store, models, id, opened('a'));
    const redis = server.client();
    await redis.flushall();
    await write(log.store, models, id, stamped());
    expect(await redis.keys('*')).toEqual([]);
    expect((await models.get(parcels, id))?.revision).toBe(1);
  });

  it('does not show a document of a generation that is being built', async () => {
    await begin();
    const id = newId();
    await append(log.store, id, opened('a'), stamped(), stamped());
    await build(id, 0);
    expect((await models.get(parcels, id))?.revision).toBe(2);
  });

  describe('around a promotion', () => {
    it('shows a write of one process to another', async () => {
      await goLive();
      const [writer, reader] = [anotherProcess(), anotherProcess()];
      const id = newId();
      await write(log.store, writer, id, opened('a'));
      expect((await listed(reader, id))?.revision).toBe(0);
      await begin();
      await write(log.store, writer, id, stamped());
      await promote();
      await write(log.store, writer, id, stamped());
      expect((await listed(reader, id))?.revision).toBe(2);
      expect((await listed(anotherProcess(), id))?.revision).toBe(2);
      expect(failures).toEqual({ applies: [], misses: 0 });
    });

    it('shows a write also when the new generation was filled before that write', async () => {
      await goLive();
      const [writer, reader] = [anotherProcess(), anotherProcess()];
      const id = newId();
      await write(log.store, writer, id, opened('a'));
      await begin();
      await build(id, 0);
      await write(log.store, writer, id, stamped());
      expect((await listed(reader, id))?.revision).toBe(1);
      await promote();
      expect((await listed(reader, id))?.revision).toBe(1);
      expect(failures).toEqual({ applies: [], misses: 0 });
    });

    it('never shows an older state than one answered before, while generations come and go', async () => {
      await goLive();
      const [writer, reader] = [anotherProcess(), anotherProcess()];
      const id = newId();
      let answered = await write(log.store, writer, id, opened('a'));
      let done = false;
      const flips = (async (): Promise<void> => {
        for (let round = 0; round < 30; round++) {
          await begin();
          await build(id, (await log.store.readStream(`parcel-${id}`)).length - 1);
          await promote();
        }
        done = true;
      })();
      const writes = (async (): Promise<void> => {
        while (!done) answered = await write(log.store, writer, id, stamped());
      })();
      let reads = 0;
      while (!done) {
        const atLeast = answered;
        const view = await listed(reader, id);
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
    beforeEach(() => {
      models = new RedisReadModels(server.client(), log.store, [parcels], failures, KEPT_MS, 300);
    });

    it('fails within the time limit and works again by itself', async () => {
      await goLive();
      const id = newId();
      await write(log.store, models, id, opened('a'));
      const history = await append(log.store, id, stamped());
      await server.kill9();
      const uses = await Promise.allSettled([
        models.list(parcels, 'account=a', { limit: 1 }),
        models.due(parcels, new Date(), 1),
      ]);
      for (const use of uses) expect(use.status === 'rejected' && use.reason).toBeInstanceOf(RedisUnavailable);
      expect((await models.get(parcels, id))?.revision).toBe(1);
      expect(await models.get(parcels, newId())).toBeNull();
      await models.applyNow(history);
      expect(failures.applies).toHaveLength(1);
      await server.startAgain();
      await until('it answers again', async () => {
        try {
          return (await listed(models, id)) !== null;
        } catch (error) {
          if (error instanceof RedisUnavailable) return false;
          throw error;
        }
      });
    });

    it('fails within the time limit when Redis hangs', async () => {
      await goLive();
      const id = newId();
      await write(log.store, models, id, opened('a'));
      server.freeze();
      await expect(listed(models, id)).rejects.toBeInstanceOf(RedisUnavailable);
      server.resume();
      expect((await listed(models, id))?.revision).toBe(0);
    });

    it('gives a document by its id without asking Redis', async () => {
      await goLive();
      const id = newId();
      await write(log.store, models, id, opened('a'));
      const client = server.client();
      const asking = jest.spyOn(client, 'sendCommand');
      const reader = new RedisReadModels(client, log.store, [parcels], failures, KEPT_MS);
      asking.mockClear();
      expect((await reader.get(parcels, id))?.revision).toBe(0);
      expect(asking).not.toHaveBeenCalled();
    });
  });

  it('passes on what the log says about itself, and what a projection does not know', async () => {
    const id = newId();
    await append(log.store, id, opened('a'), event('Unheard'));
    await expect(models.get(parcels, id)).rejects.toThrow('does not know Unheard');
  });
});
