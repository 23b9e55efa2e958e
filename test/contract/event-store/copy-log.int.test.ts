// A log is copied from the embedded store to EventStoreDB without a change. The tests use the test double of the
// EventStoreDB protocol.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { EventStoreDbEventStore } from '../../../src/adapters/event-store/eventstoredb.js';
import type { EventMetadata } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import type { JsonObject } from '../../../src/kernel/json.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { type CopyCheckpoint, type CopyOptions, copyLog } from '../../../src/platform/audit/copy-log.js';
import { verifyLog } from '../../../src/platform/audit/verify.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { type Fault, TIMED_OUT, TOO_BUSY } from '../../support/eventstoredb-double/faults.js';
import { EventStoreDbDouble } from '../../support/eventstoredb-double/server.js';

let directory: string;
let source: EmbeddedEventStore;
let double: EventStoreDbDouble;
let target: EventStoreDbEventStore;
const heads = new Map<string, { revision: number; hash: string }>();

beforeEach(async () => {
  heads.clear();
  directory = await mkdtemp(join(tmpdir(), 'copy-log-'));
  source = EmbeddedEventStore.open({ directory, mapSizeBytes: 64 * 2 ** 20 });
  double = await EventStoreDbDouble.start();
  target = EventStoreDbEventStore.connect({ connectionString: double.connectionString, retryPauseMs: 1 });
});
afterEach(async () => {
  await source.close();
  await target.close();
  await double.stop();
  await rm(directory, { recursive: true });
});

/** Appends events like the service: each event is linked to the event before it. */
async function append(
  stream: string,
  count: number,
  data: JsonObject = { amountCents: 3_500, text: 'a "quoted" ünïcode \u2028 text', list: [1, -0.5, 1e21, null, true] },
): Promise<void> {
  const head = heads.get(stream);
  let { revision, hash } = head ?? { revision: -1, hash: genesisOf(stream) };
  const events = Array.from({ length: count }, () => {
    revision += 1;
    const metadata = {
      schemaVersion: 1,
      accountId: null,
      environment: 'test',
      occurredAt: new Date().toISOString(),
      $correlationId: newId(),
      $causationId: newId(),
      actor: { kind: 'system', id: 'x' },
    } satisfies Omit<EventMetadata, 'chain'>;
    const content = { id: newId(), type: 'SomethingHappened', data };
    const chain = linkTo(hash, { ...content, stream, revision, metadata });
    hash = chain.hash;
    return { ...content, metadata: { ...metadata, chain } as unknown as JsonObject };
  });
  expect(await source.append(stream, head?.revision ?? 'no-stream', events)).toMatchObject({ outcome: 'appended' });
  heads.set(stream, { revision, hash });
}

const LONGER_THAN_A_PAGE = 1_000;

/** Interleaved streams: one stream fills an append, and one stream is long. */
async function fill(long = 20): Promise<void> {
  for (let turn = 0; turn < 5; turn++)
    for (const stream of ['thing-1', 'thing-2', 'other-1']) await append(stream, turn + 1);
  await append('large-1', 14, { text: 'x'.repeat(60_000) });
  for (let batch = 0; batch < 2; batch++) await append('long-1', long / 2, {});
  await append('thing-1', 1);
}

const copy = (to: EventStore = target, options?: CopyOptions) => copyLog(source, to, () => undefined, options);

const IN_FLIGHT: CopyOptions = { append: (appends) => target.appendInOrder(appends) };

async function idsOf(store: EventStore): Promise<string[]> {
  return (await store.readAll(null, 10_000)).map(({ id }) => id);
}

/** The target of the copy. The connection of the target breaks permanently after this number of appends. */
function breakingAfter(appends: number): EventStore {
  return new Proxy(target, {
    get: (store, name: keyof EventStore) =>
      name === 'append' && appends-- <= 0
        ? () => Promise.reject(new Error('The connection broke'))
        : store[name].bind(store),
  });
}

describe('copying a log', () => {
  it('preserves ids, types, streams, revisions, the order of all events, and every byte of data and metadata', async () => {
    await fill(LONGER_THAN_A_PAGE);
    const total = 3 * 15 + 14 + LONGER_THAN_A_PAGE + 1;
    expect(await copy()).toEqual({
      events: total,
      streams: 5,
      appended: total,
      through: await source.head(),
      difference: null,
    });
    const own = await source.readAll(null, 10_000);
    const stored = double.log.records.map(({ stream, revision, id, type, data, metadata }) => ({
      stream,
      revision,
      id,
      type,
      data: Buffer.from(data).toString(),
      metadata: Buffer.from(metadata).toString(),
    }));
    expect(stored).toEqual(
      own.map(({ stream, revision, id, type, data, metadata }) => ({
        stream,
        revision,
        id,
        type,
        data: JSON.stringify(data),
        metadata: JSON.stringify(metadata),
      })),
    );
    expect(await verifyLog(target, { onFault: () => undefined })).toMatchObject({
      events: total,
      streams: 5,
      faults: 0,
    });
  });

  it('continues where an earlier copy ended, and copies events that the source has received since', async () => {
    await fill(LONGER_THAN_A_PAGE);
    await expect(copy(breakingAfter(7))).rejects.toThrow('The connection broke');
    const begun = double.log.records.length;
    expect(begun).toBeGreaterThan(7);
    const { events, appended, difference } = await copy();
    expect([difference, appended]).toEqual([null, events - begun]);
    await append('thing-2', 2);
    expect(await copy()).toMatchObject({ events: events + 2, appended: 2, difference: null });
    expect(await copy()).toMatchObject({ events: events + 2, appended: 0, difference: null });
    expect((await target.readAll(null, 10_000)).map(({ id }) => id)).toEqual(
      (await source.readAll(null, 10_000)).map(({ id }) => id),
    );
  });

  it('refuses a target that holds foreign events, and appends nothing to it', async () => {
    await fill();
    double.write('foreign-1', {});
    expect(await copy()).toMatchObject({
      appended: 0,
      difference: { stream: 'foreign-1', revision: 0, fault: 'not an event of this log' },
    });
    expect(double.log.records).toHaveLength(1);
  });

  it('refuses a target that received foreign events after the copied events', async () => {
    await fill();
    const { events } = await copy();
    double.write('foreign-1', {});
    expect(await copy()).toMatchObject({
      events,
      appended: 0,
      difference: { stream: 'foreign-1', fault: 'not an event of this log' },
    });
  });

  it.each([
    ['data', '"amountCents":3500', '"amountCents":3501'],
    ['metadata', '"environment":"test"', '"environment":"live"'],
  ] as const)('names the copied event whose %s differs from the source', async (part, from, to) => {
    await fill();
    await copy();
    const altered = double.log.stream('thing-2')?.[3] as { -readonly [Part in 'data' | 'metadata']: Uint8Array } & {
      readonly id: string;
    };
    altered[part] = Buffer.from(Buffer.from(altered[part]).toString().replace(from, to));
    expect((await copy()).difference).toEqual({
      stream: 'thing-2',
      revision: 3,
      eventId: altered.id,
      fault: 'content does not match its hash',
    });
  });

  it.each([
    ['large-1', 'in the middle', { stream: 'long-1', revision: 0, fault: 'not an event of this log' }],
    ['last-1', 'at the end', { stream: 'last-1', revision: 0, fault: 'missing from the target' }],
  ])('finds that the target lost acknowledged events: %s, %s', async (lost, _where, difference) => {
    await fill();
    await append('last-1', 1);
    const losing = new Proxy(target, {
      get: (store, name: keyof EventStore) =>
        name === 'append'
          ? async (...[stream, expected, events]: Parameters<EventStore['append']>) =>
              stream === lost
                ? { outcome: 'appended', revision: events.length - 1 }
                : store.append(stream, expected, events)
          : store[name].bind(store),
    });
    expect((await copy(losing)).difference).toMatchObject(difference);
  });
});

describe('copying a log with many appends in flight', () => {
  /** The server accepts this number of appends of a copy before the error. */
  const after = (appends: number, fault: Fault): void => {
    const taken = { kind: 'delay', until: Promise.resolve() } as const;
    double.faults.plan('batch-append', ...new Array<Fault>(appends).fill(taken), fault);
  };

  it('sends all appends through one call, and preserves their order and every byte', async () => {
    await fill(LONGER_THAN_A_PAGE);
    const { events, appended, difference } = await copy(target, IN_FLIGHT);
    expect([difference, appended, double.calls.append]).toEqual([null, events, 0]);
    expect(double.log.records.map(({ id, stream, revision }) => [id, stream, revision])).toEqual(
      (await source.readAll(null, 10_000)).map(({ id, stream, revision }) => [id, stream, revision]),
    );
    const [own] = await source.readStream('thing-1', { limit: 1 });
    const [stored] = double.log.stream('thing-1') ?? [];
    expect(Buffer.from(stored!.data).toString()).toBe(JSON.stringify(own!.data));
    expect(Buffer.from(stored!.metadata).toString()).toBe(JSON.stringify(own!.metadata));
    expect(await verifyLog(target, { onFault: () => undefined })).toMatchObject({ events, faults: 0 });
  });

  it.each([
    ['refuses the first because it is not ready', 0, { kind: 'error', status: TOO_BUSY, stored: false }],
    ['stores one in the middle and reports a timeout', 5, { kind: 'error', status: TIMED_OUT, stored: true }],
    ['names another leader that is the same node again', 0, { kind: 'not-leader', host: '127.0.0.1', port: 0 }],
  ] as const)(
    'sends the whole page once more when the server %s, and stores nothing twice',
    async (_what, taken, fault) => {
      await fill();
      after(taken, fault.kind === 'not-leader' ? { ...fault, port: double.port } : fault);
      const { events, difference } = await copy(target, IN_FLIGHT);
      expect([difference, double.faults.left('batch-append')]).toEqual([null, 0]);
      expect(double.log.records).toHaveLength(events);
      expect(await idsOf(target)).toEqual(await idsOf(source));
    },
  );

  it('reports a difference when the server refused an append in the middle and accepted the next one', async () => {
    await fill();
    after(3, { kind: 'error', status: TOO_BUSY, stored: false });
    expect((await copy(target, IN_FLIGHT)).difference).toMatchObject({ fault: 'not an event of this log' });
  });

  it('finds foreign events that were written to one of the copied streams in the meantime', async () => {
    await fill();
    const append: CopyOptions['append'] = (appends) => {
      double.write('long-1', {});
      return target.appendInOrder(appends);
    };
    expect((await copy(target, { append })).difference).toMatchObject({
      stream: 'long-1',
      revision: 0,
      fault: 'not an event of this log',
    });
  });

  it('continues while the source grows, and ends', async () => {
    await fill();
    const growing: CopyOptions['append'] = async (appends) => {
      await append('thing-1', 1);
      await target.appendInOrder(appends);
    };
    const first = await copy(target, { append: growing });
    expect(first).toMatchObject({ difference: null });
    const { appended, difference } = await copy(target, IN_FLIGHT);
    expect([appended, difference]).toEqual([1, null]);
    expect(await idsOf(target)).toEqual(await idsOf(source));
  });
});

describe('copying a log again', () => {
  /** Both stores. The source counts the events that are read from the whole log. */
  function counted(): { readonly read: () => number; readonly stores: readonly [EventStore, EventStore] } {
    let events = 0;
    const counting = (store: EventStore): EventStore =>
      new Proxy(store, {
        get: (of, name: keyof EventStore) =>
          name === 'readAll'
            ? async (...asked: Parameters<EventStore['readAll']>) => {
                const page = await of.readAll(...asked);
                events += page.length;
                return page;
              }
            : of[name].bind(of),
      });
    return { read: () => events, stores: [counting(source), counting(target)] };
  }

  async function copied(): Promise<CopyCheckpoint> {
    let checkpoint: CopyCheckpoint | null = null;
    await copy(target, { ...IN_FLIGHT, onCompared: async (at) => void (checkpoint = at) });
    if (checkpoint === null) throw new Error('Nothing was compared');
    return checkpoint;
  }

  it('reads and compares only the events since the checkpoint, and counts all events', async () => {
    await fill(LONGER_THAN_A_PAGE);
    const checkpoint = await copied();
    await append('thing-2', 2);
    const { read, stores } = counted();
    expect(await copyLog(...stores, () => undefined, { ...IN_FLIGHT, checkpoint })).toEqual({
      events: checkpoint.events + 2,
      streams: 5,
      appended: 2,
      through: await source.head(),
      difference: null,
    });
    expect(read()).toBe(4);
  });

  it('compares the events that an interrupted copy had stored after its last checkpoint', async () => {
    await fill();
    const checkpoint = await copied();
    await append('thing-2', 3);
    await copy(target, IN_FLIGHT);
    const altered = double.log.records.at(-1) as { -readonly [Part in 'data']: Uint8Array };
    altered.data = Buffer.from('{}');
    expect((await copy(target, { ...IN_FLIGHT, checkpoint })).difference).toMatchObject({
      stream: 'thing-2',
      fault: 'content does not match its hash',
    });
  });

  it.each([
    ['the target was emptied', 'target'],
    ['the source is another log', 'source'],
    ['the last event compared was altered in the target', 'altered'],
  ])('compares from the beginning when %s', async (_what, changed) => {
    await fill();
    const checkpoint = await copied();
    if (changed === 'source') await append('thing-1', 1);
    if (changed === 'altered')
      (double.log.records.at(-1) as { -readonly [Part in 'data']: Uint8Array }).data = Buffer.from('{}');
    const emptied = await EventStoreDbDouble.start();
    const other = EventStoreDbEventStore.connect({ connectionString: emptied.connectionString, retryPauseMs: 1 });
    const to = changed === 'target' ? other : target;
    const at = changed === 'source' ? { ...checkpoint, source: '9'.repeat(20) } : checkpoint;
    const { events, appended, difference } = await copy(to, { checkpoint: at });
    await other.close();
    await emptied.stop();
    if (changed === 'target') expect([appended, difference]).toEqual([events, null]);
    if (changed === 'source') expect([events, appended, difference]).toEqual([checkpoint.events + 1, 1, null]);
    if (changed === 'altered')
      expect([events, difference?.fault]).toEqual([checkpoint.events - 1, 'content does not match its hash']);
  });
});
