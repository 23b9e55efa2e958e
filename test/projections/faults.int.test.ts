// The projector, when processes that write the read models are killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import type { AnyProjection } from '../../src/ports/projection-store.js';
import { until } from '../support/eventually.js';
import { RedisServer } from '../support/redis.js';
import { appendParcels as appendParcelsTo, caughtUp as hasCaughtUp } from './catching-up.js';
import { Log, parcels, QUICK, rebuild, Recorder, weights } from './fixtures.js';

describe('the projector', () => {
  let server: RedisServer;
  let redis: Redis;
  let log: Log;
  let store: RedisProjectionStore;
  let projector: Projector | null = null;
  const children: ChildProcess[] = [];

  function start(): Projector {
    projector = new Projector(
      log.store,
      new RedisProjectionStore(server.client()),
      [parcels, weights],
      new Recorder(),
      QUICK,
    );
    projector.start();
    return projector;
  }

  function startProcess(holder: string): ChildProcess {
    const root = join(import.meta.dirname, '../..');
    const child = spawn(
      process.execPath,
      [
        '--import',
        join(root, 'test/support/typescript.js'),
        join(root, 'test/projections/projector-process.ts'),
        log.folder,
        server.url,
        holder,
      ],
      { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } },
    );
    children.push(child);
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  async function holder(projection: AnyProjection = parcels): Promise<string | undefined> {
    return (await redis.get(`{${projection.name}:v1}:lease`)) ?? undefined;
  }

  const caughtUp = (): Promise<void> => hasCaughtUp(log.store, redis, parcels, weights);
  const appendParcels = (count: number): Promise<string[]> => appendParcelsTo(log.store, count);

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });

  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    store = new RedisProjectionStore(server.client());
  });

  afterEach(async () => {
    for (const child of children.splice(0)) if (child.exitCode === null && child.signalCode === null) await kill(child);
    await projector?.stop();
    await log.close();
  });

  afterAll(() => server.stop());

  describe('with several processes', () => {
    it('has one writer at a time, and soon gets another one when the writer is killed', async () => {
      await appendParcels(20);
      startProcess('one');
      await until(
        'the first holds the leases',
        async () => (await holder()) === 'one' && (await holder(weights)) === 'one',
      );
      await caughtUp();
      const second = start();
      expect(second.status().map(({ state }) => state)).toEqual(['standby', 'standby']);
      const { live } = await store.generations(parcels);
      await kill(children[0]!);
      await appendParcels(5);
      await caughtUp();
      expect(second.status().map(({ state }) => state)).toEqual(['live', 'live']);
      expect((await store.generations(parcels)).live).toBe(live);
    });

    it('loses and repeats nothing when writers are killed repeatedly during their work', async () => {
      let appending = true;
      const writing = (async (): Promise<void> => {
        while (appending) await appendParcels(40);
      })();
      for (let round = 0; round < 4; round++) {
        const { length } = await log.store.readAll(null, Infinity);
        const child = startProcess(`process-${round}`);
        await until('it holds the lease', async () => (await holder()) === `process-${round}`);
        await until('it has written something', async () => {
          const { live, building } = await store.generations(parcels);
          const generation = live ?? building;
          const { live: served, building: built } = await store.sizes(parcels);
          return generation !== null && Math.max(served, built) > length / 10;
        });
        await kill(child);
      }
      appending = false;
      await writing;
      start();
      await caughtUp();
      const reports = await rebuild(log.store, store, [parcels, weights]);
      expect(reports.map(({ differences }) => differences)).toEqual([[], []]);
    });
  });
});
