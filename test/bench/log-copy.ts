// (l) Copies a log of many screenings to each kind of store. The benchmark uses one append after another, and then many
// appends in flight.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { EventStoreDbEventStore } from '../../src/adapters/event-store/eventstoredb.js';
import { type CopyCheckpoint, type CopyOptions, copyLog } from '../../src/platform/audit/copy-log.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { EventStoreDbDouble } from '../support/eventstoredb-double/server.js';
import { appendScreenings } from '../support/long-log.js';
import { medians, tell } from './measure.js';

const EVENTS = Number(process.env['EVENTS'] ?? 10_000);
const ROUNDS = 3;
/**
 * The time of one append at a server. EventStoreDB 24.10 on loopback stored 165 to 200 events a second, one after
 * another.
 */
const DURABLE_AFTER_MS = 5;

export async function benchLogCopy(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-copy-'));
  const source = EmbeddedEventStore.open({ directory: join(folder, 'source') });
  try {
    await appendScreenings(source, EVENTS);
    for (const [kind, latencyMs] of [
      ['the double of EventStoreDB', 0],
      [`the double, ${DURABLE_AFTER_MS} ms an append`, DURABLE_AFTER_MS],
    ] as const) {
      const toDouble = (ordered: boolean) => async (): Promise<number> => {
        const double = await EventStoreDbDouble.start();
        if (latencyMs > 0) double.faults.plan(...answersAfter(latencyMs, ordered));
        const target = EventStoreDbEventStore.connect({ connectionString: double.connectionString });
        const append: CopyOptions = ordered ? { append: (appends) => target.appendInOrder(appends) } : {};
        try {
          return await copied(source, target, append);
        } finally {
          await target.close();
          await double.stop();
        }
      };
      await compare(kind, toDouble(false), toDouble(true));
    }
    let copies = 0;
    const toEmbedded = (ordered: boolean) => async (): Promise<number> => {
      const target = EmbeddedEventStore.open({ directory: join(folder, `copy-${copies++}`) });
      // Appends of one process are stored in the order in which they begin.
      const append: CopyOptions['append'] = async (appends) =>
        void (await Promise.all(appends.map((one) => target.append(one.stream, one.expected, one.events))));
      try {
        return await copied(source, target, ordered ? { append } : {});
      } finally {
        await target.close();
      }
    };
    await compare('a second embedded store', toEmbedded(false), toEmbedded(true));
    await benchNextRun(source);
  } finally {
    await source.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(kind: string, oneByOne: () => Promise<number>, inFlight: () => Promise<number>): Promise<void> {
  const rates = await medians(ROUNDS, { oneByOne, inFlight });
  tell(`(l) copy to ${kind}, one append after another`, rates.oneByOne, 'events/s');
  tell(`(l) copy to ${kind}, many in flight`, rates.inFlight, 'events/s');
  tell(`(l) copy to ${kind}, ratio`, rates.inFlight / rates.oneByOne, 'times');
}

/** Returns the number of events a second. */
async function copied(source: EventStore, target: EventStore, options: CopyOptions): Promise<number> {
  const startedAt = performance.now();
  const { events, difference } = await copyLog(source, target, () => undefined, options);
  if (difference !== null) throw new Error('The copy differs');
  return (events / (performance.now() - startedAt)) * 1_000;
}

/**
 * The milliseconds of a run that finds no new event, from the beginning of the log and from the end of the previous
 * run.
 */
async function benchNextRun(source: EventStore): Promise<void> {
  const double = await EventStoreDbDouble.start();
  const target = EventStoreDbEventStore.connect({ connectionString: double.connectionString });
  const append: CopyOptions['append'] = (appends) => target.appendInOrder(appends);
  let end: CopyCheckpoint | null = null;
  await copyLog(source, target, () => undefined, { append, onCompared: async (at) => void (end = at) });
  const run = (checkpoint: CopyCheckpoint | null) => async (): Promise<number> => {
    const startedAt = performance.now();
    const { appended } = await copyLog(source, target, () => undefined, { append, checkpoint });
    if (appended > 0) throw new Error('There was something new');
    return performance.now() - startedAt;
  };
  const { all, fresh } = await medians(ROUNDS, { all: run(null), fresh: run(end) });
  tell(`(l) next run over ${EVENTS} events, nothing new, from the beginning`, all, 'ms');
  tell(`(l) next run over ${EVENTS} events, nothing new, from its checkpoint`, fresh, 'ms');
  await target.close();
  await double.stop();
}

function answersAfter(ms: number, ordered: boolean): Parameters<EventStoreDbDouble['faults']['plan']> {
  const late = {
    kind: 'delay' as const,
    get until() {
      return pause(ms);
    },
  };
  return [ordered ? 'batch-append' : 'append', ...new Array<typeof late>(EVENTS * 2).fill(late)];
}
