// Lists that miss nothing while the read models are empty, being built, behind, or of another log.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { newId } from '../../src/kernel/ids.js';
import { CompleteLists } from '../../src/platform/subscriptions/complete-lists.js';
import { SharedLogReader } from '../../src/platform/subscriptions/shared-log-reader.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import { until } from '../support/eventually.js';
import { append, Failures, liveContents, Log, opened, parcels, QUICK, stamped, Told } from './fixtures.js';

describe('a complete list', () => {
  let server: RedisServer;
  let log: Log;
  let store: RedisProjectionStore;
  let lists: CompleteLists;
  let progress: string[];

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    store = new RedisProjectionStore(server.client(), KEPT_MS);
    lists = listsOf(log.store);
    progress = [];
  });
  afterEach(() => log.close());
  afterAll(() => server.stop());

  const listsOf = (events: EventStore, longestWaitMs?: number): CompleteLists =>
    new CompleteLists(
      events,
      store,
      new RedisReadModels(server.client(), log.store, [parcels], new Failures(), KEPT_MS),
      longestWaitMs,
    );
  const listed = (): Promise<string[]> => lists.idsIn(parcels, 'account=a', (through) => progress.push(through));

  async function appendParcels(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const id = newId();
      await append(log.store, id, opened('a'), stamped());
      await append(log.store, newId(), opened('another'));
      ids.push(id);
    }
    return ids;
  }

  async function project(): Promise<void> {
    const projector = new Projector(
      log.store,
      new RedisProjectionStore(server.client(), KEPT_MS),
      [parcels],
      new Told(),
      QUICK,
    );
    projector.start();
    const head = await log.store.head();
    await until('it has caught up', async () => {
      const { live } = await store.generations(parcels);
      return live !== null && (await store.checkpoint(parcels, live))?.position === head;
    });
    await projector.stop();
  }

  it('comes from the log while there are no read models, and says how far it has read', async () => {
    const ids = await appendParcels(5);
    expect(await listed()).toEqual(ids);
    expect(progress.at(-1)).toBe(await log.store.head());
  });

  it('comes from the log while they are being built for the first time', async () => {
    const ids = await appendParcels(5);
    await store.lease(parcels, 'test', 60_000);
    await store.beginGeneration(parcels, 'test', 1, true);
    expect(await listed()).toEqual(ids);
  });

  it('comes from them when they have everything, without reading the log again', async () => {
    const ids = await appendParcels(5);
    await project();
    expect([await listed(), progress.length <= 1]).toEqual([ids, true]);
    expect((await liveContents(server.client(), parcels))?.documents).toBe(10);
  });

  it('is completed where they are behind', async () => {
    const before = await appendParcels(3);
    await project();
    const since = await appendParcels(3);
    expect(await listed()).toEqual([...before, ...since]);
  });

  it('has what was appended a moment ago, where all subscriptions of a process share one that rests between two looks', async () => {
    const shared = new SharedLogReader(log.store);
    const over = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const _ of shared.subscribe({ after: null, signal: over.signal }));
    };
    const following = follow();
    lists = listsOf(shared);
    const ids: string[] = [];
    for (let round = 0; round < 20; round++) {
      ids.push(...(await appendParcels(1)));
      expect(await listed()).toEqual(ids);
    }
    over.abort();
    await following;
  });

  it('takes nothing from those of another log', async () => {
    await appendParcels(3);
    await project();
    await log.close();
    log = await Log.open();
    lists = listsOf(log.store);
    const ids = await appendParcels(4);
    expect(await listed()).toEqual(ids);
  });

  it('has no end at which it is cut', async () => {
    const many = Array.from({ length: 10_050 }, newId);
    for (let start = 0; start < many.length; start += 500)
      await Promise.all(
        many.slice(start, start + 500).map((id) => log.store.append(`parcel-${id}`, 'no-stream', [opened('a')])),
      );
    await project();
    expect((await listed()).length).toBe(many.length);
  });

  describe('waits for what follows the log', () => {
    const documents = async (): Promise<number> => (await liveContents(server.client(), parcels))?.documents ?? 0;

    it('until it has written what was in the log', async () => {
      const projector = new Projector(log.store, store, [parcels], new Told(), QUICK);
      projector.start();
      await until('they are live', async () => (await store.generations(parcels)).live !== null);
      for (let count = 2; count <= 20; count += 2) {
        await appendParcels(1);
        await lists.caughtUp(parcels);
        expect(await documents()).toBe(count);
      }
      await projector.stop();
    });

    it('and no longer where the log has gone on meanwhile', async () => {
      await appendParcels(1);
      await project();
      const head = log.store.head.bind(log.store);
      const looked = jest.spyOn(store, 'checkpoint');
      jest.spyOn(log.store, 'head').mockImplementationOnce(async () => {
        const then = await head();
        await appendParcels(1);
        await project();
        looked.mockClear();
        return then;
      });
      await lists.caughtUp(parcels);
      expect(looked).toHaveBeenCalledTimes(1);
    });

    it('not for what is of other projections', async () => {
      await appendParcels(1);
      await project();
      await Promise.all(
        Array.from({ length: 300 }, () => log.store.append(`weight-${newId()}`, 'no-stream', [opened('a')])),
      );
      const looked = jest.spyOn(store, 'checkpoint');
      await lists.caughtUp(parcels);
      expect(looked).toHaveBeenCalledTimes(1);
    });

    it('and gives up where nobody writes, or they are being built', async () => {
      lists = listsOf(log.store, 100);
      await appendParcels(1);
      await lists.caughtUp(parcels);
      await project();
      await appendParcels(1);
      await lists.caughtUp(parcels);
      expect(await documents()).toBe(2);
    });
  });
});
