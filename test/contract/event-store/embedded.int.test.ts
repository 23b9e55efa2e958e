import { once } from 'node:events';
import { cp, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, open as openLmdb } from 'lmdb';
import { BELL_FILE } from '../../../src/adapters/event-store/append-bell.js';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { newId } from '../../../src/kernel/ids.js';
import { EventLogDamaged, EventStoreUnavailable, type NewEvent } from '../../../src/ports/event-store.js';
import type { Acknowledged, Refused } from '../../support/event-store-writer.js';
import { COMPRESSED, EmbeddedHarness, expectSound, inspected, stop, until, Writers } from './embedded-harness.js';
import { describeEventStore, follow, newCategory, newEvent, newEvents, readLog } from './suite.js';

describeEventStore('embedded', new EmbeddedHarness());
describeEventStore('embedded, with compressed older events', new EmbeddedHarness(COMPRESSED));

/** The key of a position. */
function place(position: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(position));
  return key;
}

describe('embedded event store', () => {
  const harness = new EmbeddedHarness();
  const writers = new Writers(harness, () => category);
  const start: Writers['start'] = (...command) => writers.start(...command);
  const startWriter: Writers['startWriter'] = (...options) => writers.startWriter(...options);
  let category: string;

  beforeEach(() => {
    category = newCategory();
  });

  afterEach(async () => {
    await writers.end();
    await harness.close();
  });

  describe.each([
    ['', {}],
    [', both compressing', COMPRESSED],
  ])('with another process on the same directory%s', (_how, options) => {
    it('lets both processes write, gives every revision of a contended stream once, and shows each process the appends of the other', async () => {
      const store = await harness.open(options);
      const shared = `${category}-shared`;
      const { child, said, closed } = startWriter(8, 40, undefined, options);
      const exited = once(child, 'exit');
      const theirs = 8 * 40 + 2 * 8 * 20;
      const ours = 150;
      const subscription = follow(store, { after: null }, ({ events }) => events.length >= theirs + ours);
      const own: Acknowledged[] = [];
      for (const event of newEvents(ours)) {
        // This append is made to the stream that the other process also writes to.
        for (let done = false; !done;) {
          const [last] = await store.readStream(shared, { direction: 'backwards', limit: 1 });
          const answer = await store.append(shared, last?.revision ?? 'no-stream', [event]);
          done = answer.outcome === 'appended';
          if (answer.outcome === 'appended') own.push({ stream: shared, revision: answer.revision, ids: [event.id] });
        }
      }
      expect(await exited).toEqual([0, null]);
      await closed;
      expect(said).toHaveLength(8 * 20 * 3);
      const { events } = await subscription;
      const log = await readLog(store, null, category);
      expect(log).toHaveLength(theirs + ours);
      expect(events).toEqual(log);
      expectSound(log, [...own, ...(said as Acknowledged[])]);
    });
  });

  describe('with another process', () => {
    it('fails in time when the other process holds the write lock, and accepts the same batch later', async () => {
      const store = await harness.open({ appendTimeoutMs: 300 });
      const [stream, other] = [`${category}-1`, `${category}-2`];
      await store.append(stream, 'no-stream', newEvents(1));
      const script = `
        import { open } from 'lmdb';
        const root = open({ path: process.argv[1], noSubdir: true, overlappingSync: false, maxDbs: 8 });
        root.transactionSync(() => {
          process.stdout.write('locked');
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        });`;
      const file = join(harness.directory, 'events.mdb');
      const child = start(process.execPath, '--input-type=module', '-e', script, file);
      await once(child.stdout, 'data');

      const batch = newEvents(2);
      await expect(store.append(stream, 0, batch)).rejects.toBeInstanceOf(EventStoreUnavailable);
      // This append waits behind the first append, which waits for the lock. The second append will never be written.
      await expect(store.append(other, 'no-stream', newEvents(1))).rejects.toBeInstanceOf(EventStoreUnavailable);
      const large = Array.from({ length: 13 }, () => newEvent({ text: 'x'.repeat(60_000) }));
      const flood = await Promise.allSettled(
        Array.from({ length: 90 }, (_, index) => store.append(`${category}-${index + 3}`, 'no-stream', large)),
      );
      expect(new Set(flood.map((answer) => answer.status === 'rejected' && (answer.reason as Error).message))).toEqual(
        new Set(['Too many bytes wait to be written', 'No answer from the disk within 300 ms']),
      );
      expect(await store.readStream(stream)).toHaveLength(1);

      await stop(child);
      expect(await store.append(stream, 0, batch)).toEqual({ outcome: 'appended', revision: 2 });
      expect(await store.append(stream, 2, newEvents(1))).toEqual({ outcome: 'appended', revision: 3 });
      expect(await readLog(store, null, category)).toHaveLength(4);
      // The abandoned append no longer counts as waiting.
      expect(await store.append(other, 'no-stream', large)).toEqual({ outcome: 'appended', revision: 12 });
    });

    it('reads every event that the other process has acknowledged, even immediately after another read', async () => {
      const store = await harness.open();
      const { child, said } = startWriter(1, 200);
      const exited = once(child, 'exit');
      const checks: Promise<void>[] = [];
      child.stdout.on('data', () => {
        for (const { stream, revision } of said.slice(checks.length) as Acknowledged[]) {
          checks.push(
            store.readStream(stream, { from: revision }).then((events) => expect(events.length).toBeGreaterThan(0)),
          );
        }
      });
      let running = true;
      void exited.then(() => (running = false));
      // The store reads all the time, so it always has an older view of the log. The store must not use this view
      // again.
      while (running) await new Promise((resolve) => setImmediate(() => resolve(store.head())));
      await Promise.all(checks);
      expect(checks.length).toBeGreaterThan(100);
    });
  });

  describe('a live subscription', () => {
    it('is woken by an append of its own process, before the next poll of the log', async () => {
      const store = await harness.open({ pollIntervalMs: 2 ** 28 });
      const { events } = await follow(
        store,
        { after: null },
        (seen) => seen.events.length === 3,
        ({ caughtUp, events: [last] }) => {
          if (caughtUp)
            setImmediate(() => void store.append(`${category}-1`, last?.revision ?? 'no-stream', newEvents(1)));
        },
      );
      expect(events.map(({ revision }) => revision)).toEqual([0, 1, 2]);
    });

    it('is woken by appends of other processes, before the next poll of the log', async () => {
      const store = await harness.open({ pollIntervalMs: 2 ** 28 });
      const { said, closed } = startWriter(1, 40);
      const { events } = await follow(store, { after: null }, (seen) => seen.events.length >= 80);
      await closed;
      expectSound(events, said as Acknowledged[]);
    });

    it('sees appends in time even if it receives no notice of them', async () => {
      const store = await harness.open();
      // From here on, the other process writes its notices to another file.
      await rename(join(harness.directory, BELL_FILE), join(harness.directory, 'moved'));
      const following = follow(store, { after: null }, (seen) => seen.events.length >= 80);
      const { said, closed } = startWriter(1, 40);
      await closed;
      expectSound((await following).events, said as Acknowledged[]);
    });

    it('works when notices are impossible', async () => {
      await harness.open();
      const directory = join(harness.directory, 'other');
      await mkdir(join(directory, BELL_FILE), { recursive: true });
      const store = EmbeddedEventStore.open({ directory });
      await store.append(`${category}-1`, 'no-stream', newEvents(1));
      expect((await follow(store, { after: null }, ({ events }) => events.length === 1)).events).toHaveLength(1);
      await store.close();
    });

    it.each(['abort', 'close'] as const)(
      'ends at once on %s, without waiting for the next poll of the log',
      async (how) => {
        const store = await harness.open({ pollIntervalMs: 2 ** 28 });
        const stop = new AbortController();
        const iteration = store.subscribe({ after: null, signal: stop.signal })[Symbol.asyncIterator]();
        expect((await iteration.next()).value).toEqual({ events: [], through: null, caughtUp: true });
        const next = iteration.next();
        // After two turns of the event loop, the subscription is waiting.
        setImmediate(() => setImmediate(() => (how === 'abort' ? stop.abort() : void store.close())));
        if (how === 'abort') expect(await next).toEqual({ done: true, value: undefined });
        else await expect(next).rejects.toBeInstanceOf(EventStoreUnavailable);
      },
    );
  });

  describe('reading many events', () => {
    it('gives the event loop a turn between two batches or pages', async () => {
      const store = await harness.open();
      const count = 3_000;
      for (let revision = -1; revision < count - 1; revision += 500) {
        await store.append(`${category}-1`, revision < 0 ? 'no-stream' : revision, newEvents(500));
      }
      const turns = await countTurns(async () => {
        const { batches } = await follow(
          store,
          { after: null, batchSize: 100_000 },
          ({ events }) => events.length === count,
        );
        expect(Math.max(...batches.map(({ events }) => events.length))).toBeLessThanOrEqual(500);
      });
      expect(turns).toBeGreaterThanOrEqual(5);
      expect(await countTurns(() => store.readAll(null, count))).toBeGreaterThanOrEqual(5);
      expect(await countTurns(() => store.readStream(`${category}-1`))).toBeGreaterThanOrEqual(5);
    });

    it('ends a batch early when its events are large', async () => {
      const store = await harness.open();
      const large = Array.from({ length: 14 }, () => newEvent({ text: 'x'.repeat(60_000) }));
      for (let stream = 0; stream < 4; stream++) await store.append(`${category}-${stream}`, 'no-stream', large);
      const { batches } = await follow(store, { after: null }, ({ events }) => events.length === 56);
      expect(Math.max(...batches.map(({ events }) => events.length))).toBeLessThan(20);
    });

    it('reads new events once for all readers, and reads old events correctly when newer ones have replaced them', async () => {
      const store = await harness.open();
      const streams = Array.from({ length: 10 }, () => `${category}-${newId()}`);
      for (const stream of streams) await store.append(stream, 'no-stream', newEvents(1_000));
      const all = await readLog(store, null, category);
      expect(all.map(({ position }) => Number(position))).toEqual(all.map((_, index) => index + 1));
      for (const [index, stream] of streams.entries()) {
        const read = await store.readStream(stream);
        expect(read).toEqual(all.slice(index * 1_000, (index + 1) * 1_000));
      }
      const [newest] = await store.readStream(streams.at(-1) ?? '', { direction: 'backwards', limit: 1 });
      expect(newest).toBe(all.at(-1));
    });

    it('refuses a position of another store', async () => {
      const store = await harness.open();
      await expect(store.readAll('C:12/P:12', 1)).rejects.toBeInstanceOf(RangeError);
    });
  });

  it('treats an event id that the stream already has as a conflict, even at the expected revision', async () => {
    const store = await harness.open();
    const [first, second] = newEvents(2) as [NewEvent, NewEvent];
    await store.append(`${category}-1`, 'no-stream', [first]);
    expect(await store.append(`${category}-1`, 0, [second, first])).toEqual({ outcome: 'conflict', current: 0 });
    expect(await store.readStream(`${category}-1`)).toHaveLength(1);
  });

  it('does not change a log that has another layout', async () => {
    await harness.open();
    await harness.close();
    const path = join(harness.directory, 'events.mdb');
    const layout = {
      noSubdir: true,
      overlappingSync: false,
      maxDbs: 8,
      encoding: 'string',
      keyEncoding: 'binary',
    } as const;
    const other = openLmdb<string, Buffer>({ path, ...layout });
    await other.put(Buffer.from('layout'), '3');
    await other.close();
    expect(() => EmbeddedEventStore.open({ directory: harness.directory })).toThrow('layout 3');
  });

  describe('older events', () => {
    /** Events are appended to two streams in turn. The last event is the newest and stays uncompressed. */
    async function aLog(events: number): Promise<readonly NewEvent[]> {
      const store = await harness.open(COMPRESSED);
      const appended = newEvents(events);
      await Promise.all(
        appended.map((event, index) =>
          store.append(`${category}-${index % 2}`, index < 2 ? 'no-stream' : Math.floor(index / 2) - 1, [event]),
        ),
      );
      await store.compress();
      return appended;
    }

    /** Changes the log while no process has it open. Returns the earlier segments by their first position. */
    async function tamper(change: (segments: Database<Buffer, Buffer>) => void = () => undefined): Promise<number[]> {
      await harness.settle();
      const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
      const root = openLmdb<Buffer, Buffer>({
        path: join(harness.directory, 'events.mdb'),
        noSubdir: true,
        maxDbs: 8,
        ...binary,
      });
      const segments = root.openDB<Buffer, Buffer>({ name: 'segments', ...binary });
      const firsts = [...segments.getKeys()].map((key) => Number(key.readBigUInt64BE()));
      change(segments);
      await root.close();
      return firsts;
    }

    it('are compressed together in whole segments, and can be read, followed and appended again as before', async () => {
      const appended = await aLog(18);
      expect(await tamper()).toEqual([1, 5, 9, 13]);
      const store = await harness.reopen(COMPRESSED);
      const log = await readLog(store, null, category);
      expect(log.map(({ id }) => id)).toEqual(appended.map(({ id }) => id));
      expect(await readLog(store, log[6]?.position ?? null, category)).toEqual(log.slice(7));
      const ofOne = log.filter(({ stream }) => stream === `${category}-1`);
      expect(await store.readStream(`${category}-1`)).toEqual(ofOne);
      expect(await store.readStream(`${category}-1`, { from: 5, direction: 'backwards', limit: 3 })).toEqual(
        ofOne.slice(3, 6).reverse(),
      );
      expect((await follow(store, { after: null }, ({ events }) => events.length === 18)).events).toEqual(log);
      expect(await store.append(`${category}-1`, 1, [appended[5] as NewEvent])).toEqual({
        outcome: 'appended',
        revision: 2,
      });
      expect(await store.append(`${category}-1`, 1, newEvents(1))).toEqual({ outcome: 'conflict', current: 8 });
      expect(await inspected(store)).toEqual([]);
      expect(store.missingEvents()).toBe(0);
    });

    it('stay uncompressed until they have the required age', async () => {
      const store = await harness.open({ ...COMPRESSED, uncompressedEvents: 8 });
      for (const [index, event] of newEvents(18).entries())
        await store.append(`${category}-1`, index === 0 ? 'no-stream' : index - 1, [event]);
      await store.compress();
      expect(await tamper()).toEqual([1, 5]);
      await harness.reopen(COMPRESSED);
    });

    it('are compressed gradually in an installation that did not compress before', async () => {
      const plain = await harness.open();
      const appended = newEvents(12);
      await plain.append(`${category}-1`, 'no-stream', appended);
      const store = await harness.reopen(COMPRESSED);
      for (let revision = 11; revision < 60; revision++) await store.append(`${category}-1`, revision, newEvents(1));
      expect((await tamper()).slice(0, 3)).toEqual([1, 5, 9]);
      const ids = (await (await harness.reopen(COMPRESSED)).readStream(`${category}-1`)).map(({ id }) => id);
      expect(ids.slice(0, 12)).toEqual(appended.map(({ id }) => id));
    });

    it('leave turns to the event loop during the read of a stream that is spread over many segments', async () => {
      await aLog(400);
      const store = await harness.reopen(COMPRESSED);
      expect(await countTurns(() => store.readStream(`${category}-1`))).toBeGreaterThanOrEqual(10);
    });

    it('are not compressed when the disk has no room for the first step; the reason is reported once', async () => {
      const plain = await harness.open();
      await plain.append(`${category}-1`, 'no-stream', newEvents(18));
      const told: unknown[] = [];
      let full = true;
      const store = await harness.reopen({
        ...COMPRESSED,
        diskFull: () => full,
        onCompressionFailed: (error) => told.push(error),
      });
      await expect(store.compress()).rejects.toThrow('no room');
      await expect(store.compress()).rejects.toThrow('no room');
      expect(told).toHaveLength(1);
      full = false;
      expect(await store.compress()).toBe(16);
      expect(await tamper()).toEqual([1, 5, 9, 13]);
      await harness.reopen(COMPRESSED);
    });

    it('do not make the append of other events fail when a segment of older events is damaged', async () => {
      const appended = await aLog(18);
      await tamper((segments) => segments.putSync(place(5), Buffer.from('no segment')));
      const store = await harness.reopen(COMPRESSED);
      const outcomes = await Promise.all([
        store.append(`${category}-0`, 1, [appended[4] as NewEvent]),
        store.append(`${category}-another`, 'no-stream', newEvents(1)),
      ]);
      expect(outcomes).toEqual([
        { outcome: 'conflict', current: 8 },
        { outcome: 'appended', revision: 0 },
      ]);
    });

    it.each([
      ['is missing', (segments: Database<Buffer, Buffer>) => segments.removeSync(place(5)), 'missing from the log'],
      [
        'was changed',
        (segments: Database<Buffer, Buffer>) => segments.putSync(place(5), Buffer.from('no segment')),
        'cannot be read: The segment of positions 5 to 8 cannot be decompressed',
      ],
      [
        'has too few events',
        (segments: Database<Buffer, Buffer>) => segments.putSync(place(5), brotliCompressSync('{}\n{}')),
        'cannot be read: The segment of positions 5 to 8 has 2 events',
      ],
      [
        'stands in the place of another',
        (segments: Database<Buffer, Buffer>) => segments.putSync(place(5), segments.get(place(9)) as Buffer),
        `the index of revisions says position ${'9'.padStart(20, '0')}`,
      ],
    ])(
      'in a segment that %s are reported as damaged with their position, and the following events can be read',
      async (_what, change, fault) => {
        await aLog(18);
        await tamper(change);
        const store = await harness.reopen(COMPRESSED);
        const faults = await inspected(store);
        expect(faults[0]).toMatchObject({ position: '5'.padStart(20, '0'), fault });
        if (!fault.startsWith('the index')) {
          expect(faults[0]).toMatchObject({ through: '8'.padStart(20, '0') });
          await expect(store.readAll(null, 100)).rejects.toBeInstanceOf(EventLogDamaged);
        }
        await expect(store.readStream(`${category}-1`)).rejects.toBeInstanceOf(EventLogDamaged);
        expect(await store.readAll('8'.padStart(20, '0'), 100)).toHaveLength(10);
      },
    );
  });

  it('the log has an id, which is the same for every process and differs for a copy, even in a log made without an id', async () => {
    const store = await harness.open();
    const id = store.id();
    const beside = EmbeddedEventStore.open({ directory: harness.directory });
    expect(beside.id()).toBe(id);
    await beside.close();
    expect((await harness.reopen()).id()).toBe(id);
    const copy = join(harness.directory, 'copy');
    await cp(join(harness.directory, 'events.mdb'), join(copy, 'events.mdb'));
    const other = EmbeddedEventStore.open({ directory: copy });
    expect(other.id()).not.toBe(id);
    await other.close();

    const bare = openLmdb({ path: join(copy, 'events.mdb'), noSubdir: true, maxDbs: 8, keyEncoding: 'binary' });
    expect(bare.removeSync(Buffer.from('log-id'))).toBe(true);
    await bare.close();
    const earlier = EmbeddedEventStore.open({ directory: copy });
    const given = earlier.id();
    expect(given.split('-').slice(0, 5)).not.toEqual(id.split('-').slice(0, 5));
    expect(earlier.id()).toBe(given);
    await earlier.close();
  });

  it('the log counts the bytes of the test environment once, and remembers the count', async () => {
    let store = await harness.open();
    const ofThe = (environment: string | null, count: number): NewEvent[] =>
      newEvents(count).map((event) => ({
        ...event,
        data: { text: 'x'.repeat(400) },
        metadata: { environment, actor: 'y'.repeat(300) },
      }));
    const unused = store.usage().usedBytes;
    for (const [stream, environment] of [
      ['1', 'live'],
      ['2', null],
    ] as const)
      await store.append(`${category}-${stream}`, 'no-stream', ofThe(environment, 5));
    expect(store.testBytes()).toBe(0);
    const first = ofThe('test', 3);
    await store.append(`${category}-3`, 'no-stream', first);
    let counted = store.testBytes();
    expect(counted).toBeGreaterThan(3 * 700);
    // Bytes of the live environment do not count, even in an append of both environments.
    await store.append(`${category}-4`, 'no-stream', [...ofThe('live', 20), ...ofThe('test', 3)]);
    expect(store.testBytes() / counted).toBeCloseTo(2, 1);
    counted = store.testBytes();
    // Events of a repeated append and of a refused append do not count.
    await store.append(`${category}-3`, 'no-stream', first);
    await store.append(`${category}-3`, 'no-stream', ofThe('test', 1));
    expect(store.testBytes()).toBe(counted);
    store = await harness.reopen();
    expect(store.testBytes()).toBe(counted);
    await Promise.all(
      Array.from({ length: 400 }, () => store.append(`${category}-${newId()}`, 'no-stream', ofThe('test', 5))),
    );
    const used = store.usage().usedBytes - unused;
    expect(store.testBytes() / used).toBeCloseTo(1, 0);
    expect(store.testBytes()).toBeGreaterThan(0.7 * used);
  });

  describe('a log that is almost full', () => {
    const mapSizeBytes = 4 * 2 ** 20;

    it('raises an alarm, refuses only appends, and accepts appends again when it gets more room', async () => {
      const alarms: number[] = [];
      let store = await harness.open({
        mapSizeBytes,
        onNearlyFull: ({ usedBytes }) => alarms.push(usedBytes / mapSizeBytes),
      });
      expect(store.usage().totalBytes).toBe(mapSizeBytes);
      const stored: string[] = [];
      const refused = (async (): Promise<void> => {
        for (;;) {
          const events = newEvents(20).map((event) => ({ ...event, data: { text: 'x'.repeat(1_000) } }));
          const expected = stored.length === 0 ? 'no-stream' : stored.length - 1;
          await store.append(`${category}-1`, expected, events);
          stored.push(...events.map(({ id }) => id));
        }
      })();
      await expect(refused).rejects.toThrow(EventStoreUnavailable);
      await expect(refused).rejects.toThrow('full');
      const { usedBytes, totalBytes } = store.usage();
      // The alarm is reported once, although many appends followed.
      expect(alarms).toEqual([expect.closeTo(0.71, 1)]);
      expect(totalBytes).toBe(mapSizeBytes);
      expect(usedBytes).toBeGreaterThan(0.9 * mapSizeBytes);
      expect(usedBytes).toBeLessThan(mapSizeBytes);
      expect((await store.readStream(`${category}-1`)).map(({ id }) => id)).toEqual(stored);

      store = await harness.reopen({ mapSizeBytes: 2 * mapSizeBytes });
      const answer = await store.append(`${category}-1`, stored.length - 1, newEvents(1));
      expect(answer).toEqual({ outcome: 'appended', revision: stored.length });
      expect(await readLog(store, null, category)).toHaveLength(stored.length + 1);
    });

    it('may be open with a different size in each process: each refuses appends beyond its own size, but reads all events', async () => {
      const small = 2 ** 19;
      const store = await harness.open({ mapSizeBytes: small });
      const { child, said, closed } = startWriter(64, 0);
      await until(() => store.usage().usedBytes > 2 * small, child.stdout, 'data');
      await stop(child);
      await closed;
      await expect(store.append(`${category}-own`, 'no-stream', newEvents(1))).rejects.toThrow('full');
      expectSound(await readLog(store, null, category), said as Acknowledged[]);
      // LMDB itself enlarged the map in this process; the adapter did not.
      const larger = await harness.reopen({ mapSizeBytes: 16 * small });
      expect(await larger.append(`${category}-own`, 'no-stream', newEvents(1))).toEqual({
        outcome: 'appended',
        revision: 0,
      });
    });

    it('refuses appends that do not fit on the disk, and keeps acknowledged events and its process', async () => {
      await harness.open();
      // A limit on the file size, in blocks of 512 bytes, makes the commit fail like a full disk.
      const { child, said, closed } = startWriter(1, 0, 'ulimit -f 800 && exec "$@" 2>/dev/null');
      expect(await once(child, 'exit')).toEqual([0, null]);
      await closed;
      const refused = said.filter((line): line is Refused => 'refused' in line);
      const acknowledged = said.filter((line): line is Acknowledged => 'ids' in line);
      const own = acknowledged.filter(({ stream }) => stream !== `${category}-shared` && !stream.endsWith(':beside'));
      expect(own.length).toBeGreaterThan(10);
      expect(refused).toEqual([{ refused: expect.any(String), readable: 2 * own.length }]);
      const store = await harness.reopen();
      const log = await readLog(store, null, category);
      expectSound(log, acknowledged);
      expect(log).toHaveLength(acknowledged.reduce((sum, { ids }) => sum + ids.length, 0));
    });
  });
});

/** The number of turns of the event loop during the work. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let timer = setImmediate(function turn() {
    turns++;
    timer = setImmediate(turn);
  });
  await work();
  clearImmediate(timer);
  return turns;
}
