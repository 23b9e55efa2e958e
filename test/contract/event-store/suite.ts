// The contract suite that every event store passes: the promises of src/ports/event-store.ts as tests. Each adapter's own test file calls
// `describeEventStore` with a harness.
import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import type { JsonObject } from '../../../src/kernel/json.js';
import {
  type AppendOutcome,
  type EventBatch,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  MAX_APPEND_BYTES,
  MAX_EVENT_BYTES,
  type NewEvent,
  type SubscribeOptions,
  UnstorableEvent,
} from '../../../src/ports/event-store.js';

/**
 * The suite's access to a store. All streams of the suite have unique names, so the suite also works on a log in use.
 */
export interface EventStoreHarness {
  /** Opens the store. The suite calls this before every test. */
  open(): Promise<EventStore>;
  /** Closes the store that was opened last and opens another store on the same log. */
  reopen(): Promise<EventStore>;
  /**
   * Closes the store that was opened last, unless the test has closed it. Removes the store's data. The suite calls
   * this after every test.
   */
  close(): Promise<void>;
  /** Whether `open` finds a log without events. False for a cluster in use. */
  readonly logStartsEmpty: boolean;
  /**
   * Breaks every open subscription, by an error or by an ordinary end of the stream. The next subscription succeeds. A
   * store without a connection to its log returns 'cannot-drop', and the tests of drops then do not run.
   */
  readonly dropSubscriptions: ((how: 'error' | 'end') => Promise<void>) | 'cannot-drop';
  /** Says whether the earlier appends stay stored when one of several joint appends has a conflict. */
  readonly together: 'all-or-nothing' | 'one-after-the-other';
}

/** An unused category of lowercase letters and digits. */
export function newCategory(): string {
  return `t${randomBytes(8).toString('hex')}`;
}

export function newEvent(data: JsonObject = {}, change: Partial<NewEvent> = {}): NewEvent {
  return {
    id: newId(),
    type: 'SomethingHappened',
    data,
    metadata: {
      schemaVersion: 1,
      accountId: newId(),
      environment: 'test',
      occurredAt: '2024-05-06T07:08:09.123Z',
      $correlationId: newId(),
      $causationId: newId(),
      actor: { kind: 'system', id: 'contract-suite' },
      chain: { alg: 'sha-256', prev: '0'.repeat(64), hash: 'f'.repeat(64) },
    },
    ...change,
  };
}

export function newEvents(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, number) => newEvent({ number }));
}

/** All events of these categories in the log, read page by page after `since`. */
export async function readLog(
  store: EventStore,
  since: string | null,
  ...categories: readonly string[]
): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for (let after = since; ;) {
    const page = await store.readAll(after, 100);
    const last = page.at(-1);
    if (last === undefined) return found;
    found.push(...page.filter(({ stream }) => categories.some((category) => stream.startsWith(`${category}-`))));
    after = last.position;
  }
}

export interface Followed {
  readonly events: RecordedEvent[];
  readonly batches: EventBatch[];
}

/**
 * Subscribes until `enough` accepts the delivered events. Then the function aborts and expects the iteration to end
 * without an error. `onBatch` is the work of the consumer on a batch.
 */
export async function follow(
  store: EventStore,
  options: Omit<SubscribeOptions, 'signal'>,
  enough: (seen: Followed) => boolean,
  onBatch: (batch: EventBatch) => Promise<void> | void = () => undefined,
): Promise<Followed> {
  const stop = new AbortController();
  const seen: Followed = { events: [], batches: [] };
  for await (const batch of store.subscribe({ ...options, signal: stop.signal })) {
    if (stop.signal.aborted) continue;
    seen.events.push(...batch.events);
    seen.batches.push(batch);
    await onBatch(batch);
    if (enough(seen)) stop.abort();
  }
  return seen;
}

function atLeast(count: number): (seen: Followed) => boolean {
  return ({ events }) => events.length >= count;
}

function caughtUp({ batches }: Followed): boolean {
  return batches.at(-1)?.caughtUp === true;
}

function idsOf(events: readonly { readonly id: string }[]): string[] {
  return events.map(({ id }) => id);
}

function expectStrictlyIncreasing(positions: readonly string[]): void {
  for (const [index, position] of positions.entries()) {
    if (index > 0) expect(position > positions[index - 1]!).toBe(true);
  }
}

/** Appends events one after another to one stream. Every append must succeed. */
async function appendOneByOne(store: EventStore, stream: string, events: readonly NewEvent[]): Promise<void> {
  let expected: ExpectedRevision = 'no-stream';
  for (const event of events) {
    const answer = await store.append(stream, expected, [event]);
    if (answer.outcome !== 'appended') throw new Error(`unexpected conflict in ${stream}`);
    expected = answer.revision;
  }
}

/** Appends at the present end of the stream, like a command handler after a conflict. */
async function appendEventually(store: EventStore, stream: string, event: NewEvent): Promise<number> {
  for (let expected: ExpectedRevision = 'no-stream'; ;) {
    const answer: AppendOutcome = await store.append(stream, expected, [event]);
    if (answer.outcome === 'appended') return answer.revision;
    expected = answer.current;
  }
}

function bytesOf(event: NewEvent): number {
  return Buffer.byteLength(JSON.stringify(event.data)) + Buffer.byteLength(JSON.stringify(event.metadata));
}

/**
 * An event with exactly this number of bytes of data and metadata. The text of the event cannot be compressed and
 * shares no memory.
 */
function eventOfBytes(bytes: number): NewEvent {
  const rest = bytesOf(newEvent({ text: '' }));
  return newEvent({
    text: randomBytes(Math.ceil((bytes - rest) / 2))
      .toString('hex')
      .slice(0, bytes - rest),
  });
}

class Amount {
  constructor(readonly cents: number) {}
}

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

/** Values that JSON would omit, change or refuse. */
const UNSAFE_VALUES: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['a BigInt', 10n],
  ['a Date', new Date(0)],
  ['a function', (): number => 1],
  ['a symbol', Symbol('s')],
  ['a Map', new Map([['a', 1]])],
  ['a Buffer', Buffer.from('a')],
  ['a boxed number', Object(1)],
  ['an instance of a class', new Amount(1)],
  ['a lone surrogate', 'half a pair: \ud83d'],
  ['a key with a lone surrogate', { '\udc00': 1 }],
  ['a key that is a symbol', { [Symbol('s')]: 1 }],
  ['a hole in an array', Array(1)],
  ['a property on an array', Object.assign([1], { extra: 2 })],
  ['an object with its own JSON form', { toJSON: (): string => 'other' }],
  ['an object that holds itself', cyclic],
];

export function describeEventStore(name: string, harness: EventStoreHarness): void {
  describe(`event store contract: ${name}`, () => {
    let store: EventStore;
    let category: string;
    let stream: string;

    beforeEach(async () => {
      store = await harness.open();
      category = newCategory();
      stream = `${category}-${newId()}`;
    });

    afterEach(async () => {
      await harness.close();
    });

    if (harness.logStartsEmpty) {
      describe('a log that was just created', () => {
        it('holds no event and has no head', async () => {
          expect(await store.head()).toBeNull();
          expect(await store.readAll(null, 10)).toEqual([]);
          expect(await store.readStream(stream)).toEqual([]);
        });

        it('tells a subscriber that it has caught up, although no event was delivered', async () => {
          const { batches } = await follow(store, { after: null }, caughtUp);
          expect(batches).toEqual([{ events: [], through: null, caughtUp: true }]);
        });

        it('is delivered completely to an unfiltered subscriber from the beginning', async () => {
          const other = `${newCategory()}-${newId()}`;
          const events = newEvents(4);
          await appendOneByOne(store, stream, events.slice(0, 2));
          await appendOneByOne(store, other, events.slice(2));
          const { events: delivered } = await follow(store, { after: null }, atLeast(4));
          expect(idsOf(delivered)).toEqual(idsOf(events));
        });
      });
    }

    describe('an event that is read back', () => {
      it('equals the appended event, and has its stream, revision and position', async () => {
        const event = newEvent({
          text: 'Zażółć gęślą jaźń 🏠 \u0000 \u2028 "quoted" \\ end',
          integer: Number.MAX_SAFE_INTEGER,
          fraction: -0.1,
          tiny: 5e-324,
          nothing: null,
          yes: true,
          list: [1, [2, []], {}],
          'a key, with: punctuation': { deep: { deeper: ['x'] } },
        });
        await store.append(stream, 'no-stream', [event]);
        const [recorded] = await store.readStream(stream);
        expect(recorded).toEqual({ ...event, stream, revision: 0, position: expect.any(String) });
      });

      it('is the same when it is read by stream, by log and by subscription', async () => {
        const before = await store.head();
        await store.append(stream, 'no-stream', newEvents(3));
        const byStream = await store.readStream(stream);
        expect(byStream).toHaveLength(3);
        expect(await readLog(store, before, category)).toEqual(byStream);
        const { events } = await follow(store, { after: before, categories: [category] }, atLeast(3));
        expect(events).toEqual(byStream);
      });

      it('keeps the value that it had at the append, even if the caller changes its object afterwards', async () => {
        const data = { status: 'before' };
        const pending = store.append(stream, 'no-stream', [newEvent(data)]);
        data.status = 'after';
        await pending;
        expect((await store.readStream(stream))[0]?.data).toEqual({ status: 'before' });
      });

      it('still exists after the store was closed and opened again', async () => {
        const events = newEvents(3);
        await store.append(stream, 'no-stream', events);
        const before = await store.readStream(stream);
        store = await harness.reopen();
        expect(await store.readStream(stream)).toEqual(before);
        expect(await store.append(stream, 2, newEvents(1))).toEqual({ outcome: 'appended', revision: 3 });
      });
    });

    describe('append', () => {
      it('creates a stream and answers with the revision of its last event', async () => {
        expect(await store.append(stream, 'no-stream', newEvents(1))).toEqual({ outcome: 'appended', revision: 0 });
        const other = `${category}-${newId()}`;
        expect(await store.append(other, 'no-stream', newEvents(3))).toEqual({ outcome: 'appended', revision: 2 });
      });

      it('continues from the exact expected revision', async () => {
        await store.append(stream, 'no-stream', newEvents(2));
        expect(await store.append(stream, 1, newEvents(3))).toEqual({ outcome: 'appended', revision: 4 });
        expect((await store.readStream(stream)).map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4]);
      });

      it.each<[string, ExpectedRevision, ExpectedRevision]>([
        ['no stream, although it exists', 'no-stream', 2],
        ['a revision too low', 1, 2],
        ['a revision too high', 3, 2],
        ['a revision far too high', Number.MAX_SAFE_INTEGER, 2],
      ])('refuses %s, names the current revision and stores nothing', async (_case, expected, current) => {
        const before = newEvents(3);
        await store.append(stream, 'no-stream', before);
        expect(await store.append(stream, expected, newEvents(2))).toEqual({ outcome: 'conflict', current });
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(before));
      });

      it('refuses a revision of a missing stream, and says that the stream does not exist', async () => {
        expect(await store.append(stream, 0, newEvents(2))).toEqual({ outcome: 'conflict', current: 'no-stream' });
        expect(await store.readStream(stream)).toEqual([]);
        expect(await store.append(stream, 'no-stream', newEvents(1))).toEqual({ outcome: 'appended', revision: 0 });
      });

      it('keeps a batch together and in order', async () => {
        const before = await store.head();
        const events = newEvents(50);
        await store.append(stream, 'no-stream', events);
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(events));
        expect(idsOf(await readLog(store, before, category))).toEqual(idsOf(events));
      });

      it('gives an identical batch the same answer as the first time, and stores it once', async () => {
        const batch = newEvents(3);
        const first = await store.append(stream, 'no-stream', batch);
        expect(await store.append(stream, 'no-stream', batch)).toEqual(first);
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(batch));
      });

      it('gives an identical batch the same answer as the first time, even if the stream has grown', async () => {
        const [first, second, third] = [newEvents(2), newEvents(2), newEvents(1)];
        await store.append(stream, 'no-stream', first);
        await store.append(stream, 1, second);
        await store.append(stream, 3, third);
        expect(await store.append(stream, 'no-stream', first)).toEqual({ outcome: 'appended', revision: 1 });
        expect(await store.append(stream, 1, second)).toEqual({ outcome: 'appended', revision: 3 });
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf([...first, ...second, ...third]));
      });

      it('recognises an identical batch after the store was closed and opened', async () => {
        const batch = newEvents(2);
        await store.append(stream, 'no-stream', batch);
        store = await harness.reopen();
        expect(await store.append(stream, 'no-stream', batch)).toEqual({ outcome: 'appended', revision: 1 });
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(batch));
      });

      it('stores an identical batch once when it is sent several times at once', async () => {
        const batch = newEvents(3);
        const answers = await Promise.all(Array.from({ length: 8 }, () => store.append(stream, 'no-stream', batch)));
        expect(answers).toEqual(Array(8).fill({ outcome: 'appended', revision: 2 }));
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(batch));
      });

      it.each<[string, (first: NewEvent, second: NewEvent) => NewEvent[]]>([
        ['begins the same and ends differently', (first) => [first, newEvent()]],
        ['repeats everything and adds an event', (first, second) => [first, second, newEvent()]],
        ['begins differently and ends the same', (_first, second) => [newEvent(), second]],
        ['has the same events in another order', (first, second) => [second, first]],
      ])('refuses a batch that %s as a conflict', async (_case, change) => {
        const batch = newEvents(2);
        await store.append(stream, 'no-stream', batch);
        expect(await store.append(stream, 'no-stream', change(batch[0]!, batch[1]!))).toEqual({
          outcome: 'conflict',
          current: 1,
        });
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(batch));
      });

      it('treats the same event id in another stream as another event', async () => {
        const batch = newEvents(2);
        const other = `${category}-${newId()}`;
        await store.append(stream, 'no-stream', batch);
        expect(await store.append(other, 'no-stream', batch)).toEqual({ outcome: 'appended', revision: 1 });
        expect(idsOf(await store.readStream(other))).toEqual(idsOf(batch));
      });

      it('accepts one of 64 writers at the same revision, and tells the others the new revision', async () => {
        const contenders = newEvents(64);
        const answers = await Promise.all(contenders.map((event) => store.append(stream, 'no-stream', [event])));
        const winners = contenders.filter((_event, index) => answers[index]?.outcome === 'appended');
        expect(winners).toHaveLength(1);
        expect(answers.filter(({ outcome }) => outcome === 'conflict')).toEqual(
          Array(63).fill({ outcome: 'conflict', current: 0 }),
        );
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(winners));
      });

      it('gives 64 writers that retry on one stream one revision each, without gaps', async () => {
        const events = newEvents(64);
        const revisions = await Promise.all(events.map((event) => appendEventually(store, stream, event)));
        expect([...revisions].sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, revision) => revision));
        const recorded = await store.readStream(stream);
        expect(recorded.map(({ revision }) => revision)).toEqual(Array.from({ length: 64 }, (_, revision) => revision));
        for (const [index, event] of events.entries()) expect(recorded[revisions[index]!]?.id).toBe(event.id);
      });

      it('adds all events of 64 writers on many streams to the log, each at its own position', async () => {
        const before = await store.head();
        const writers = Array.from({ length: 64 }, () => ({ stream: `${category}-${newId()}`, events: newEvents(6) }));
        await Promise.all(writers.map((writer) => appendOneByOne(store, writer.stream, writer.events)));
        const log = await readLog(store, before, category);
        expectStrictlyIncreasing(log.map(({ position }) => position));
        expect(log).toHaveLength(64 * 6);
        for (const writer of writers) {
          const own = log.filter((event) => event.stream === writer.stream);
          expect(idsOf(own)).toEqual(idsOf(writer.events));
        }
      });

      it('is visible to every read that starts after the append was answered', async () => {
        await Promise.all(
          Array.from({ length: 16 }, async () => {
            const own = `${category}-${newId()}`;
            for (let revision = 0; revision < 8; revision++) {
              const event = newEvent();
              await store.append(own, revision === 0 ? 'no-stream' : revision - 1, [event]);
              const head = await store.head();
              const [last] = await store.readStream(own, { direction: 'backwards', limit: 1 });
              expect(last?.id).toBe(event.id);
              expect(head !== null && head >= last!.position).toBe(true);
            }
          }),
        );
      });
    });

    describe('joint appends', () => {
      const others = (count: number): string[] => Array.from({ length: count }, () => `${category}-${newId()}`);

      it('are stored in their streams in the given order, and are answered with the revision of each', async () => {
        await store.append(stream, 'no-stream', newEvents(2));
        const before = await store.head();
        const [other = '', third = ''] = others(2);
        const appends = [
          { stream: other, expected: 'no-stream', events: newEvents(1) },
          { stream, expected: 1, events: newEvents(3) },
          { stream: third, expected: 'no-stream', events: newEvents(2) },
        ] as const;
        expect(await store.appendTogether(appends)).toEqual({ outcome: 'appended', revisions: [0, 4, 1] });
        expect(idsOf(await readLog(store, before, category))).toEqual(appends.flatMap(({ events }) => idsOf(events)));
        expect((await store.readStream(stream)).map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4]);
      });

      it('get the same answer as the first time when they are repeated, even if a stream has grown, and are stored once', async () => {
        const [other = ''] = others(1);
        const appends = [
          { stream, expected: 'no-stream', events: newEvents(2) },
          { stream: other, expected: 'no-stream', events: newEvents(1) },
        ] as const;
        const first = await store.appendTogether(appends);
        await store.append(other, 0, newEvents(1));
        store = await harness.reopen();
        expect(await Promise.all([store.appendTogether(appends), store.appendTogether(appends)])).toEqual([
          first,
          first,
        ]);
        expect(await store.readStream(stream)).toHaveLength(2);
        expect(await store.readStream(other)).toHaveLength(2);
      });

      it('are completed by a repetition when only the first appends were stored', async () => {
        const [other = ''] = others(1);
        const first = { stream, expected: 'no-stream', events: newEvents(2) } as const;
        await store.append(first.stream, first.expected, first.events);
        const second = { stream: other, expected: 'no-stream', events: newEvents(1) } as const;
        expect(await store.appendTogether([first, second])).toEqual({ outcome: 'appended', revisions: [1, 0] });
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(first.events));
        expect(idsOf(await store.readStream(other))).toEqual(idsOf(second.events));
      });

      it('end at the first conflict, which names the conflicting append and the current revision', async () => {
        const [first = '', last = ''] = others(2);
        await store.append(stream, 'no-stream', newEvents(2));
        const appends = [
          { stream: first, expected: 'no-stream', events: newEvents(1) },
          { stream, expected: 0, events: newEvents(1) },
          { stream: last, expected: 4, events: newEvents(1) },
        ] as const;
        const stored = harness.together === 'all-or-nothing' ? 0 : 1;
        expect(await store.appendTogether(appends)).toEqual({ outcome: 'conflict', index: 1, current: 1, stored });
        expect(await store.readStream(first)).toHaveLength(stored);
        expect(await store.readStream(stream)).toHaveLength(2);
        expect(await store.readStream(last)).toEqual([]);
      });

      it('of one writer succeed when many writers append to one stream, and the others lose only their appends to that stream', async () => {
        const writers = others(32);
        const answers = await Promise.all(
          writers.map((own) =>
            store.appendTogether([
              { stream, expected: 'no-stream', events: newEvents(1) },
              { stream: own, expected: 'no-stream', events: newEvents(1) },
            ]),
          ),
        );
        const stored = await Promise.all(writers.map((own) => store.readStream(own)));
        expect(answers.filter(({ outcome }) => outcome === 'appended')).toHaveLength(1);
        for (const [index, answer] of answers.entries()) {
          if (answer.outcome === 'conflict')
            expect(answer).toEqual({ outcome: 'conflict', index: 0, current: 0, stored: 0 });
          expect(stored[index]).toHaveLength(answer.outcome === 'appended' ? 1 : 0);
        }
      });

      it('are refused before the first is stored when one of them is invalid, or when two append to one stream', async () => {
        const [other = ''] = others(1);
        const first = { stream, expected: 'no-stream', events: newEvents(1) } as const;
        const unstorable = { stream: other, expected: 'no-stream', events: [] } as const;
        await expect(store.appendTogether([first, unstorable])).rejects.toBeInstanceOf(UnstorableEvent);
        const again = { stream, expected: 0, events: newEvents(1) } as const;
        await expect(store.appendTogether([first, again])).rejects.toBeInstanceOf(UnstorableEvent);
        expect(await store.readStream(stream)).toEqual([]);
      });
    });

    describe('values that cannot be stored', () => {
      it.each(UNSAFE_VALUES)(
        'in the data or metadata (%s) are refused, and nothing is stored',
        async (_case, value) => {
          const inData = newEvent({ deep: [{ value }] } as unknown as JsonObject);
          const inMetadata = newEvent({}, { metadata: { ...newEvent().metadata, value } as unknown as JsonObject });
          await expect(store.append(stream, 'no-stream', [newEvent(), inData])).rejects.toBeInstanceOf(UnstorableEvent);
          await expect(store.append(stream, 'no-stream', [inMetadata, newEvent()])).rejects.toBeInstanceOf(
            UnstorableEvent,
          );
          expect(await store.readStream(stream)).toEqual([]);
        },
      );

      it.each<[string, unknown]>([
        ['null', null],
        ['an array', []],
        ['a text', 'text'],
        ['undefined', undefined],
      ])('instead of the data (%s) are refused', async (_case, data) => {
        const event = newEvent({}, { data: data as JsonObject });
        await expect(store.append(stream, 'no-stream', [event])).rejects.toBeInstanceOf(UnstorableEvent);
      });

      it.each<[string, unknown]>([
        ['-1', -1],
        ['a BigInt', -1n],
        ['a fraction', 0.5],
        ['NaN', NaN],
        ['more than an exact integer', 2 ** 53],
        ['any', 'any'],
        ['nothing', undefined],
      ])('as the expected revision (%s) are refused', async (_case, expected) => {
        await expect(store.append(stream, expected as ExpectedRevision, newEvents(1))).rejects.toBeInstanceOf(
          UnstorableEvent,
        );
      });

      it.each<[string, string]>([
        ['nothing', ''],
        ['a name without a dash', 'nodash'],
        ['a name without a category', '-id'],
        ['a name without an id', 'category-'],
        ['a name of the store’s own', '$system-1'],
        ['a category with a space', 'has space-1'],
        ['an id with a space', 'category-has space'],
        ['an id with a line break', 'category-line\nbreak'],
        ['an id with a letter outside ASCII', 'category-é'],
        ['a very long name', `category-${'x'.repeat(300)}`],
      ])('as a stream name (%s) are refused', async (_case, bad) => {
        await expect(store.append(bad, 'no-stream', newEvents(1))).rejects.toBeInstanceOf(UnstorableEvent);
      });

      it.each<[string, NewEvent[]]>([
        ['no events', []],
        ['an id that is not a UUID', [newEvent({}, { id: 'not-a-uuid' })]],
        ['a UUID that would return in another spelling', [newEvent({}, { id: newId().toUpperCase() })]],
        ['an empty type', [newEvent({}, { type: '' })]],
        ['a type of the store’s own', [newEvent({}, { type: '$metadata' })]],
      ])('are refused: %s', async (_case, events) => {
        await expect(store.append(stream, 'no-stream', events)).rejects.toBeInstanceOf(UnstorableEvent);
        expect(await store.readStream(stream)).toEqual([]);
      });

      it('are refused when a batch holds one id twice', async () => {
        const event = newEvent();
        await expect(store.append(stream, 'no-stream', [event, newEvent(), event])).rejects.toBeInstanceOf(
          UnstorableEvent,
        );
      });

      it('include an event one byte above the largest size, but not an event of the largest size', async () => {
        await expect(store.append(stream, 'no-stream', [eventOfBytes(MAX_EVENT_BYTES + 1)])).rejects.toBeInstanceOf(
          UnstorableEvent,
        );
        expect(await store.readStream(stream)).toEqual([]);
        const largest = eventOfBytes(MAX_EVENT_BYTES);
        expect(bytesOf(largest)).toBe(MAX_EVENT_BYTES);
        expect(await store.append(stream, 'no-stream', [largest])).toEqual({ outcome: 'appended', revision: 0 });
        expect((await store.readStream(stream))[0]?.data).toEqual(largest.data);
      });

      it('are measured in bytes, not in characters', async () => {
        const event = newEvent({ text: 'é'.repeat(MAX_EVENT_BYTES / 2) });
        await expect(store.append(stream, 'no-stream', [event])).rejects.toBeInstanceOf(UnstorableEvent);
      });

      it('include a whole append above the largest size, but not an append of almost that size', async () => {
        const fit = Array.from({ length: Math.floor(MAX_APPEND_BYTES / MAX_EVENT_BYTES) }, () =>
          eventOfBytes(MAX_EVENT_BYTES - 1_000),
        );
        const tooMuch = [...fit, eventOfBytes(30_000)];
        await expect(store.append(stream, 'no-stream', tooMuch)).rejects.toBeInstanceOf(UnstorableEvent);
        expect(await store.readStream(stream)).toEqual([]);
        expect(await store.append(stream, 'no-stream', fit)).toEqual({ outcome: 'appended', revision: fit.length - 1 });
        expect(idsOf(await store.readStream(stream))).toEqual(idsOf(fit));
      });

      it('do not affect other appends in flight', async () => {
        const unsafe = newEvent({ amount: 1n } as unknown as JsonObject);
        const attempts = Array.from({ length: 30 }, (_, index) => ({
          stream: `${category}-${newId()}`,
          event: index % 3 === 1 ? unsafe : newEvent(),
        }));
        const answers = await Promise.allSettled([
          ...attempts.map((attempt) => store.append(attempt.stream, 'no-stream', [attempt.event])),
          store.append(stream, -1, newEvents(1)),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([
          ...attempts.map(({ event }) => (event === unsafe ? 'rejected' : 'fulfilled')),
          'rejected',
        ]);
        for (const attempt of attempts)
          expect(await store.readStream(attempt.stream)).toHaveLength(attempt.event === unsafe ? 0 : 1);
      });
    });

    describe('readStream', () => {
      let all: RecordedEvent[];

      beforeEach(async () => {
        await store.append(stream, 'no-stream', newEvents(7));
        await store.append(`${stream}0`, 'no-stream', newEvents(2));
        all = await store.readStream(stream);
      });

      it('returns no events for a missing stream, although the name of another stream begins with its name', async () => {
        expect(await store.readStream(stream.slice(0, -1))).toEqual([]);
        expect(await store.readStream(`${stream}00`, { direction: 'backwards' })).toEqual([]);
        expect(all).toHaveLength(7);
        expect(all.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      });

      it('reads forwards from a revision, up to a limit', async () => {
        expect(await store.readStream(stream, { from: 2 })).toEqual(all.slice(2));
        expect(await store.readStream(stream, { limit: 3 })).toEqual(all.slice(0, 3));
        expect(await store.readStream(stream, { from: 2, limit: 3, direction: 'forwards' })).toEqual(all.slice(2, 5));
        expect(await store.readStream(stream, { from: 5, limit: 100 })).toEqual(all.slice(5));
        expect(await store.readStream(stream, { from: 7 })).toEqual([]);
      });

      it('reads backwards from the end or from a revision, up to a limit', async () => {
        const reversed = [...all].reverse();
        expect(await store.readStream(stream, { direction: 'backwards' })).toEqual(reversed);
        expect(await store.readStream(stream, { direction: 'backwards', limit: 2 })).toEqual(reversed.slice(0, 2));
        expect(await store.readStream(stream, { direction: 'backwards', from: 4 })).toEqual(reversed.slice(2));
        expect(await store.readStream(stream, { direction: 'backwards', from: 4, limit: 2 })).toEqual(
          reversed.slice(2, 4),
        );
        expect(await store.readStream(stream, { direction: 'backwards', from: 0 })).toEqual(all.slice(0, 1));
      });

      it('reads a stream that has more events than any page', async () => {
        const long = `${category}-${newId()}`;
        for (let revision: ExpectedRevision = 'no-stream', batch = 0; batch < 5; batch++) {
          const answer: AppendOutcome = await store.append(long, revision, newEvents(300));
          if (answer.outcome === 'appended') revision = answer.revision;
        }
        const events = await store.readStream(long);
        expect(events.map(({ revision }) => revision)).toEqual(
          Array.from({ length: 1_500 }, (_, revision) => revision),
        );
        expect((await store.readStream(long, { direction: 'backwards' })).at(-1)).toEqual(events[0]);
      });
    });

    describe('readAll', () => {
      it('continues after the given position without a gap or a repeated event', async () => {
        const before = await store.head();
        const events = newEvents(25);
        for (const [index, event] of events.entries()) await store.append(`${category}-${index}`, 'no-stream', [event]);
        const all = await readLog(store, before, category);
        expect(idsOf(all)).toEqual(idsOf(events));
        for (const index of [0, 11, 23, 24]) {
          expect(idsOf(await readLog(store, all[index]!.position, category))).toEqual(idsOf(events.slice(index + 1)));
        }
      });

      it('returns no more than the limit', async () => {
        const before = await store.head();
        await store.append(stream, 'no-stream', newEvents(10));
        const page = await store.readAll(before, 4);
        expect(page.length).toBeGreaterThan(0);
        expect(page.length).toBeLessThanOrEqual(4);
      });

      it('ends at the head', async () => {
        await store.append(stream, 'no-stream', newEvents(2));
        const head = await store.head();
        const last = (await store.readStream(stream)).at(-1)!;
        expect(head !== null && head >= last.position).toBe(true);
        expect(await readLog(store, head, category)).toEqual([]);
      });
    });

    describe('a subscription', () => {
      it('reports that it has caught up when all stored events are delivered', async () => {
        const before = await store.head();
        const events = newEvents(20);
        await store.append(stream, 'no-stream', events);
        const seen = await follow(store, { after: before, categories: [category], batchSize: 3 }, caughtUp);
        expect(idsOf(seen.events)).toEqual(idsOf(events));
      });

      it('reports that it has caught up when it had no events to deliver', async () => {
        await store.append(stream, 'no-stream', newEvents(2));
        const { position } = (await store.readStream(stream)).at(-1)!;
        const { events, batches } = await follow(store, { after: position, categories: [category] }, caughtUp);
        expect(events).toEqual([]);
        expect(batches.at(-1)!.through! >= position).toBe(true);
      });

      it('delivers no batch larger than requested', async () => {
        const before = await store.head();
        await store.append(stream, 'no-stream', newEvents(23));
        const { batches } = await follow(store, { after: before, categories: [category], batchSize: 5 }, atLeast(23));
        expect(Math.max(...batches.map(({ events }) => events.length))).toBeLessThanOrEqual(5);
      });

      it('delivers only the requested categories, and no category whose name only begins with a requested one', async () => {
        const before = await store.head();
        const [second, alike, other] = [newCategory(), `${category}x`, newCategory()];
        const wanted: string[] = [];
        for (let round = 0; round < 10; round++) {
          for (const each of [category, second, alike, other]) {
            const event = newEvent({ each });
            if (each === category || each === second) wanted.push(event.id);
            await store.append(`${each}-${newId()}`, 'no-stream', [event]);
          }
        }
        const { events } = await follow(store, { after: before, categories: [category, second] }, atLeast(20));
        expect(idsOf(events)).toEqual(wanted);
      });

      it('delivers every category when none is requested, and never a stream of the store’s own', async () => {
        const before = await store.head();
        const other = newCategory();
        await store.append(stream, 'no-stream', newEvents(3));
        await store.append(`${other}-1`, 'no-stream', newEvents(3));
        const ours = (event: RecordedEvent): boolean => event.stream === stream || event.stream === `${other}-1`;
        const { events } = await follow(store, { after: before }, (seen) => seen.events.filter(ours).length >= 6);
        expect(events.filter(ours).map((event) => event.revision)).toEqual([0, 1, 2, 0, 1, 2]);
        expect(events.filter((event) => event.stream.startsWith('$'))).toEqual([]);
      });

      it('continues from past to present events without a gap or a repeated event while 8 writers append', async () => {
        const before = await store.head();
        await store.append(stream, 'no-stream', newEvents(120));
        const writers = Array.from({ length: 8 }, () => ({ stream: `${category}-${newId()}`, events: newEvents(40) }));
        const total = 120 + 8 * 40;
        const subscription = follow(store, { after: before, categories: [category], batchSize: 7 }, atLeast(total + 1));
        await Promise.all(writers.map((writer) => appendOneByOne(store, writer.stream, writer.events)));
        await store.append(`${category}-last`, 'no-stream', newEvents(1));
        const { events } = await subscription;
        expect(events).toHaveLength(total + 1);
        expect(events).toEqual(await readLog(store, before, category));
      });

      it('delivers events that are appended while it waits', async () => {
        const before = await store.head();
        const events = newEvents(5);
        let live = false;
        let next = 0;
        let delivered = 0;
        const appends: Promise<AppendOutcome>[] = [];
        const seen = await follow(store, { after: before, categories: [category] }, atLeast(5), (batch) => {
          live ||= batch.caughtUp;
          delivered += batch.events.length;
          // The next event is appended only when the last event was delivered and the consumer waits again.
          if (!live || delivered < next || next === 5) return;
          const [expected, event]: [ExpectedRevision, NewEvent] = [next === 0 ? 'no-stream' : next - 1, events[next]!];
          next++;
          setImmediate(() => appends.push(store.append(stream, expected, [event])));
        });
        expect(idsOf(seen.events)).toEqual(idsOf(events));
        expect((await Promise.all(appends)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('appended'));
      });

      it('resumes after any checkpoint with exactly the undelivered events', async () => {
        const before = await store.head();
        const events = newEvents(30);
        for (const [index, event] of events.entries()) {
          await store.append(`${category}-${index}`, 'no-stream', [event]);
          await store.append(`${category}x-${index}`, 'no-stream', newEvents(1));
        }
        const options = { categories: [category], batchSize: 4 };
        const { batches } = await follow(store, { ...options, after: before }, atLeast(30));
        await store.append(`${category}-last`, 'no-stream', newEvents(1));
        let delivered = 0;
        for (const batch of batches) {
          delivered += batch.events.length;
          const rest = await follow(store, { ...options, after: batch.through }, atLeast(31 - delivered));
          expect(idsOf(rest.events).slice(0, -1)).toEqual(idsOf(events.slice(delivered)));
        }
      });

      it('never offers a checkpoint beyond an undelivered event', async () => {
        const before = await store.head();
        const total = 8 * 25;
        const writers = Array.from({ length: 8 }, () => ({ stream: `${category}-${newId()}`, events: newEvents(25) }));
        const others = Array.from({ length: 4 }, () => ({ stream: `${category}x-${newId()}`, events: newEvents(25) }));
        const appends = Promise.all(
          [...writers, ...others].map((writer) => appendOneByOne(store, writer.stream, writer.events)),
        );
        const { batches } = await follow(
          store,
          { after: before, categories: [category], batchSize: 6 },
          atLeast(total),
        );
        await appends;
        let through = before;
        for (const batch of batches) {
          for (const event of batch.events) {
            expect(through === null || event.position > through).toBe(true);
            expect(batch.through !== null && event.position <= batch.through).toBe(true);
          }
          expect(through === null || (batch.through !== null && batch.through >= through)).toBe(true);
          through = batch.through;
        }
        expect(batches.reduce((sum, { events }) => sum + events.length, 0)).toBe(total);
      });

      it('delivers every event to every subscriber', async () => {
        const before = await store.head();
        const options = { after: before, categories: [category], batchSize: 10 };
        const subscribers = Array.from({ length: 4 }, () => follow(store, options, atLeast(60)));
        const events = newEvents(60);
        await appendOneByOne(store, stream, events);
        for (const { events: delivered } of await Promise.all(subscribers))
          expect(idsOf(delivered)).toEqual(idsOf(events));
      });

      it('keeps little in memory for a consumer that requests no more events', async () => {
        const before = await store.head();
        const payload = 24_000_000;
        const count = payload / 40_000;
        for (let written = 0, expected: ExpectedRevision = 'no-stream'; written < count; written += 20) {
          const answer: AppendOutcome = await store.append(
            stream,
            expected,
            Array.from({ length: 20 }, () => eventOfBytes(40_000)),
          );
          if (answer.outcome === 'appended') expected = answer.revision;
        }
        const options = { after: before, categories: [category], batchSize: 10 };

        const stop = new AbortController();
        const held = memoryInUse();
        const slow: AsyncIterator<EventBatch, undefined> = store
          .subscribe({ ...options, signal: stop.signal })
          [Symbol.asyncIterator]();
        const take = async (): Promise<number> => {
          const step = await slow.next();
          if (step.done) throw new Error('the subscription ended early');
          return step.value.events.length;
        };
        let delivered = await take();
        // A second consumer that reads everything shows that the store has had enough time to push all events.
        let passed = 0;
        const done = new AbortController();
        for await (const { events } of store.subscribe({ ...options, signal: done.signal })) {
          passed += events.length;
          if (passed >= count) done.abort();
        }
        expect(passed).toBe(count);
        expect(memoryInUse() - held).toBeLessThan(payload / 2);

        while (delivered < count) delivered += await take();
        expect(delivered).toBe(count);
        stop.abort();
        expect((await slow.next()).done).toBe(true);
      });

      it('ends without an error when it is aborted: while it waits, before it starts, or in the middle', async () => {
        const before = await store.head();
        await store.append(stream, 'no-stream', newEvents(20));
        const options = { after: before, categories: [category], batchSize: 2 };

        const waiting = new AbortController();
        for await (const batch of store.subscribe({ ...options, signal: waiting.signal })) {
          if (batch.caughtUp) setImmediate(() => waiting.abort());
        }
        for await (const _batch of store.subscribe({ ...options, signal: AbortSignal.abort() })) {
          throw new Error('aborted before it started');
        }
        await follow(store, options, atLeast(4));
      });

      it('can be ended by a break and started again', async () => {
        const before = await store.head();
        const events = newEvents(6);
        await store.append(stream, 'no-stream', events);
        const signal = new AbortController().signal;
        let through = before;
        const delivered: string[] = [];
        while (delivered.length < 6) {
          for await (const batch of store.subscribe({ after: through, categories: [category], batchSize: 2, signal })) {
            delivered.push(...idsOf(batch.events));
            through = batch.through;
            if (batch.events.length > 0) break;
          }
        }
        expect(delivered).toEqual(idsOf(events));
      });

      const drop = harness.dropSubscriptions;
      if (drop !== 'cannot-drop') {
        it.each(['error', 'end'] as const)(
          'stops when it is dropped by an %s, and misses no event when it is started again at its checkpoint',
          async (how) => {
            const before = await store.head();
            const total = 90;
            const events = newEvents(total);
            const signal = new AbortController().signal;
            const delivered: string[] = [];
            let through = before;
            let drops = 0;
            let appended = 0;
            let expected: ExpectedRevision = 'no-stream';
            while (delivered.length < total) {
              try {
                for await (const batch of store.subscribe({
                  after: through,
                  categories: [category],
                  batchSize: 4,
                  signal,
                })) {
                  delivered.push(...idsOf(batch.events));
                  through = batch.through;
                  if (delivered.length >= total) break;
                  if (!batch.caughtUp || delivered.length < appended) continue;
                  // Appends before the drop and while no subscription is open.
                  const answer: AppendOutcome = await store.append(
                    stream,
                    expected,
                    events.slice(appended, appended + 30),
                  );
                  if (answer.outcome === 'appended') expected = answer.revision;
                  appended += 30;
                  await drop(how);
                }
              } catch (error) {
                expect(error).toBeInstanceOf(EventStoreUnavailable);
              }
              drops++;
            }
            expect(drops).toBeGreaterThanOrEqual(3);
            expect(delivered).toEqual(idsOf(events));
          },
        );

        it('throws when it is dropped by an error', async () => {
          const subscription = follow(
            store,
            { after: await store.head(), categories: [category] },
            () => false,
            async () => {
              await drop('error');
            },
          );
          await expect(subscription).rejects.toBeInstanceOf(EventStoreUnavailable);
        });
      }
    });

    describe('availability', () => {
      it('answers a ping', async () => {
        await expect(store.ping()).resolves.toBeUndefined();
      });

      it('refuses work after close instead of hanging, and can be closed repeatedly', async () => {
        await store.append(stream, 'no-stream', newEvents(1));
        await store.close();
        await store.close();
        await expect(store.append(stream, 0, newEvents(1))).rejects.toBeInstanceOf(EventStoreUnavailable);
        await expect(store.readStream(stream)).rejects.toBeInstanceOf(EventStoreUnavailable);
        await expect(store.readAll(null, 1)).rejects.toBeInstanceOf(EventStoreUnavailable);
        await expect(store.ping()).rejects.toBeInstanceOf(EventStoreUnavailable);
      });

      it('has stored every acknowledged event when it is closed during appends', async () => {
        const writers = Array.from({ length: 20 }, () => `${category}-${newId()}`);
        const pending = writers.map((writer) => store.append(writer, 'no-stream', newEvents(2)));
        const [answers] = await Promise.all([Promise.allSettled(pending), store.close()]);
        store = await harness.reopen();
        for (const [index, writer] of writers.entries()) {
          const answer = answers[index]!;
          if (answer.status === 'fulfilled') expect(await store.readStream(writer)).toHaveLength(2);
          else expect(answer.reason).toBeInstanceOf(EventStoreUnavailable);
        }
      });

      it('ends its subscriptions when it is closed', async () => {
        const { signal } = new AbortController();
        const iteration = store
          .subscribe({ after: await store.head(), categories: [category], signal })
          [Symbol.asyncIterator]();
        while (!(await iteration.next()).value?.caughtUp);
        const [next] = await Promise.allSettled([iteration.next(), store.close()]);
        if (next.status === 'fulfilled') expect(next.value.done).toBe(true);
        else expect(next.reason).toBeInstanceOf(EventStoreUnavailable);
      });
    });
  });
}

/** The bytes that this process uses after a full garbage collection. */
function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
