// (d) Rebuilds all projections from the log and verifies the log. The benchmark also shows the effect of a rebuild on
// requests. EVENTS sets the length of the log.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { entriesOf, keysOf, lineText } from '../../src/adapters/read-models/redis-keys.js';
import { RedisProjectionStore } from '../../src/adapters/read-models/redis-projection-store.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import { foldState } from '../../src/kernel/projection.js';
import { delivery } from '../../src/modules/webhooks/domain/delivery.js';
import { deliveryLog } from '../../src/modules/webhooks/read/delivery-log.js';
import type { DocumentWrite } from '../../src/ports/projection-store.js';
import { PROJECTIONS } from '../support/declarations.js';
import { until } from '../support/eventually.js';
import { appendScreenings } from '../support/long-log.js';
import { RedisServer } from '../support/redis.js';
import { ALONE, Service } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { idle } from './comparison.js';
import { anEvent } from './event-store.js';
import { anonymousBytesOf, cpuMsOf, median, medians, paced, quantile, tell } from './measure.js';
import { submitted } from './operations.js';

const EVENTS = Number(process.env['EVENTS'] ?? 200_000);
const STATUS_A_SECOND = 200;
const WARM_UP_MS = 3_000;
const UNDISTURBED_MS = 10_000;
const REBUILT_WITHIN_MS = 600_000;
/** The number of documents that a commit writes in one step. */
const COMMITTED = 50;

export async function benchRebuild(): Promise<void> {
  const service = await Service.start(
    { LOG_LEVEL: 'warn' },
    {
      alone: ALONE,
      stored: { data: (folder) => withLog(join(folder, 'events'), (log) => appendScreenings(log, EVENTS)) },
    },
  );
  try {
    await benchInService(service);
    await benchVerify(join(service.dataDir, 'events'));
  } finally {
    await service.stop();
  }
  await benchCommit();
}

async function withLog(directory: string, use: (log: EmbeddedEventStore) => Promise<void>): Promise<void> {
  const log = EmbeddedEventStore.open({ directory });
  await use(log).finally(() => log.close());
}

/** Rebuilds all read models at once, first without requests and then with many status requests. */
async function benchInService(service: Service): Promise<void> {
  const store = new RedisProjectionStore(service.redis.client());
  const { headers } = await service.signIn('nopay');
  const caller: Caller = {
    pool: new Pool(service.baseUrl, { connections: 16 }),
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const path = `/screening/${await submitted(caller)}/status`;
  const asked = (during: Promise<unknown>): Promise<number[]> =>
    paced(STATUS_A_SECOND, during, async () => void (await call(caller, 'GET', path)));
  await idle([service.program.pid ?? 0]);
  await asked(pause(WARM_UP_MS));

  const ratesWhileAsked: number[] = [];
  const measured = await medians(3, {
    quiet: async () => quantile(await asked(pause(UNDISTURBED_MS)), 0.99),
    rebuild: () => rebuilt(store),
    disturbed: async () => {
      const rebuilding = rebuilt(store);
      const times = await asked(rebuilding);
      ratesWhileAsked.push(await rebuilding);
      return quantile(times, 0.99);
    },
  });
  const pids = [service.program.pid ?? 0, service.redis.pid ?? 0] as const;
  const used = async (): Promise<number[]> => [await cpuMsOf(pids[0]), await cpuMsOf(pids[1])];
  await idle(pids);
  const before = await used();
  await rebuilt(store);
  await idle(pids);
  const [ours = 0, redis = 0] = (await used()).map((ms, n) => ms - (before[n] ?? 0));
  const size = EVENTS.toLocaleString('en-US');
  tell(`(d) rebuild of all read models from ${size} events`, measured.rebuild, 'events/s');
  tell('(d) processor time of it, service', (ours * 1_000) / EVENTS, 'us an event');
  tell('(d) processor time of it, Redis', (redis * 1_000) / EVENTS, 'us an event');
  tell(`(d) p99 of ${STATUS_A_SECOND} status reads a second`, measured.quiet, 'ms');
  tell('(d) the same during a rebuild', measured.disturbed, 'ms');
  tell('(d) rebuild meanwhile', median(ratesWhileAsked), 'events/s');
  tell('(d) what a rebuild adds to it', measured.disturbed - measured.quiet, 'ms', { below: 8 });
}

/** Events a second, from the request for a rebuild until all rebuilt read models are live. */
async function rebuilt(store: RedisProjectionStore): Promise<number> {
  const [request, startedAt] = [newId(), performance.now()];
  for (const projection of PROJECTIONS) await store.requestRebuild(projection, request);
  for (const projection of PROJECTIONS)
    await until(
      `${projection.name} is built`,
      async () => (await store.lastReport(projection))?.request === request,
      REBUILT_WITHIN_MS,
    );
  return (EVENTS / (performance.now() - startedAt)) * 1_000;
}

async function benchVerify(directory: string): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'verifying.js'), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peak = 0;
  const sampling = setInterval(
    () => void anonymousBytesOf(child.pid ?? 0).then((now) => (peak = Math.max(peak, now))),
    50,
  );
  const { ms, cpuMs } = JSON.parse(await text(child.stdout)) as { readonly ms: number; readonly cpuMs: number };
  clearInterval(sampling);
  tell('(d) audit verify, without the vault', (EVENTS / ms) * 1_000, 'events/s', { atLeast: 100_000 });
  tell('(d) processor time of it', (cpuMs * 1_000) / EVENTS, 'us an event');
  if (peak > 0) tell('(d) audit verify, most anonymous memory', peak / 2 ** 20, 'MiB');
}

/**
 * The cost of lists: the time for which the largest step of a commit delays a reader, and the size of its index
 * entries.
 */
async function benchCommit(): Promise<void> {
  const server = await RedisServer.start();
  try {
    const redis = server.client();
    const store = new RedisProjectionStore(redis);
    await store.lease(deliveryLog, 'bench', 600_000);
    await store.beginGeneration(deliveryLog, 'bench', 1, false);
    const { lines, entries } = keysOf(deliveryLog).building;
    let position: string | null = null;
    const commit = async (): Promise<number> => {
      const writes = Array.from({ length: COMMITTED }, aDelivery);
      const next = newId();
      const startedAt = performance.now();
      await store.commit(deliveryLog, 'bench', 1, { expected: position, next, log: null, writes });
      position = next;
      return performance.now() - startedAt;
    };
    const reads = async (): Promise<number> => {
      const [known = ''] = (await redis.hrandfield(lines, 1)) as string[];
      const startedAt = performance.now();
      for (let read = 0; read < COMMITTED; read++) await redis.hget(lines, known);
      return performance.now() - startedAt;
    };
    const { commits, readings } = await medians(9, { commits: commit, readings: reads });
    const size = COMMITTED.toLocaleString('en-US');
    tell(`(d) a commit of ${size} deliveries, against ${size} reads one by one`, commits / readings, 'times as long');
    const { replaced } = entriesOf(deliveryLog, aDelivery(), Date.now());
    const count = replaced.length;
    const bytes = Number(await redis.memory('USAGE', entries, 'SAMPLES', 0)) / (await redis.zcard(entries));
    tell(`(d) an index entry of a delivery, of ${count}, in the sorted set`, bytes, 'bytes');
    tell('(d) an index entry of a delivery, in its line', lineText(0, replaced).length / count, 'bytes');
  } finally {
    await server.stop();
  }
}

function aDelivery(): DocumentWrite {
  const id = newId();
  const event = {
    ...anEvent('DeliveryScheduled'),
    data: { ...SCHEDULED, endpointId: newId() },
    stream: `${delivery.category}-${id}`,
    revision: 0,
  };
  return {
    id,
    revision: 0,
    state: foldState(deliveryLog, [event as unknown as RecordedEvent]),
    occurredAt: SCHEDULED.occurredAt,
  };
}

const SCHEDULED = {
  eventId: `evt_${newId()}`,
  eventType: 'report.shared',
  occurredAt: '2026-01-31T12:00:00.000Z',
  body: '',
  kind: 'event',
  nextAttemptAt: '2026-01-31T12:00:00.000Z',
};
