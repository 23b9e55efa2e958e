// Read models that are built anew in a process of their own, with the one that a service starts.
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LOG_FILE } from '../../src/adapters/event-store/embedded-log.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import { accountProjection } from '../../src/modules/accounts/read/accounts.js';
import { screeningStatus } from '../../src/modules/screening/read/screening-status.js';
import { deliveryLog } from '../../src/modules/webhooks/read/deliveries.js';
import { Projector } from '../../src/platform/subscriptions/projector.js';
import { beginRebuilds } from '../../src/platform/subscriptions/projector.module.js';
import { RebuildProcess } from '../../src/platform/subscriptions/rebuild-process.js';
import type { AnyProjection } from '../../src/ports/projection-store.js';
import { until } from '../support/eventually.js';
import { appendScreenings } from '../support/long-log.js';
import { RedisServer } from '../support/redis.js';
import { event, expectedDocuments, Log, QUICK, storedDocuments, Told } from './fixtures.js';

const PROJECTIONS = [screeningStatus, deliveryLog];
const PROGRAM = join(import.meta.dirname, '../../dist/src/rebuild-process.js');
/** More than is read beside the requests. */
const LONG = 6_000;
const KEPT_MS = 2 * 3_600_000;
/** As processes tell each other that they serve some. */
const REQUESTS = 'requests-recent';
const UNKNOWN = `${deliveryLog.category}-unknown`;

describe('a long log whose read models are gone', () => {
  let server: RedisServer;
  let log: Log;
  let told: Told;
  let processes: ChildProcess[];
  let running: Projector[];

  beforeAll(async () => {
    server = await RedisServer.start();
  });

  beforeEach(async () => {
    await server.flush();
    log = await Log.open();
    told = new Told();
    processes = [];
    running = [];
  });

  afterEach(async () => {
    await Promise.all(running.map((projector) => projector.stop()));
    await log.close();
  });

  afterAll(async () => {
    await server.stop();
  });

  function start(
    begin = aProcess,
    projections: readonly AnyProjection[] = PROJECTIONS,
    store = new RedisProjectionStore(server.client(), KEPT_MS),
  ): Projector {
    const projector = new Projector(log.store, store, projections, told, {
      ...QUICK,
      leaseMs: 6_000,
      intervalMs: 2_000,
      elsewhere: (token, listener, observer) => new RebuildProcess(() => begin(token), listener, observer),
    });
    running.push(projector);
    projector.start();
    return projector;
  }

  function aProcess(token: string, dataFolder = log.dataFolder): ChildProcess {
    const begun = beginRebuilds(
      {
        eventStore: { place: { kind: 'embedded', maxBytes: 2 ** 30, testShare: 1, uncompressedEvents: 65_536 } },
        folder: { path: dataFolder, diskLowBytes: 0, quarantined: false },
        redis: { url: server.url, documentsKeptForMs: KEPT_MS },
        process: { role: 'all' },
        token,
      },
      PROGRAM,
    );
    processes.push(begun);
    return begun;
  }

  async function built(): Promise<void> {
    await until('all is built', () => told.reports.length === PROJECTIONS.length);
    const redis = server.client();
    for (const projection of PROJECTIONS)
      expect(await storedDocuments(redis, projection)).toEqual(await expectedDocuments(log.store, projection));
  }

  it('is read by a process that ends when all is built, and then followed without it', async () => {
    await appendScreenings(log.store, LONG);
    const projector = start();
    await built();
    expect(processes).toHaveLength(1);
    await until('the process has ended', () => processes[0]?.exitCode === 0);
    expect(told.drops).toEqual([]);

    await appendScreenings(log.store, 10);
    const documents = (LONG + 10) / 10;
    const redis = server.client();
    await until('the new ones are there', async () => (await storedDocuments(redis, deliveryLog)).size === documents);
    expect(projector.status().map(({ state }) => state)).toEqual(['live', 'live']);
    expect(processes).toHaveLength(1);
  });

  it('is read on by another process when the first one died', async () => {
    await appendScreenings(log.store, LONG);
    start();
    await until('a process has begun', () => processes.length === 1);
    processes[0]?.kill('SIGKILL');
    await built();
    expect(processes).toHaveLength(2);
    expect(told.drops).toHaveLength(1);
  });

  it('is read once: what has no events of its own takes over where the others do', async () => {
    await appendScreenings(log.store, LONG);
    const promotedAt: (string | null)[] = [];
    class Watched extends RedisProjectionStore {
      override async promote(
        ...args: Parameters<RedisProjectionStore['promote']>
      ): ReturnType<RedisProjectionStore['promote']> {
        const [projection, , , { generation }] = args;
        const position = (await this.checkpoint(projection, generation))?.position ?? null;
        const outcome = await super.promote(...args);
        if (outcome === 'promoted') promotedAt.push(position);
        return outcome;
      }
    }
    const projections = [...PROJECTIONS, accountProjection];
    start(aProcess, projections, new Watched(server.client(), KEPT_MS));
    await until('all is built', () => told.reports.length === projections.length);
    const head = await log.store.head();
    expect(promotedAt).toEqual([head, head, head]);
  });

  it('is read by the first process that can be started; until then it counts as behind', async () => {
    await appendScreenings(log.store, LONG);
    let refused = 0;
    const projector = start((token) => {
      if (refused++ < 2) throw new Error('No more processes');
      return aProcess(token);
    });
    await until('it was tried again', () => refused > 1);
    const lags = projector.status().map(({ lagMs }) => lagMs);
    expect(Math.min(...lags)).toBeGreaterThan(0);
    await built();
    expect([processes.length, told.drops.length]).toEqual([1, 2]);
  });

  it('tells why a process could not begin', async () => {
    await appendScreenings(log.store, LONG);
    const noFolder = join(log.dataFolder, 'events', LOG_FILE);
    start((token) => aProcess(token, processes.length === 0 ? noFolder : log.dataFolder));
    await built();
    expect(processes.map(({ signalCode }) => signalCode)).toEqual(['SIGKILL', null]);
    expect(told.drops.map((error) => (error as Error).message)).toEqual([
      expect.stringContaining('ENOTDIR'),
      'The process that builds read models ended by itself (SIGKILL)',
    ]);
  });

  it('leaves no process behind when the service stops in the middle', async () => {
    await appendScreenings(log.store, LONG);
    const projector = start();
    await until('a process has begun', () => processes.length === 1);
    await projector.stop();
    expect(processes.map(({ exitCode }) => exitCode)).toEqual([0]);
    expect(await server.client().keys('*:lease')).toEqual([]);
  });

  it('stops the projection that cannot read an event, and builds the others', async () => {
    await appendScreenings(log.store, LONG);
    await log.store.append(UNKNOWN, 'no-stream', [event('DeliveryDreamtOf')]);
    start();
    await until('an alarm', () => told.alarms.length > 0);
    const [[projection, error] = []] = told.alarms;
    expect([projection, error?.message]).toEqual([
      deliveryLog.name,
      `${deliveryLog.name} cannot read DeliveryDreamtOf, revision 0 of ${UNKNOWN}`,
    ]);
    await until('the other is built', () => told.reports.length === 1);
    expect(told.reports[0]?.projection).toBe(screeningStatus.name);
  });

  it('is built by a process of lower priority that goes on after an interrupt, which all get that a terminal runs', async () => {
    await appendScreenings(log.store, LONG);
    start();
    await until('a process has begun', () => processes.length === 1);
    const [begun] = processes;
    if (begun) await once(begun, 'message');
    expect(getPriority(begun?.pid)).toBeGreaterThan(getPriority());
    begun?.kill('SIGINT');
    await built();
    expect([processes.length, told.drops]).toEqual([1, []]);
  });

  it('is built by a process that looks whether requests come, and goes on while they do', async () => {
    await appendScreenings(log.store, LONG);
    const redis = server.client();
    // As if they never stopped.
    await redis.set(REQUESTS, '');
    const asked: string[] = [];
    const monitor = await redis.monitor();
    monitor.on('monitor', (_time, args: string[]) => asked.push(args.slice(0, 2).join(' ')));
    start();
    await built();
    monitor.disconnect();
    expect(asked).toContain(`exists ${REQUESTS}`);
  });

  it('has a process that dies with the service', async () => {
    const alone = aProcess('nobody');
    const exited = once(alone, 'exit');
    alone.disconnect();
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  it('gives nothing up when none can be started just now', async () => {
    await appendScreenings(log.store, LONG);
    start((token) => {
      if (processes.length > 0) return aProcess(token);
      // Where the system has no descriptor left, this is what is given back.
      const never = Object.assign(new EventEmitter(), { connected: false }) as ChildProcess;
      process.nextTick(() => never.emit('error', new Error('EMFILE')));
      processes.push(never);
      return never;
    });
    await built();
    expect(processes).toHaveLength(2);
  });

  it('needs no process when it is short', async () => {
    await appendScreenings(log.store, 100);
    start();
    await built();
    expect(processes).toEqual([]);
  });
});
