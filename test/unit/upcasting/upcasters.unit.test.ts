import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { UpcastingEventStore } from '../../../src/platform/upcasting/upcasting-event-store.js';
import { Upcasting, type Upcaster } from '../../../src/platform/upcasting/upcasters.js';
import type { AppendOutcome, EventBatch, EventStore, NewEvent } from '../../../src/ports/event-store.js';

const step = (from: string, to: string, upcast: Upcaster['upcast'] = (data) => data): Upcaster => ({
  from,
  to,
  upcast,
});
const stored = (type: string, data: object = {}): RecordedEvent =>
  ({
    id: 'id',
    stream: 'thing-1',
    revision: 4,
    position: '9',
    type,
    data,
    metadata: { schemaVersion: 1, chain: { alg: 'sha-256', prev: 'p', hash: 'h' } },
  }) as unknown as RecordedEvent;

const CHAIN = [
  step('Thing.v2', 'Thing.v3', (data) => ({ ...data, cents: (data as { amount: number }).amount * 100 })),
  step('Thing', 'Thing.v2', (data) => ({ ...data, amount: 1 })),
];

describe('upcasting', () => {
  it('reads every old version as the newest, one step after another', () => {
    const upcasting = new Upcasting(CHAIN);
    expect(upcasting.apply(stored('Thing', { id: 'a' }))).toEqual({
      ...stored('Thing.v3', { id: 'a', amount: 1, cents: 100 }),
    });
    expect(upcasting.apply(stored('Thing.v2', { amount: 3 }))).toEqual(stored('Thing.v3', { amount: 3, cents: 300 }));
  });

  it('leaves id, stream, revision, position, metadata and chain as stored', () => {
    const event = stored('Thing');
    const { type: _type, data: _data, ...rest } = new Upcasting(CHAIN).apply(event);
    const { type: _oldType, data: _oldData, ...before } = event;
    expect(rest).toEqual(before);
    expect(event).toEqual(stored('Thing'));
  });

  it('passes on the newest version and unknown types unchanged', () => {
    const upcasting = new Upcasting(CHAIN);
    for (const event of [stored('Thing.v3', { cents: 5 }), stored('Other')]) expect(upcasting.apply(event)).toBe(event);
    const event = stored('Thing');
    expect(new Upcasting([]).apply(event)).toBe(event);
  });

  it('refuses two upcasters of one version at the start', () => {
    expect(() => new Upcasting([step('Thing', 'Thing.v2'), step('Thing', 'Thing.v3')])).toThrow(
      'Two upcasters read Thing',
    );
  });

  it('refuses a cycle of any length at the start', () => {
    expect(() => new Upcasting([step('A', 'A')])).toThrow('circle');
    expect(() => new Upcasting([step('A', 'B'), step('B', 'A')])).toThrow('circle');
    expect(() => new Upcasting([step('Start', 'A'), step('A', 'B'), step('B', 'C'), step('C', 'A')])).toThrow('circle');
  });

  it('lets two old types become the same new type', () => {
    const upcasting = new Upcasting([step('A', 'C'), step('B', 'C'), step('C', 'D')]);
    expect(['A', 'B', 'C'].map((type) => upcasting.apply(stored(type)).type)).toEqual(['D', 'D', 'D']);
  });
});

describe('the upcasting event store', () => {
  const raw = {
    readStream: async () => [stored('Thing.v2', { amount: 1 })],
    readAll: async () => [stored('Thing.v2', { amount: 2 }), stored('Other')],
    head: async () => '9',
    append: async (): Promise<AppendOutcome> => ({ outcome: 'appended', revision: 5 }),
    async *subscribe(): AsyncGenerator<EventBatch> {
      yield { events: [stored('Thing.v2', { amount: 3 })], through: '9', caughtUp: true };
    },
    ping: async () => undefined,
    close: async () => undefined,
  } as unknown as EventStore;
  const store = new UpcastingEventStore(raw, new Upcasting(CHAIN));

  it('upcasts the events of every read', async () => {
    expect(await store.readStream('thing-1')).toEqual([stored('Thing.v3', { amount: 1, cents: 100 })]);
    expect(await store.readAll(null, 10)).toEqual([stored('Thing.v3', { amount: 2, cents: 200 }), stored('Other')]);
    const batches: EventBatch[] = [];
    for await (const batch of store.subscribe({ after: null, signal: new AbortController().signal }))
      batches.push(batch);
    expect(batches).toEqual([
      { events: [stored('Thing.v3', { amount: 3, cents: 300 })], through: '9', caughtUp: true },
    ]);
  });

  it('appends events unchanged, and gives audits the stored events', async () => {
    expect(await store.append('thing-1', 4, [{} as NewEvent])).toEqual({ outcome: 'appended', revision: 5 });
    expect(await store.head()).toBe('9');
    expect(await store.raw.readStream('thing-1')).toEqual([stored('Thing.v2', { amount: 1 })]);
  });
});
