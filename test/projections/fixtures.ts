// A small domain of its own for the tests of the projection engine, and what they all need around it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import type { ReadModelsObserver } from '../../src/adapters/read-models/redis.js';
import type { RecordedEvent } from '../../src/kernel/fact.js';
import { newId } from '../../src/kernel/ids.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { Projection } from '../../src/kernel/projection.js';
import type { EventStore, NewEvent } from '../../src/ports/event-store.js';
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

export const opened = (account: string, dueAt?: string): NewEvent => event('ParcelOpened', dueAt === undefined ? { account } : { account, dueAt });
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
export async function write(store: EventStore, models: ReadModels, id: string, ...events: readonly NewEvent[]): Promise<number> {
  const history = await append(store, id, ...events);
  await models.applyNow(history);
  return history.length - 1;
}

/** Resolves once `holds` does; fails with the last answer after ten seconds. Tries as often as the answers come. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
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
    private readonly folder: string,
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
