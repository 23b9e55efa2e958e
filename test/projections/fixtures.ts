// A small domain of its own for the tests of the projection engine, and what they all need around it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import type { ReadModelsObserver } from '../../src/adapters/read-models/redis.js';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { newId } from '../../src/kernel/ids.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { Projection } from '../../src/kernel/projection.js';
import type { ProjectionFailed } from '../../src/platform/subscriptions/generation-writer.js';
import type { ProjectorObserver, ProjectorOptions } from '../../src/platform/subscriptions/projector.js';
import type { EventStore, NewEvent } from '../../src/ports/event-store.js';
import type { AnyProjection, Fingerprint, ProjectionStore, RebuildReport } from '../../src/ports/projection-store.js';
import type { ReadModels } from '../../src/ports/read-models.js';

/** A parcel on its way: opened by an account, stamped any number of times, due until it is delivered. */
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
  indexes: (doc) => [`account:${doc.account}`],
  dueAt: (doc) => doc.dueAt,
};

/** Counts the events of the same streams; a second projection of one category. */
export const weights: Projection<{ readonly events: number }> = {
  name: 'weights',
  version: 1,
  category: 'parcel',
  evolve: (doc) => ({ events: (doc?.events ?? 0) + 1 }),
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

/** Appends at the end of a parcel's stream and answers with its whole history, as a command handler does. */
export async function append(store: EventStore, id: string, ...events: readonly NewEvent[]): Promise<RecordedEvent[]> {
  const stream = `parcel-${id}`;
  const before = await store.readStream(stream);
  const outcome = await store.append(stream, before.at(-1)?.revision ?? 'no-stream', events);
  if (outcome.outcome !== 'appended') throw new Error(`conflict in ${stream}`);
  return store.readStream(stream);
}

/** As a command handler: appends, and lets the read models see it before it answers. */
export async function write(
  store: EventStore,
  models: ReadModels,
  id: string,
  ...events: readonly NewEvent[]
): Promise<number> {
  const history = await append(store, id, ...events);
  await models.applyNow(history);
  return history.length - 1;
}

/** Resolves once `holds` does; fails after half a minute. Tries as often as the answers come. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export class Failures implements ReadModelsObserver {
  readonly applies: unknown[] = [];
  misses = 0;

  applyFailed(_projection: string, _stream: string, error: unknown): void {
    this.applies.push(error);
  }

  missed(): void {
    this.misses += 1;
  }
}

/** An embedded event store in a folder of its own. */
export class Log {
  private constructor(
    readonly store: EventStore,
    readonly folder: string,
  ) {}

  static async open(): Promise<Log> {
    const folder = await mkdtemp(join(tmpdir(), 'log-'));
    return new Log(EmbeddedEventStore.open({ directory: folder }), folder);
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Everything a projector tells. */
export class Told implements ProjectorObserver {
  readonly drops: unknown[] = [];
  readonly alarms: [projection: string, error: ProjectionFailed][] = [];
  readonly gaps: string[] = [];
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

  foreign(reaction: string): void {
    this.foreigners.push(reaction);
  }

  stopped(projection: string, error: ProjectionFailed): void {
    this.alarms.push([projection, error]);
  }

  gap(_projection: string, stream: string): void {
    this.gaps.push(stream);
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

/** Short enough for a test, long enough for a busy machine. */
export const QUICK: ProjectorOptions = {
  leaseMs: 600,
  intervalMs: 50,
  minDelayMs: 10,
  maxDelayMs: 50,
  watchIntervalMs: 20,
};

/** Of the live generation; null while there is none. */
export async function liveFingerprint(store: ProjectionStore, projection: AnyProjection): Promise<Fingerprint | null> {
  const { live } = await store.generations(projection);
  return live === null ? null : store.fingerprint(projection, live);
}

/** What the log says, by folding it without the engine. */
export async function expectedDocuments(
  store: EventStore,
  projection: AnyProjection,
): Promise<Map<string, { revision: number; doc: object }>> {
  const documents = new Map<string, { revision: number; doc: object }>();
  for (const recorded of await store.readAll(null, Infinity)) {
    const [category, id] = [
      recorded.stream.slice(0, recorded.stream.indexOf('-')),
      recorded.stream.slice(recorded.stream.indexOf('-') + 1),
    ];
    if (category !== projection.category) continue;
    documents.set(id, {
      revision: recorded.revision,
      doc: projection.evolve(documents.get(id)?.doc ?? null, recorded),
    });
  }
  return documents;
}

/** Every document of the live generation, as it is stored. */
export async function storedDocuments(
  store: EventStore,
  projections: ProjectionStore,
  projection: AnyProjection,
): Promise<Map<string, { revision: number; doc: object }>> {
  const { live } = await projections.generations(projection);
  const ids = [...(await expectedDocuments(store, projection)).keys()];
  return live === null ? new Map() : new Map(await projections.documents(projection, live, ids));
}
