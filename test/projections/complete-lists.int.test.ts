// Complete lists contain all earlier writes. A complete list fails while the read models are missing, being built,
// behind the log, or of another log.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { newId } from '../../src/kernel/ids.js';
import { Unavailable } from '../../src/kernel/unavailable.js';
import { CompleteLists } from '../../src/platform/subscriptions/complete-lists.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import { append, Failures, Log, opened, parcels, project as projectAll, QUICK, stamped, Recorder } from './fixtures.js';

describe('a complete list', () => {
  let server: RedisServer;
  let log: Log;
  let store: RedisProjectionStore;
  let lists: CompleteLists;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    store = new RedisProjectionStore(server.client());
    lists = listsOf(log.store);
  });
  afterEach(() => log.close());
  afterAll(() => server.stop());

  const listsOf = (events: EventStore): CompleteLists =>
    new CompleteLists(
      events,
      store,
      new RedisReadModels(server.client(), log.store, [parcels], new Failures(), KEPT_MS),
    );
  const listed = (withinMs = 50): Promise<string[]> => lists.idsIn(parcels, 'account=a', withinMs);
  const project = (): Promise<void> => projectAll(log.store, store, [parcels]);

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

  it('is empty when the log is empty, even if Redis has documents', async () => {
    await appendParcels(1);
    await project();
    await log.close();
    log = await Log.open();
    lists = listsOf(log.store);
    expect(await listed()).toEqual([]);
  });

  it('fails while the read models are missing or being built for the first time', async () => {
    await appendParcels(5);
    await expect(listed()).rejects.toBeInstanceOf(Unavailable);
    await store.lease(parcels, 'test', 60_000);
    await store.beginGeneration(parcels, 'test', 1, true);
    await expect(listed()).rejects.toBeInstanceOf(Unavailable);
  });

  it('is returned when the read models include all its events, even after unrelated events', async () => {
    const ids = await appendParcels(5);
    await project();
    expect(await listed()).toEqual(ids);
    await Promise.all(
      Array.from({ length: 600 }, () => log.store.append(`weight-${newId()}`, 'no-stream', [opened('a')])),
    );
    const looked = jest.spyOn(store, 'checkpoint');
    expect([await listed(5_000), looked.mock.calls.length]).toEqual([ids, 1]);
  });

  it('fails when the read models are behind the log or belong to another log', async () => {
    await appendParcels(3);
    await project();
    await appendParcels(3);
    await expect(listed()).rejects.toBeInstanceOf(Unavailable);
    await log.close();
    log = await Log.open();
    lists = listsOf(log.store);
    await appendParcels(4);
    await expect(listed()).rejects.toBeInstanceOf(Unavailable);
  });

  it('is never shortened', async () => {
    const many = Array.from({ length: 10_050 }, newId);
    for (let start = 0; start < many.length; start += 500)
      await Promise.all(
        many.slice(start, start + 500).map((id) => log.store.append(`parcel-${id}`, 'no-stream', [opened('a')])),
      );
    await project();
    expect((await listed()).length).toBe(many.length);
  });

  it('contains an event from a moment ago, and does not wait for later unrelated events', async () => {
    const projector = new Projector(log.store, store, [parcels], new Recorder(), QUICK);
    projector.start();
    const ids: string[] = [];
    let done = false;
    const others = (async () => {
      while (!done) await append(log.store, newId(), opened('another'));
    })();
    for (let round = 0; round < 10; round++) {
      ids.push(...(await appendParcels(1)));
      expect(await listed(20_000)).toEqual(ids);
    }
    done = true;
    await others;
    await projector.stop();
  });
});
