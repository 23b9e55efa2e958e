import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { RedisUnavailable } from '../../src/adapters/redis/bounded-redis.js';
import { newId } from '../../src/kernel/ids.js';
import { idOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { foldState, listOf, listsBy } from '../../src/kernel/projection.js';
import type { RebuildReport } from '../../src/ports/projection-store.js';
import { type EventStore, EventStoreUnavailable, type NewEvent } from '../../src/ports/event-store.js';
import type { ListQuery } from '../../src/ports/read-models.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import { append, delivered, event, Failures, listed, Log, opened, parcels, stamped, storedLines } from './fixtures.js';
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

  /** Begins a generation in addition to the live one. */
  async function begin(): Promise<void> {
    generation += 1;
    await store.beginGeneration(parcels, 'test', generation, true);
  }

  /** Marks the generation as completely built. */
  async function promote(): Promise<void> {
    expect(await store.promote(parcels, 'test', 'z', report(generation))).toBe('promoted');
  }

  async function goLive(): Promise<void> {
    await begin();
    await promote();
  }

  /** Appends to a stream, and writes the stream's document like the projector. */
  async function write(id: string, ...events: readonly NewEvent[]): Promise<number> {
    const history = await append(log.store, id, ...events);
    return list(history);
  }

  async function list(history: readonly RecordedEvent[], projection = parcels): Promise<number> {
    const { stream, revision, position, metadata } = history.at(-1) as RecordedEvent;
    const state = foldState(projection, history);
    const writes = [{ id: idOf(stream), revision, state, occurredAt: metadata.occurredAt }];
    const expected = (await store.checkpoint(projection, generation))?.position ?? null;
    const commit = { expected, next: position, log: null, writes };
    expect(await store.commit(projection, 'test', generation, commit)).toBeNull();
    return revision;
  }

  async function idsIn(list: string, query: Partial<ListQuery> = {}): Promise<string[]> {
    return (await models.list(parcels, list, { limit: 100, ...query })).items.map(({ id }) => id);
  }

  beforeAll(async () => {
    server = await RedisServer.start();
    log = await Log.open();
  });

  beforeEach(async () => {
    await server.flush();
    generation = 0;
    store = new RedisProjectionStore(server.client());
    failures = new Failures();
    models = new RedisReadModels(server.client(), log.store, [parcels], failures, KEPT_MS);
    await store.lease(parcels, 'test', 60_000);
  });

  afterAll(async () => {
    await server.stop();
    await log.close();
  });

  it('return null for a stream that does not exist, and fold a stream that was never projected', async () => {
    expect(await models.get(parcels, newId())).toBeNull();
    const id = newId();
    await append(log.store, id, opened('a'), stamped());
    expect(await models.get(parcels, id)).toEqual({ id, revision: 1, doc: { account: 'a', stamps: 1, dueAt: null } });
  });

  describe('with a document for outages of the log', () => {
    const told: typeof parcels = { ...parcels, toldWithoutLog: true };
    const away = (): EventStore =>
      Object.create(log.store, {
        readStream: { value: () => Promise.reject(new EventStoreUnavailable('away')) },
      }) as EventStore;
    const without = (projection: typeof parcels, events = away()): RedisReadModels =>
      new RedisReadModels(server.client(), events, [projection], failures, KEPT_MS);

    it('return its last state while the log is unavailable, and fail when the document was never applied', async () => {
      const id = newId();
      await without(told).applyNow(await append(log.store, id, opened('a'), stamped()));
      const view = { id, revision: 1, doc: { account: 'a', stamps: 1, dueAt: null } };
      expect(await without(told).get(told, id)).toEqual(view);
      await expect(without(told).get(told, newId())).rejects.toThrow(EventStoreUnavailable);
      expect(await server.client().pttl(`{parcels:v1}:document:${id}`)).toBeGreaterThan(0);
    });

    it('return the state from the log when the log is available, even if Redis has another state', async () => {
      const id = newId();
      await append(log.store, id, opened('a'), stamped());
      const forged = { id, revision: 9, doc: { account: 'b', stamps: 7, dueAt: null } };
      await server.client().set(`{parcels:v1}:document:${id}`, JSON.stringify(forged));
      expect(await without(told, log.store).get(told, id)).toMatchObject({ revision: 1, doc: { account: 'a' } });
    });

    it('keep the newer state when an earlier revision is applied later', async () => {
      const id = newId();
      const history = await append(log.store, id, opened('a'), stamped(), stamped());
      await without(told).applyNow(history);
      await without(told).applyNow(history.slice(0, 2));
      expect((await without(told).get(told, id))?.revision).toBe(2);
      expect(failures.applies).toEqual([]);
    });

    it('no longer return the document when its stream has become long', async () => {
      const id = newId();
      const history = await append(log.store, id, opened('a'), stamped());
      await without(told).applyNow(history.slice(0, 1));
      await without(told).applyNow(history.slice(1));
      await expect(without(told).get(told, id)).rejects.toThrow(EventStoreUnavailable);
      expect(failures.applies).toEqual([]);
    });

    it('treat a damaged copy as missing, and store the document again', async () => {
      const id = newId();
      await server.client().set(`{parcels:v1}:document:${id}`, '{"id":');
      await expect(without(told).get(told, id)).rejects.toThrow(EventStoreUnavailable);
      await without(told).applyNow(await append(log.store, id, opened('a')));
      expect((await without(told).get(told, id))?.revision).toBe(0);
    });

    it('store a document only if its projection keeps documents for outages', async () => {
      const id = newId();
      await without(parcels).applyNow(await append(log.store, id, opened('a')));
      expect(await server.client().keys('*:document:*')).toEqual([]);
      await expect(without(parcels).get(parcels, id)).rejects.toThrow(EventStoreUnavailable);
    });

    it('store the documents of the other projections when one projection fails', async () => {
      const broken: typeof parcels = {
        ...told,
        name: 'broken',
        evolve: () => {
          throw new Error('does not know it');
        },
      };
      const both = new RedisReadModels(server.client(), log.store, [broken, told], failures, KEPT_MS);
      await both.applyNow(await append(log.store, newId(), opened('a')));
      expect(failures.applies).toHaveLength(1);
      expect(await server.client().keys('*:document:*')).toHaveLength(1);
    });
  });

  it('list a document as it is in the log, even if Redis has another version of it', async () => {
    await goLive();
    const id = newId();
    await write(id, opened('a'));
    await server.client().hset('{parcels:v1}:live:lines', id, '9\taccount=b ');
    await append(log.store, id, stamped());
    expect(await listed(models, id)).toEqual({ id, revision: 1, doc: { account: 'a', stamps: 1, dueAt: null } });
  });

  it('omit a document that has left the list or does not exist', async () => {
    await goLive();
    const id = newId();
    await write(id, opened('a', '2024-01-01T00:00:00.000Z'));
    await server.client().zadd('{parcels:v1}:live:entries', 0, `account=a&status=open  ${newId()}`);
    expect(await idsIn(listOf({ account: 'a', status: 'open' }))).toEqual([id]);
    await append(log.store, id, delivered());
    expect(await idsIn(listOf({ account: 'a', status: 'open' }))).toEqual([]);
  });

  it('never replace a document by an older one, whatever the order of writes', async () => {
    await goLive();
    const id = newId();
    const old = await append(log.store, id, opened('a', '2024-01-01T00:00:00.000Z'), stamped());
    await write(id, stamped(), delivered());
    await list(old);
    expect(await models.due(parcels, new Date(), 10)).toEqual([]);
    expect((await storedLines(server.client(), parcels)).get(id)?.revision).toBe(3);
  });

  describe('a list of documents', () => {
    it('is sorted from the newest or the oldest, and has pages by cursor or number, with the total', async () => {
      await goLive();
      const ids = Array.from({ length: 40 }, newId).sort();
      for (const id of [...ids].reverse()) await write(id, opened('many'));
      await write(newId(), opened('man'));
      await write(newId(), opened('many-more'));
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

    it('is ordered by sort value and then id, and ends at the given value', async () => {
      const byStamps: typeof parcels = {
        ...parcels,
        entries: ({ stamps }) => [{ list: 'all', sort: String(stamps).padStart(3, '0') }],
      };
      await goLive();
      const ids = Array.from({ length: 6 }, newId).sort();
      for (const [place, id] of ids.entries())
        await list(await append(log.store, id, opened('a'), ...Array.from({ length: place % 3 }, stamped)), byStamps);
      const byValue = [ids[0], ids[3], ids[1], ids[4], ids[2], ids[5]];
      const page = await models.list(byStamps, 'all', { order: 'ascending', limit: 3 });
      expect([page.items.map(({ id }) => id), page.next]).toEqual([byValue.slice(0, 3), { sort: '001', id: ids[1] }]);
      const rest = await models.list(byStamps, 'all', { order: 'ascending', limit: 3, after: page.next });
      expect(rest.items.map(({ id }) => id)).toEqual(byValue.slice(3));
      const upTo = await models.list(byStamps, 'all', { limit: 10, upTo: '001' });
      expect([upTo.items.map(({ id }) => id), upTo.total]).toEqual([byValue.slice(0, 4).reverse(), 4]);
    });

    it('loses a document that moves to another list, and the other list receives the document', async () => {
      await goLive();
      const ids = Array.from({ length: 3 }, newId).sort();
      for (const id of ids) await write(id, opened('a', '2024-01-01T00:00:00.000Z'));
      const parcelsThat = (status?: string) => idsIn(listOf({ account: 'a', status }), { order: 'ascending' });
      expect([await parcelsThat('open'), await parcelsThat('delivered')]).toEqual([ids, []]);
      await write(ids[1] ?? '', delivered());
      expect([await parcelsThat('open'), await parcelsThat('delivered')]).toEqual([[ids[0], ids[2]], [ids[1]]]);
      expect(await parcelsThat()).toEqual(ids);
      expect((await models.list(parcels, listOf({ status: 'open', account: 'a' }), { limit: 0 })).total).toBe(2);
    });

    it('has a page and a total that agree while documents are added and removed', async () => {
      await goLive();
      const ids = Array.from({ length: 30 }, newId);
      for (const id of ids) await write(id, opened('a', '2024-01-01T00:00:00.000Z'));
      let done = false;
      const writes = (async () => {
        for (const id of ids.slice(0, 25)) {
          await write(id, delivered());
          await write(newId(), opened('a', '2024-01-01T00:00:00.000Z'));
        }
        done = true;
      })();
      while (!done) {
        const { items, total } = await models.list(parcels, 'account=a&status=open', { skip: 20, limit: 10 });
        // One document may have left the list since the page was read.
        expect(Math.min(10, total - 20) - items.length).toBeLessThanOrEqual(1);
        expect(total === 29 || total === 30).toBe(true);
        for (const { doc } of items) expect(doc.dueAt).not.toBeNull();
      }
      await writes;
      expect((await models.list(parcels, 'account=a&status=delivered', { limit: 0 })).total).toBe(25);
    });

    it('has the documents that were built so far while no generation is live', async () => {
      await begin();
      const id = newId();
      await write(id, opened('a'));
      expect(await idsIn('account=a')).toEqual([id]);
    });

    it('is complete during the promotion of the built generation', async () => {
      await begin();
      const id = newId();
      await write(id, opened('a', '2024-01-01T00:00:00.000Z'));
      const client = server.client();
      const exists = client.exists.bind(client) as (key: string) => Promise<number>;
      jest.spyOn(client, 'exists').mockImplementation(async (key) => {
        const found = await exists(String(key));
        await promote();
        return found;
      });
      const reader = new RedisReadModels(client, log.store, [parcels], failures, KEPT_MS);
      expect(await reader.due(parcels, new Date(), 10)).toEqual([id]);
    });

    it('fails when Redis refuses a part of the query', async () => {
      await server.client().set('{parcels:v1}:live:entries', 'no set');
      await expect(idsIn('account=a')).rejects.toBeInstanceOf(RedisUnavailable);
    });

    it('reads only few streams at the same time', async () => {
      await goLive();
      for (let count = 0; count < 40; count++) await write(newId(), opened('a'));
      let [now, most] = [0, 0];
      const readStream = async (stream: string): Promise<RecordedEvent[]> => {
        most = Math.max(most, (now += 1));
        return log.store.readStream(stream).finally(() => (now -= 1));
      };
      const counted = Object.create(log.store, { readStream: { value: readStream } }) as EventStore;
      models = new RedisReadModels(server.client(), counted, [parcels], failures, KEPT_MS);
      expect([(await idsIn('account=a')).length, most]).toEqual([40, 16]);
    });

    it('can be named by any value', () => {
      expect(listOf({ account: 'a b&c=d\n', status: undefined })).toBe('account=a%20b%26c%3Dd%0A');
      expect(listOf({})).toBe('all');
      expect(listsBy({ of: '1' }, { type: 't', status: 's' }).sort()).toEqual(
        ['of=1', 'of=1&type=t', 'of=1&status=s', 'of=1&status=s&type=t'].sort(),
      );
    });
  });

  it('return the due documents, the most overdue first, and remove documents that are no longer due', async () => {
    await goLive();
    const due = (minute: number): string => `2024-05-06T07:0${minute}:00.000Z`;
    const ids: string[] = [];
    for (const minute of [3, 1, 2, 4]) {
      const id = newId();
      ids[minute] = id;
      await write(id, opened('a', due(minute)));
    }
    expect(await models.due(parcels, new Date(due(3)), 10)).toEqual([ids[1], ids[2], ids[3]]);
    expect(await models.due(parcels, new Date(due(3)), 2)).toEqual([ids[1], ids[2]]);
    await write(ids[1] ?? '', delivered());
    expect(await models.due(parcels, new Date(due(3)), 10)).toEqual([ids[2], ids[3]]);
  });

  describe('without Redis', () => {
    beforeEach(() => {
      models = new RedisReadModels(server.client(), log.store, [parcels], failures, KEPT_MS, 300);
    });

    it('fail within the time limit, and recover by themselves', async () => {
      await goLive();
      const id = newId();
      await write(id, opened('a'));
      await server.kill9();
      const uses = await Promise.allSettled([
        models.list(parcels, 'account=a', { limit: 1 }),
        models.due(parcels, new Date(), 1),
      ]);
      for (const use of uses) expect(use.status === 'rejected' && use.reason).toBeInstanceOf(RedisUnavailable);
      expect((await models.get(parcels, id))?.revision).toBe(0);
      expect(await models.get(parcels, newId())).toBeNull();
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

    it('fail within the time limit when Redis hangs', async () => {
      await goLive();
      const id = newId();
      await write(id, opened('a'));
      server.freeze();
      await expect(listed(models, id)).rejects.toBeInstanceOf(RedisUnavailable);
      server.resume();
      expect((await listed(models, id))?.revision).toBe(0);
    });

    it('return a document by its id without Redis', async () => {
      await goLive();
      const id = newId();
      await write(id, opened('a'));
      const client = server.client();
      const asking = jest.spyOn(client, 'sendCommand');
      const reader = new RedisReadModels(client, log.store, [parcels], failures, KEPT_MS);
      asking.mockClear();
      expect((await reader.get(parcels, id))?.revision).toBe(0);
      expect(asking).not.toHaveBeenCalled();
    });
  });

  it('pass on errors of the log and of a projection', async () => {
    const id = newId();
    await append(log.store, id, opened('a'), event('Unheard'));
    await expect(models.get(parcels, id)).rejects.toThrow('does not know Unheard');
  });
});
