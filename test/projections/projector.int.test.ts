import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { RedisReadModels } from '../../src/adapters/read-models/redis.js';
import { SystemClock } from '../../src/kernel/clock.js';
import { newId } from '../../src/kernel/ids.js';
import { CompleteLists } from '../../src/platform/subscriptions/complete-lists.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { AnyProjection, CommitFault } from '../../src/ports/projection-store.js';
import { KEPT_MS, RedisServer } from '../support/redis.js';
import { appendParcels as appendParcelsTo, caughtUp as hasCaughtUp } from './catching-up.js';
import {
  append,
  event,
  Failures,
  listed,
  liveContents,
  Log,
  opened,
  parcels,
  QUICK,
  rebuild,
  stamped,
  storedLines,
  Recorder,
  weights,
} from './fixtures.js';
import { until } from '../support/eventually.js';

describe('the projector', () => {
  let server: RedisServer;
  let redis: Redis;
  let log: Log;
  let store: RedisProjectionStore;
  let told: Recorder;
  const running: Projector[] = [];

  function start(
    projections: readonly AnyProjection[] = [parcels, weights],
    events: EventStore = log.store,
    options = QUICK,
    into = new RedisProjectionStore(server.client()),
  ): Projector {
    const projector = new Projector(events, into, projections, told, options);
    projector.start();
    running.push(projector);
    return projector;
  }

  async function stop(projector: Projector): Promise<void> {
    running.splice(running.indexOf(projector), 1);
    await projector.stop();
  }

  async function holder(projection: AnyProjection = parcels): Promise<string | undefined> {
    return (await redis.get(`{${projection.name}:v1}:lease`)) ?? undefined;
  }

  const caughtUp = (...projections: readonly AnyProjection[]): Promise<void> =>
    hasCaughtUp(log.store, redis, ...projections);
  const appendParcels = (count: number, stamps?: number): Promise<string[]> =>
    appendParcelsTo(log.store, count, stamps);

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });

  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    store = new RedisProjectionStore(server.client());
    told = new Recorder();
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((projector) => projector.stop()));
    await log.close();
  });

  afterAll(async () => {
    await server.stop();
  });

  it('fills empty read models from an existing log, and then follows the log', async () => {
    await appendParcels(300);
    const projector = start();
    await caughtUp(parcels, weights);
    expect(told.builds).toEqual([
      ['parcels', 'first'],
      ['weights', 'first'],
    ]);
    await appendParcels(20);
    await caughtUp(parcels, weights);
    await until('it says so', () =>
      projector.status().every(({ state, position, lagMs }) => state === 'live' && position !== null && lagMs === 0),
    );
    expect([told.drops, told.alarms, told.leaseFailures]).toEqual([[], [], []]);
  });

  it('starts with an empty log', async () => {
    start();
    await until(
      'both are live',
      async () => (await liveContents(redis, parcels)) !== null && (await liveContents(redis, weights)) !== null,
    );
    await appendParcels(10);
    await caughtUp(parcels, weights);
  });

  it('builds the same lists and due times in a rebuild as when it handles events one by one', async () => {
    start();
    for (let round = 0; round < 10; round++) await appendParcels(20);
    await caughtUp(parcels, weights);
    const live = [await liveContents(redis, parcels), await liveContents(redis, weights)];
    expect(live[0]).toMatchObject({ documents: 200, entries: 500, due: 100 });
    const reports = await rebuild(log.store, store, [parcels, weights]);
    expect(reports.map(({ differences }) => differences)).toEqual([[], []]);
    expect([await liveContents(redis, parcels), await liveContents(redis, weights)]).toEqual(live);
  });

  it('builds the same read models when it reads a part of the log twice', async () => {
    await appendParcels(100);
    const first = start();
    await caughtUp(parcels, weights);
    await stop(first);
    const before = [await liveContents(redis, parcels), await liveContents(redis, weights)];
    const middle = (await log.store.readAll(null, 200)).at(-1)?.position ?? '';
    for (const [place, key] of (await redis.keys('*:state')).entries())
      await redis.hset(key, 'position', place === 0 ? '' : middle);
    start();
    await appendParcels(1);
    await caughtUp(parcels, weights);
    await stop(running[0]!);
    for (const key of await redis.keys('*:state'))
      expect(await redis.hget(key, 'position')).toBe(await log.store.head());
    const [again] = [await liveContents(redis, parcels)];
    expect(again?.documents).toBe(before[0]!.documents + 1);
    await rebuild(log.store, store, [parcels]);
    expect(await liveContents(redis, parcels)).toEqual(again);
  });

  it('saves its checkpoint and releases the lease when it stops', async () => {
    await appendParcels(50);
    const projector = start([parcels], log.store, { ...QUICK, leaseMs: 60_000, intervalMs: 20_000 });
    await caughtUp(parcels);
    await appendParcels(1);
    await caughtUp(parcels);
    await stop(projector);
    expect(await holder()).toBeUndefined();
    const { live } = await store.generations(parcels);
    expect((await store.checkpoint(parcels, live ?? 0))?.position).toBe(await log.store.head());
  });

  it('moves the checkpoint of a projection that has no events', async () => {
    start();
    await until('it is live', async () => (await liveContents(redis, parcels)) !== null);
    await log.store.append(`else-${newId()}`, 'no-stream', [opened('a')]);
    const head = await log.store.head();
    await until('it is at the head', async () => {
      const { live } = await store.generations(parcels);
      return (await store.checkpoint(parcels, live ?? 0))?.position === head;
    });
  });

  it('reads a stream from the log when a stored document is missing', async () => {
    const [id = ''] = await appendParcels(1, 0);
    const projector = start([parcels]);
    await caughtUp(parcels);
    await stop(projector);
    await redis.hdel('{parcels:v1}:live:lines', id);
    await append(log.store, id, stamped());
    start([parcels]);
    await caughtUp(parcels);
  });

  describe('with several processes', () => {
    it('becomes standby when another process took over during a pause', async () => {
      await appendParcels(5);
      const projector = start();
      await caughtUp(parcels, weights);
      // The state is the same as after a long pause in which the lease expired.
      await until('another has the lease', async () => {
        await redis.del('{parcels:v1}:lease');
        return (await store.lease(parcels, 'newer', 60_000)) !== null;
      });
      await append(log.store, newId(), opened('a'));
      await until('it has stepped back', () => projector.status()[0]?.state === 'standby');
      await caughtUp(weights);
      expect((await liveContents(redis, parcels))?.documents).toBe(5);
      await store.releaseLease(parcels, 'newer');
      await caughtUp(parcels);
    });
  });

  describe('when Redis loses data', () => {
    it('rebuilds everything by itself after Redis was emptied', async () => {
      await appendParcels(50);
      start();
      await caughtUp(parcels, weights);
      await server.flush();
      await caughtUp(parcels, weights);
      await appendParcels(5);
      await caughtUp(parcels, weights);
      expect(told.alarms).toEqual([]);
    });

    it('rebuilds everything after Redis was killed and lost its files', async () => {
      await appendParcels(50);
      start();
      await caughtUp(parcels, weights);
      await server.startAgainEmpty();
      await appendParcels(5);
      await caughtUp(parcels, weights);
    });

    it('continues after Redis was killed', async () => {
      await appendParcels(50);
      start();
      await caughtUp(parcels, weights);
      await server.kill9();
      await appendParcels(5);
      await server.startAgain();
      await caughtUp(parcels, weights);
    });

    it('repairs the data that a restored Redis has lost, without a new event', async () => {
      const [id = ''] = await appendParcels(1);
      start([parcels]);
      await caughtUp(parcels);
      const first = (await log.store.readAll(null, 1))[0]?.position ?? '';
      await redis
        .multi()
        .hset('{parcels:v1}:live:lines', id, '0')
        .hset('{parcels:v1}:live:state', 'position', first)
        .exec();
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await caughtUp(parcels);
    });

    it('rebuilds a projection when a part of it is missing, and does not serve the rest in the meantime', async () => {
      const [id = ''] = await appendParcels(50);
      start([parcels]);
      await caughtUp(parcels);
      const before = await store.generations(parcels);
      await redis.del('{parcels:v1}:live:state', '{parcels:v1}:live:entries');
      await append(log.store, id, stamped());
      await until('a new one is live', async () => {
        const { live } = await store.generations(parcels);
        return live !== null && live !== before.live;
      });
      await caughtUp(parcels);
      expect(told.builds).toEqual([
        ['parcels', 'first'],
        ['parcels', 'missing'],
      ]);
    });

    it('starts again from the beginning when the log is another one', async () => {
      await appendParcels(50);
      const projector = start();
      await caughtUp(parcels, weights);
      await stop(projector);
      await log.close();
      log = await Log.open();
      await appendParcels(60);
      start();
      await caughtUp(parcels, weights);
      expect(told.builds.slice(2)).toEqual([
        ['parcels', 'foreign'],
        ['weights', 'foreign'],
      ]);
      expect((await liveContents(redis, parcels))?.documents).toBe(60);
    });

    it('starts again from the beginning when the log is shorter than the checkpoint', async () => {
      await appendParcels(20);
      const projector = start([parcels]);
      await caughtUp(parcels);
      await stop(projector);
      for (const key of await redis.keys('*:state')) await redis.hset(key, 'position', '99999999999999999999');
      start([parcels]);
      await until('it starts again', () => told.builds.length === 2);
      await caughtUp(parcels);
      expect(told.builds[1]).toEqual(['parcels', 'foreign']);
    });
  });

  describe('an event of an unknown type', () => {
    it('stops its projection with an alarm, is never skipped, and does not stop other projections', async () => {
      await appendParcels(5);
      const projector = start();
      await caughtUp(parcels, weights);
      const [id, later] = [newId(), newId()];
      await append(log.store, id, opened('a'), event('ParcelEaten', { by: 'a dog' }));
      await append(log.store, later, opened('a'));
      await caughtUp(weights);
      await until('it has stopped', () => projector.status()[0]?.state === 'stopped');
      expect(told.alarms.map(([projection, error]) => [projection, error.message])).toEqual([
        ['parcels', `parcels cannot read ParcelEaten, revision 1 of parcel-${id}`],
      ]);
      expect(projector.status()[1]?.state).toBe('live');
      await until('the lease is free', async () => (await holder()) === undefined);
      const { live } = await store.generations(parcels);
      expect((await storedLines(redis, parcels)).has(later)).toBe(false);
      const checkpoint = await store.checkpoint(parcels, live ?? 0);
      const eaten = (await log.store.readStream(`parcel-${id}`)).at(-1)?.position ?? '';
      expect((checkpoint?.position ?? '') < eaten).toBe(true);

      // A release that knows the event continues at the checkpoint where this release stopped.
      const complete: typeof parcels = {
        ...parcels,
        evolve: (doc, each) => (each.type === 'ParcelEaten' && doc ? doc : parcels.evolve(doc, each)),
      };
      start([complete]);
      await caughtUp(complete);
      expect(told.builds.filter(([projection]) => projection === 'parcels')).toHaveLength(1);
    });

    it('stops its projection during the first build, and the other projections are built', async () => {
      const id = newId();
      await append(log.store, id, opened('a'), event('ParcelEaten'));
      await appendParcels(5);
      const projector = start();
      await caughtUp(weights);
      await until('it has stopped', () => projector.status()[0]?.state === 'stopped');
      expect(told.alarms.map(([, error]) => error.message)).toEqual([
        `parcels cannot read ParcelEaten, revision 1 of parcel-${id}`,
      ]);
      expect((await store.generations(parcels)).live).toBeNull();
    });

    it('leaves the live generation unchanged when it occurs in a rebuild', async () => {
      await append(log.store, newId(), opened('a'));
      const lenient: typeof parcels = {
        ...parcels,
        evolve: (doc, each) => (each.type === 'ParcelEaten' && doc ? doc : parcels.evolve(doc, each)),
      };
      await append(log.store, newId(), opened('a'), event('ParcelEaten'));
      const projector = start([lenient]);
      await caughtUp(lenient);
      await stop(projector);
      const { live } = await store.generations(parcels);
      await expect(rebuild(log.store, store, [parcels])).rejects.toThrow('parcels cannot read ParcelEaten');
      expect((await store.generations(parcels)).live).toBe(live);
    });
  });

  describe('a rebuild of a projection', () => {
    it('loses no write while other processes write and read, and a complete list includes each write at once', async () => {
      await appendParcels(300);
      start();
      await caughtUp(parcels, weights);
      const models = (): RedisReadModels =>
        new RedisReadModels(server.client(), log.store, [parcels, weights], new Failures(), KEPT_MS);
      let rebuilding = true;
      let checked = 0;
      const worker = async (): Promise<void> => {
        const reader = models();
        const lists = new CompleteLists(log.store, store, reader);
        const account = newId();
        while (rebuilding) {
          const id = newId();
          await append(log.store, id, opened(account), stamped());
          expect(await lists.caughtUp(parcels, 20_000)).toBe(true);
          const parcel = await listed(reader, id, `account=${account}`);
          expect([parcel?.revision, parcel?.doc.stamps]).toEqual([1, 1]);
          checked++;
        }
      };
      const impatient = async (): Promise<void> => {
        const reader = models();
        const id = newId();
        await append(log.store, id, opened('impatient'));
        let seen = 0;
        while (rebuilding) {
          await append(log.store, id, stamped());
          // A list includes the event as soon as the projector has handled it, and keeps the event afterwards.
          const revision = (await listed(reader, id, 'account=impatient'))?.revision ?? 0;
          expect(revision).toBeGreaterThanOrEqual(seen);
          seen = revision;
        }
      };
      const work = [worker(), worker(), worker(), impatient()];
      const before = await store.generations(parcels);
      // On a slow machine the workers need more rounds.
      for (let round = 0; round < 3 || (checked <= 20 && round < 50); round++) {
        const reports = await rebuild(log.store, store, [parcels, weights]);
        expect(reports.map(({ differences }) => differences)).toEqual([[], []]);
      }
      rebuilding = false;
      await Promise.all(work);
      expect(checked).toBeGreaterThan(20);
      expect((await store.generations(parcels)).live).toBeGreaterThan(before.live ?? 0);
      await caughtUp(parcels, weights);
    });

    it('reports a document that differed from the log, and replaces it', async () => {
      const [id = ''] = await appendParcels(50);
      start();
      await caughtUp(parcels, weights);
      await redis.hset('{parcels:v1}:live:lines', id, '4\taccount=account-9 ');
      const [first] = await rebuild(log.store, store, [parcels]);
      expect(first?.differences).toEqual([id]);
      await caughtUp(parcels);
      const [second] = await rebuild(log.store, store, [parcels]);
      expect(second?.differences).toEqual([]);
    });

    it('leaves nothing of the old generation', async () => {
      await appendParcels(50);
      start([parcels]);
      await caughtUp(parcels);
      await rebuild(log.store, store, [parcels]);
      const keys = (await redis.keys('*')).filter((key) => !key.endsWith(':lease'));
      expect(keys.sort()).toEqual(
        ['live:entries', 'live:lines', 'live:state', 'report'].map((key) => `{parcels:v1}:${key}`),
      );
    });

    it('does not go live while it is behind the generation that it replaces', async () => {
      await appendParcels(50, 2);
      let target = '';
      const [begins, proceeds] = [new AbortController(), new AbortController()];
      let isBehind = false;
      // The build waits at the end that the log had at the start of the rebuild. The live generation follows the log at
      // once.
      const slow: EventStore = Object.create(log.store, {
        subscribe: {
          value: async function* (options: Parameters<EventStore['subscribe']>[0]) {
            const past = target !== '' && options.after === null;
            if (past) await Promise.race([aborted(begins.signal), aborted(options.signal)]);
            for await (const batch of log.store.subscribe({ ...options, batchSize: past ? 50 : 500 })) {
              yield batch;
              if (!past || proceeds.signal.aborted || (batch.through ?? '') < target) continue;
              isBehind = true;
              await Promise.race([aborted(proceeds.signal), aborted(options.signal)]);
            }
          },
        },
      }) as EventStore;
      start([parcels], slow, QUICK, new RedisProjectionStore(server.client(), new SystemClock(), 5));
      await caughtUp(parcels);
      const before = await store.generations(parcels);
      target = (await log.store.head()) ?? '';
      await store.requestRebuild(parcels, 'request');
      await until('it is being built', async () => (await store.generations(parcels)).building !== null);
      await appendParcels(150, 2);
      await caughtUp(parcels);
      begins.abort();
      await until('it has what was there when it was begun', () => isBehind);
      // This time is longer than a comparison waits for documents that are behind.
      const measured = told.lags.length;
      await until('some time has passed', () => told.lags.length > measured + 30);
      expect((await store.generations(parcels)).live).toBe(before.live);
      proceeds.abort();
      await until('it is live', async () => (await store.generations(parcels)).live !== before.live);
      await caughtUp(parcels);
      expect(told.reports.at(-1)?.differences).toEqual([]);
    });

    it('continues where its process stopped', async () => {
      await appendParcels(400);
      const slow: EventStore = Object.create(log.store, {
        subscribe: {
          value: async function* (options: Parameters<EventStore['subscribe']>[0]) {
            let batches = 0;
            for await (const batch of log.store.subscribe({ ...options, batchSize: 100 })) {
              yield batch;
              // The build waits here until the test tells it to stop.
              if (++batches === 5) return await aborted(options.signal);
            }
          },
        },
      }) as EventStore;
      const projector = start([parcels], slow);
      const share = (): number => projector.status()[0]?.builtShare ?? 0;
      await until('it is on its way', async () => {
        const { building } = await store.generations(parcels);
        return building !== null && (await store.sizes(parcels)).building > 0 && share() > 0;
      });
      expect(share()).toBeLessThan(1);
      await stop(projector);
      const { building } = await store.generations(parcels);
      start([parcels]);
      await caughtUp(parcels);
      expect((await store.generations(parcels)).live).toBe(building);
      expect(told.builds).toEqual([['parcels', 'first']]);
    });

    it('yields to the event loop after at most 50 events, even if the log never pauses', async () => {
      await appendParcels(100);
      const all = await log.store.readAll(null, Infinity);
      const atOnce: EventStore = Object.create(log.store, {
        subscribe: {
          value: async function* ({ after, batchSize = all.length, signal }: Parameters<EventStore['subscribe']>[0]) {
            const left = all.filter(({ position }) => position > (after ?? ''));
            while (left.length > 0) {
              const events = left.splice(0, batchSize);
              yield { events, through: events.at(-1)?.position ?? null, caughtUp: left.length === 0 };
            }
            await aborted(signal);
          },
        },
      }) as EventStore;
      const folded: number[] = [0];
      let clock: NodeJS.Immediate;
      const turn = (): void => {
        folded.push(0);
        clock = setImmediate(turn);
      };
      clock = setImmediate(turn);
      const counting: typeof parcels = {
        ...parcels,
        evolve(doc, each) {
          folded.push((folded.pop() ?? 0) + 1);
          return parcels.evolve(doc, each);
        },
      };
      start([counting], atOnce);
      await until('it is built', () => told.reports.length === 1);
      clearImmediate(clock);
      expect(Math.max(...folded)).toBe(50);
      await caughtUp(parcels);
    });

    it('writes one projection at a time, so that readers of Redis wait for one step only', async () => {
      await appendParcels(300);
      let writing = 0;
      let most = 0;
      class Counted extends RedisProjectionStore {
        override async commit(...args: Parameters<RedisProjectionStore['commit']>): Promise<CommitFault | null> {
          most = Math.max(most, ++writing);
          return super.commit(...args).finally(() => (writing -= 1));
        }
      }
      start([parcels, weights], log.store, QUICK, new Counted(server.client()));
      await until('both are built', () => told.reports.length === 2);
      expect(most).toBe(1);
    });

    it('reads the log once, and promotes a projection without events together with the others', async () => {
      await appendParcels(100);
      const promotedAt: (string | null | undefined)[] = [];
      class Watched extends RedisProjectionStore {
        override async promote(
          ...args: Parameters<RedisProjectionStore['promote']>
        ): ReturnType<RedisProjectionStore['promote']> {
          const [projection, , , { generation }] = args;
          const checkpoint = await this.checkpoint(projection, generation);
          const outcome = await super.promote(...args);
          if (outcome === 'promoted') promotedAt.push(checkpoint?.position);
          return outcome;
        }
      }
      const without: AnyProjection = { ...weights, name: 'without', category: 'without' };
      // The interval is longer than the build. Only commits can therefore move the checkpoint of the projection without events.
      const rarely = { ...QUICK, leaseMs: 60_000, intervalMs: 20_000 };
      start([parcels, weights, without], log.store, rarely, new Watched(server.client()));
      await until('all are built', () => told.reports.length === 3);
      const head = await log.store.head();
      expect(promotedAt).toEqual([head, head, head]);
    });

    it('finishes the current batch when it is stopped, saves its checkpoint and releases its lease', async () => {
      await appendParcels(100);
      let folded = 0;
      const stops: Promise<void>[] = [];
      const counting: typeof parcels = {
        ...parcels,
        evolve(doc, each) {
          folded += 1;
          if (stops.length === 0) stops.push(stop(projector));
          return parcels.evolve(doc, each);
        },
      };
      const projector: Projector = start([counting]);
      await until('it is told to stop', () => stops.length === 1);
      await stops[0];
      expect(folded).toBe(50);
      const { building } = await store.generations(parcels);
      const [checkpoint, first] = [await store.checkpoint(parcels, building ?? 0), await log.store.readAll(null, 50)];
      expect(checkpoint?.position).toBe(first.at(-1)?.position);
      expect(await holder()).toBeUndefined();
    });

    it('of a new version leaves the old version to the processes that read it', async () => {
      await appendParcels(50);
      start([parcels]);
      await caughtUp(parcels);
      const newer: typeof parcels = {
        ...parcels,
        version: 2,
        evolve: (doc, each) => ({ ...parcels.evolve(doc, each), account: 'renamed' }),
      };
      start([newer]);
      await caughtUp(newer);
      await appendParcels(5);
      await caughtUp(parcels, newer);
      const models = new RedisReadModels(server.client(), log.store, [newer], new Failures(), KEPT_MS);
      expect((await models.list(newer, 'account=renamed', { limit: 0 })).total).toBe(55);
    });

    it('of a new version lets the old version expire even if its process dies after the promotion', async () => {
      await redis.set('{parcels:v1}:live:lines', 'old');
      const dying = new RedisProjectionStore(server.client());
      const promote = dying.promote.bind(dying);
      dying.promote = async (...args) => {
        expect(await promote(...args)).toBe('promoted');
        throw new Error('killed');
      };
      const newer: typeof parcels = { ...parcels, version: 2 };
      start([newer], log.store, QUICK, dying);
      await until('it is promoted', async () => (await store.generations(newer)).live !== null);
      expect(await redis.ttl('{parcels:v1}:live:lines')).toBeGreaterThan(0);
    });
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
