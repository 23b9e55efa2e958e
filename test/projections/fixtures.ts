// A small domain for the tests of the projection engine, and shared helpers.
import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { entriesOf, ProjectionKeys, readLine } from '../../src/adapters/read-models/redis-keys.js';
import type { ReadModelsObserver } from '../../src/adapters/read-models/redis.js';
import { categoryOf, idOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { listsBy, type Projection } from '../../src/kernel/projection.js';
import { CompleteLists } from '../../src/platform/subscriptions/complete-lists.js';
import type { ProjectionFailed } from '../../src/platform/subscriptions/generation-writer.js';
import {
  Projector,
  type ProjectorObserver,
  type ProjectorOptions,
} from '../../src/platform/subscriptions/projector.js';
import type { EventStore, NewEvent } from '../../src/ports/event-store.js';
import type { AnyProjection, DocumentWrite, ProjectionStore, RebuildReport } from '../../src/ports/projection-store.js';
import type { ReadModels, View } from '../../src/ports/read-models.js';
import { until } from '../support/eventually.js';

/** A parcel that an account opens. It can be stamped any number of times, and is due until it is delivered. */
export interface Parcel {
  readonly account: string;
  readonly stamps: number;
  readonly dueAt: string | null;
}

export const parcels: Projection<Parcel> = {
  name: 'parcels',
  version: 1,
  category: 'parcel',
  evolve(doc, event) {
    const data = event.data as { readonly account?: string; readonly dueAt?: string };
    switch (event.type) {
      case 'ParcelOpened':
        return { account: data.account ?? '', stamps: 0, dueAt: data.dueAt ?? null };
      case 'ParcelStamped':
        if (doc === null) throw new Error('stamped before it was opened');
        return { ...doc, stamps: doc.stamps + 1 };
      case 'ParcelDelivered':
        if (doc === null) throw new Error('delivered before it was opened');
        return { ...doc, dueAt: null };
      default:
        throw new Error(`parcels does not know ${event.type}`);
    }
  },
  view: (parcel) => parcel,
  entries: ({ account, dueAt }) =>
    listsBy({ account }, { status: dueAt === null ? 'delivered' : 'open' }).map((list) => ({ list })),
  dueAt: (doc) => doc.dueAt,
};

/** Counts the events of the same streams. It is a second projection of one category. */
export const weights: Projection<{ readonly events: number }> = {
  name: 'weights',
  version: 1,
  category: 'parcel',
  evolve: (doc) => ({ events: (doc?.events ?? 0) + 1 }),
  view: (doc) => doc,
  entries: ({ events }) => [{ list: 'all', sort: String(events).padStart(9, '0') }],
};

export function event(type: string, data: JsonObject = {}): NewEvent {
  return {
    id: newId(),
    type,
    data,
    metadata: {
      schemaVersion: 1,
      accountId: null,
      environment: 'test',
      occurredAt: '2024-05-06T07:08:09.123Z',
      $correlationId: newId(),
      $causationId: newId(),
      actor: { kind: 'system', id: 'test' },
      chain: { alg: 'sha-256', prev: '0'.repeat(64), hash: 'f'.repeat(64) },
    },
  };
}

export const opened = (account: string, dueAt?: string): NewEvent =>
  event('ParcelOpened', dueAt === undefined ? { account } : { account, dueAt });
export const stamped = (): NewEvent => event('ParcelStamped');
export const delivered = (): NewEvent => event('ParcelDelivered');

/** Appends to a parcel's stream and returns the whole history of the stream, like a command handler. */
export async function append(store: EventStore, id: string, ...events: readonly NewEvent[]): Promise<RecordedEvent[]> {
  const stream = `parcel-${id}`;
  const before = await store.readStream(stream);
  const outcome = await store.append(stream, before.at(-1)?.revision ?? 'no-stream', events);
  if (outcome.outcome !== 'appended') throw new Error(`conflict in ${stream}`);
  return store.readStream(stream);
}

/** A parcel as a list contains it, by default in the list of account a. Null if it is not listed. */
export async function listed(models: ReadModels, id: string, list = 'account=a'): Promise<View<Parcel> | null> {
  const { items } = await models.list(parcels, list, { limit: 1_000 });
  return items.find((item) => item.id === id) ?? null;
}

export class Failures implements ReadModelsObserver {
  readonly applies: unknown[] = [];

  applyFailed(_projection: string, _stream: string, error: unknown): void {
    this.applies.push(error);
  }
}

/** An embedded event store in its own folder. */
export class Log {
  private constructor(
    readonly store: EventStore,
    /** The folder that `DATA_DIR` would name. */
    readonly dataFolder: string,
  ) {}

  static async open(): Promise<Log> {
    const dataFolder = await mkdtemp(join(tmpdir(), 'log-'));
    return new Log(EmbeddedEventStore.open({ directory: join(dataFolder, 'events') }), dataFolder);
  }

  get folder(): string {
    return join(this.dataFolder, 'events');
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.dataFolder, { recursive: true, force: true });
  }
}

/** Records all reports of a projector. */
export class Recorder implements ProjectorObserver {
  readonly drops: unknown[] = [];
  readonly alarms: [projection: string, error: ProjectionFailed][] = [];
  readonly foreigners: string[] = [];
  readonly builds: [projection: string, why: string][] = [];
  readonly reports: RebuildReport[] = [];
  readonly leaseFailures: unknown[] = [];
  readonly lags: number[] = [];

  dropped(_subscription: string, error: unknown): void {
    this.drops.push(error);
  }

  lag(_subscription: string, lagMs: number): void {
    this.lags.push(lagMs);
  }

  foreign(handler: string): void {
    this.foreigners.push(handler);
  }

  stopped(projection: string, error: ProjectionFailed): void {
    this.alarms.push([projection, error]);
  }

  buildStarted(projection: string, _generation: number, why: string): void {
    this.builds.push([projection, why]);
  }

  rebuilt(report: RebuildReport): void {
    this.reports.push(report);
  }

  leasesFailed(error: unknown): void {
    this.leaseFailures.push(error);
  }
}

/** The time is short for a test, and long enough for a busy machine. */
export const QUICK: ProjectorOptions = {
  leaseMs: 600,
  intervalMs: 50,
  minDelayMs: 10,
  maxDelayMs: 50,
  watchIntervalMs: 20,
};

/**
 * Requests a rebuild of projections from the holders of the leases, and returns the reports in order. Fails if a
 * projection cannot read an event.
 */
export async function rebuild(
  events: EventStore,
  store: ProjectionStore,
  projections: readonly AnyProjection[],
): Promise<RebuildReport[]> {
  const request = newId();
  const told = new Recorder();
  const projector = new Projector(events, store, projections, told, QUICK);
  for (const projection of projections) await store.requestRebuild(projection, request);
  projector.start();
  try {
    const reports: RebuildReport[] = [];
    for (const projection of projections)
      await until('it is rebuilt', async () => {
        if (told.alarms[0] !== undefined) throw told.alarms[0][1];
        const report = await store.lastReport(projection);
        if (report?.request !== request) return false;
        reports.push(report);
        return true;
      });
    return reports;
  } finally {
    await projector.stop();
  }
}

/** A summary of the live generation. Null while no generation is live. */
export async function liveContents(
  redis: Redis,
  projection: AnyProjection,
): Promise<{
  readonly documents: number;
  readonly entries: number;
  readonly due: number;
  readonly digest: string;
} | null> {
  const { live } = new ProjectionKeys(projection);
  const { state, lines, entries } = live;
  if ((await redis.exists(state)) === 0) return null;
  const [stored, listed] = await Promise.all([redis.hgetall(lines), redis.zrange(entries, '0', '-1')]);
  return {
    documents: Object.keys(stored).length,
    entries: listed.length,
    due: listed.filter((entry) => entry.startsWith('due ')).length,
    digest: hash('sha256', JSON.stringify([Object.entries(stored).sort(), listed])),
  };
}

/** A listed document: its revision, and its index entries. */
export interface Line {
  readonly revision: number;
  readonly entries: readonly string[];
}

/** The stored lines that the log implies, computed without the projection engine. */
export async function expectedLines(
  store: EventStore,
  projection: AnyProjection,
  now = Date.now(),
): Promise<Map<string, Line>> {
  const states = new Map<string, DocumentWrite>();
  for (const recorded of await store.readAll(null, Infinity)) {
    const { stream, revision, metadata } = recorded;
    if (categoryOf(stream) !== projection.category) continue;
    const id = idOf(stream);
    const state = projection.evolve(states.get(id)?.state ?? null, recorded);
    states.set(id, { id, revision, state, occurredAt: metadata.occurredAt });
  }
  return new Map(
    [...states].flatMap(([id, write]) => {
      const { replaced: entries } = entriesOf(projection, write, now);
      return entries.length === 0 ? [] : [[id, { revision: write.revision, entries }] as const];
    }),
  );
}

/** Every stored line of the live generation. */
export async function storedLines(redis: Redis, projection: AnyProjection): Promise<Map<string, Line>> {
  const stored = await redis.hgetall(new ProjectionKeys(projection).live.lines);
  return new Map(Object.entries(stored).map(([id, line]) => [id, readLine(line)]));
}

/** Runs a projector until it has caught up with the log. */
export async function project(
  events: EventStore,
  store: ProjectionStore,
  projections: readonly AnyProjection[],
): Promise<void> {
  const projector = new Projector(events, store, projections, new Recorder(), QUICK);
  const lists = new CompleteLists(events, store, { idsIn: async () => [] });
  projector.start();
  try {
    for (const projection of projections)
      await until(`${projection.name} has caught up`, () => lists.caughtUp(projection));
  } finally {
    await projector.stop();
  }
}
