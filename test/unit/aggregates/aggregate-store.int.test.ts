// The aggregate store reads, decides and appends on a real event store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { LastAnswer } from '../../../src/kernel/answered-call.js';
import type { Decider } from '../../../src/kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { systemContext, type ActionContext } from '../../../src/kernel/context.js';
import { AggregateStore, unstored } from '../../../src/platform/aggregates/aggregate-store.js';
import { untilStored } from '../../../src/platform/aggregates/decided.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import { TestTraffic } from '../../../src/platform/aggregates/test-traffic.js';
import { UpcastingEventStore } from '../../../src/platform/upcasting/upcasting-event-store.js';
import { Upcasting } from '../../../src/platform/upcasting/upcasters.js';
import {
  EventStoreUnavailable,
  type EventStore,
  type StreamAppend,
  type TogetherOutcome,
} from '../../../src/ports/event-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { SetClock } from '../../support/clock.js';
import { clock, CONTEXT, NOW, tally } from './tally.js';

const refused = expect.objectContaining({ code: 'service.unavailable' });
describe('the aggregate store', () => {
  let directory: string;
  let store: EmbeddedEventStore;
  let aggregates: AggregateStore;
  let id: string;
  let applied: (readonly RecordedEvent[])[];
  let conflicts: string[];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'aggregates-'));
    store = EmbeddedEventStore.open({ directory, mapSizeBytes: 64 * 2 ** 20 });
  });
  afterAll(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    id = newId();
    applied = [];
    conflicts = [];
    aggregates = storeOn(store);
  });

  const readModels = {
    applyNow: async (history: readonly RecordedEvent[]) => void applied.push(history),
  } as unknown as ReadModels;
  const storeOn = (events: EventStore): AggregateStore =>
    new AggregateStore(events, readModels, clock, { appendConflict: (category) => conflicts.push(category) });
  const count = (by = 1): Promise<unknown> => aggregates.execute(tally, id, { kind: 'count', by }, CONTEXT);
  const stream = (): Promise<RecordedEvent[]> => store.readStream(`tally-${id}`);

  /** Calls `act` before each append to the real store. */
  const before = (act: (attempt: number) => Promise<unknown>): EventStore => {
    let attempts = 0;
    return new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        if (name !== 'append' && name !== 'appendTogether')
          return typeof member === 'function' ? member.bind(target) : member;
        return async (...args: unknown[]): Promise<unknown> => {
          attempts += 1;
          await act(attempts);
          return member.apply(target, args);
        };
      },
    });
  };
  const rival = (by = 1): Promise<unknown> =>
    new AggregateStore(store, { applyNow: async () => undefined } as unknown as ReadModels, clock, {
      appendConflict: () => undefined,
    }).execute(tally, id, { kind: 'count', by }, CONTEXT);

  it('records who asked and how the vendor answered, and never the caller in clear text', async () => {
    const askedBy = { tokenId: 'token', addressHash: 'address' };
    const answered: LastAnswer = {};
    const context = { ...CONTEXT, askedBy, answered, caller: () => ({ address: '203.0.113.7', agent: null }) };
    await aggregates.execute(tally, id, { kind: 'count', by: 1 }, context);
    answered.answer = { vendor: 'first', operation: 'ask', outcome: 'well', latencyMs: 3 };
    await aggregates.execute(tally, id, { kind: 'count', by: 1 }, context);
    const [before, after] = await stream();
    expect(before?.metadata).toMatchObject({ askedBy });
    expect(before?.metadata).not.toHaveProperty('vendorCall');
    expect(after?.metadata).toMatchObject({ askedBy, vendorCall: answered.answer });
    expect(JSON.stringify([before, after])).not.toContain('203.0.113.7');
  });

  it('returns the initial state for an aggregate that was never stored', async () => {
    expect(await aggregates.load(tally, id)).toEqual({
      state: tally.initial,
      revision: null,
      owner: null,
      history: [],
    });
  });

  it('appends the decided events with their account, actor, time and cause', async () => {
    const handled = await aggregates.execute(tally, id, { kind: 'count', by: 3 }, CONTEXT);
    expect(handled).toMatchObject({ state: { total: 3, closed: false }, revision: 0 });
    const [event] = await stream();
    expect(event).toMatchObject({
      stream: `tally-${id}`,
      revision: 0,
      type: 'Counted',
      data: { by: 3 },
      metadata: {
        schemaVersion: 1,
        accountId: 'account-1',
        environment: 'test',
        occurredAt: NOW,
        $correlationId: 'request-1',
        $causationId: 'cause-1',
        actor: { kind: 'platform-token', id: 'key-1' },
      },
    });
    expect(handled.events).toEqual([{ ...event, position: '' }]);
    expect(handled.history).toEqual(handled.events);
  });

  it("gives events the account's time, and the machine's time beside it if the two differ", async () => {
    const ahead = new SetClock(Date.parse(NOW));
    const later = (seconds: number): Date => new Date(ahead.time + seconds * 1_000);
    ahead.of = async ({ environment }) => later(environment === 'test' ? 60 : 0);
    const observer = { appendConflict: () => undefined };
    const [each, grouped] = [
      new AggregateStore(store, readModels, ahead, observer),
      new GroupedStream(store, ahead, observer),
    ];
    const test = { ...CONTEXT, environment: 'test' } as const;
    for (const aggregate of [each, grouped]) {
      await aggregate.execute(tally, id, { kind: 'count', by: 1 }, test);
      await aggregate.execute(tally, id, { kind: 'count', by: 1 }, { ...test, at: later(30) });
      await aggregate.execute(tally, id, { kind: 'count', by: 1 }, { ...test, environment: 'live' });
    }
    const times = [
      { occurredAt: '2026-03-01T12:01:00.000Z', recordedAt: NOW },
      { occurredAt: '2026-03-01T12:00:30.000Z', recordedAt: NOW },
      { occurredAt: NOW },
    ];
    const stored = (await stream()).map(({ metadata: { occurredAt, recordedAt } }) => ({ occurredAt, recordedAt }));
    expect(stored).toEqual([...times, ...times]);
  });

  it('marks an event with the version in its type name', async () => {
    await count(12);
    expect((await stream()).map(({ type, metadata }) => [type, metadata.schemaVersion])).toEqual([
      ['Counted', 1],
      ['Closed.v2', 2],
    ]);
  });

  it('decides on all stored events, including events of another process', async () => {
    await count(2);
    await rival(3);
    expect(await aggregates.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT)).toMatchObject({
      state: { total: 6 },
      revision: 2,
    });
  });

  it('appends nothing when the decider refuses the command or decides no event', async () => {
    await count(0);
    expect(await stream()).toEqual([]);
    await aggregates.execute(tally, id, { kind: 'close' }, CONTEXT);
    await expect(count()).rejects.toMatchObject({ code: 'request.invalid' });
    expect(await stream()).toHaveLength(1);
    expect(applied).toHaveLength(1);
  });

  it('marks the context when an event was appended, and only then', async () => {
    const noted = async (work: (context: ActionContext) => Promise<unknown>): Promise<boolean> => {
      const effect = { done: false };
      await work({ ...CONTEXT, effect }).catch(() => undefined);
      return effect.done;
    };
    const by = (amount: number) => (context: ActionContext) =>
      aggregates.execute(tally, id, { kind: 'count', by: amount }, context);
    expect(await noted(by(0))).toBe(false);
    expect(await noted(by(1))).toBe(true);
    // The append of another process makes the first append conflict, and the second decision is a refusal.
    aggregates = storeOn(before(() => rival(12)));
    expect(
      await noted((context) =>
        aggregates.execute(tally, { id: newId(), known: unstored(tally.initial) }, { kind: 'count', by: 0 }, context),
      ),
    ).toBe(false);
    expect(await noted(by(1))).toBe(false);
    expect(conflicts).toEqual(['tally']);
    // The commands of a grouped stream are appended together, and each has a context of its own.
    const counting = (amount: number) => (context: ActionContext) =>
      grouped.execute(tally, longId, { kind: 'count', by: amount }, context);
    const grouped = new GroupedStream(store, clock, { appendConflict: () => undefined });
    const longId = newId();
    expect(await Promise.all([1, 0, 2].map((amount) => noted(counting(amount))))).toEqual([true, false, true]);
  });

  it('applies the whole history to the read models before it answers', async () => {
    await count(1);
    await count(12);
    expect(applied.map((history) => history.map(({ type, revision }) => `${type}@${revision}`))).toEqual([
      ['Counted@0'],
      ['Counted@0', 'Counted@1', 'Closed.v2@2'],
    ]);
  });

  it('leaves the update of read models to their subscription when the caller does not read its own write', async () => {
    await aggregates.execute(tally, id, { kind: 'count', by: 1 }, { ...CONTEXT, skipReadYourWrites: true });
    expect(applied).toEqual([]);
  });

  it('passes the appended events to the inline handlers after the read models and before the answer', async () => {
    const handled: string[] = [];
    const inline = {
      handleInline: async (events: readonly RecordedEvent[]) =>
        void handled.push(`${applied.length}: ${events.map(({ type, revision }) => `${type}@${revision}`).join()}`),
    };
    const none = { appendConflict: () => undefined };
    aggregates = new AggregateStore(store, readModels, clock, none, new TestTraffic(), inline);
    await count(1);
    await count(0);
    await count(12);
    expect(handled).toEqual(['1: Counted@0', '2: Counted@1,Closed.v2@2']);
  });

  it('chains the events of a stream within one append and across appends', async () => {
    await count(1);
    await count(2);
    const known = await aggregates.load(tally, id);
    const { history } = await aggregates.execute(tally, { id, known }, { kind: 'count', by: 9 }, CONTEXT);
    const stored = await stream();
    expect(history.map(({ metadata }) => metadata.chain)).toEqual(stored.map(({ metadata }) => metadata.chain));
    expect(stored).toHaveLength(4);
    let prev = genesisOf(`tally-${id}`);
    for (const event of stored) {
      const { chain, ...metadata } = event.metadata;
      expect(chain).toEqual(
        linkTo(prev, {
          id: event.id,
          type: event.type,
          stream: event.stream,
          revision: event.revision,
          data: event.data,
          metadata,
        }),
      );
      prev = chain.hash;
    }
  });

  it('decides on the state that the caller passes, without reading the stream', async () => {
    await count(1);
    const known = await aggregates.load(tally, id);
    const blind = storeOn(
      new Proxy(store, {
        get: (target, name) =>
          name === 'readStream'
            ? () => Promise.reject(new Error('read'))
            : (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target),
      }),
    );
    const next = await blind.execute(tally, { id, known }, { kind: 'count', by: 1 }, CONTEXT);
    expect(await blind.execute(tally, { id, known: next }, { kind: 'count', by: 1 }, CONTEXT)).toMatchObject({
      state: { total: 3 },
      revision: 2,
    });
  });

  it("decides again on the newest state when another process appended first, even if the caller's state is old", async () => {
    aggregates = storeOn(before(async (attempt) => (attempt <= 2 ? rival() : undefined)));
    expect(await aggregates.execute(tally, id, { kind: 'count', by: 3 }, CONTEXT)).toMatchObject({
      state: { total: 5 },
      revision: 2,
    });
    expect(conflicts).toEqual(['tally', 'tally']);
    const old = await aggregates.load(tally, id);
    await rival();
    expect(await aggregates.execute(tally, { id, known: old }, { kind: 'count', by: 1 }, CONTEXT)).toMatchObject({
      state: { total: 7 },
      revision: 4,
    });
  });

  it('refuses a command that an earlier append has made impossible', async () => {
    aggregates = storeOn(before(async (attempt) => (attempt === 1 ? rival(10) : undefined)));
    await expect(count()).rejects.toMatchObject({ code: 'request.invalid' });
    expect((await stream()).map(({ type }) => type)).toEqual(['Counted', 'Closed.v2']);
  });

  it('appends nothing when an earlier append had the same effect', async () => {
    const once: Decider<boolean, { readonly kind: 'once' }, DomainEvent<'Done', Record<never, never>>> = {
      category: 'tally',
      initial: false,
      decide: (_command, done) => (done ? [] : [{ type: 'Done', data: {} }]),
      evolve: () => true,
    };
    const first = new AggregateStore(store, readModels, clock, { appendConflict: () => undefined });
    aggregates = storeOn(
      before(async (attempt) => (attempt === 1 ? first.execute(once, id, { kind: 'once' }, CONTEXT) : undefined)),
    );
    expect(await aggregates.execute(once, id, { kind: 'once' }, CONTEXT)).toMatchObject({
      state: true,
      revision: 0,
      events: [],
    });
    expect(await stream()).toHaveLength(1);
  });

  it('succeeds after five conflicts', async () => {
    aggregates = storeOn(before(async (attempt) => (attempt <= 5 ? rival(0.5) : undefined)));
    expect(await count(1)).toMatchObject({ state: { total: 3.5 } });
  });

  it('fails with service.unavailable and stores nothing when every attempt conflicts', async () => {
    aggregates = storeOn(before(() => rival(0.001)));
    await expect(count()).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(conflicts).toHaveLength(10);
    expect((await stream()).every(({ data }) => (data as { by: number }).by === 0.001)).toBe(true);
  });

  it('pauses only between its attempts, for about four seconds in total', async () => {
    const pauses: number[] = [];
    jest.spyOn(Math, 'random').mockReturnValue(1);
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(((go: () => void, ms = 0) => {
      pauses.push(ms);
      setImmediate(go);
    }) as typeof setTimeout);
    try {
      await expect(untilStored(['tally'], async () => null)).rejects.toMatchObject({ code: 'service.unavailable' });
    } finally {
      jest.restoreAllMocks();
    }
    expect(pauses).toEqual([3, 9, 27, 81, 243, 729, 1_000, 1_000, 1_000]);
  });

  it('stores every one of 200 concurrent updates', async () => {
    await Promise.all(Array.from({ length: 200 }, () => count(0.03125)));
    expect((await aggregates.load(tally, id)).state.total).toBe(6.25);
    expect((await stream()).map(({ revision }) => revision)).toEqual(Array.from({ length: 200 }, (_, index) => index));
  });

  it('stores every concurrent update of several processes', async () => {
    const slow = before(() => new Promise((resolve) => setImmediate(resolve)));
    // With more processes, one of them may lose all of its tries by chance.
    const processes = Array.from({ length: 3 }, () => storeOn(slow));
    await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        processes[index % 3]!.execute(tally, id, { kind: 'count', by: 0.03125 }, CONTEXT),
      ),
    );
    expect((await aggregates.load(tally, id)).state.total).toBe(120 * 0.03125);
  });

  it('names the account of the first event as the owner, even if another account acts later', async () => {
    const owner = { accountId: 'account-1', environment: 'test' };
    const created = await aggregates.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT);
    const theirs = { ...CONTEXT, accountId: 'account-2', environment: 'live' } as const;
    const later = await aggregates.execute(tally, id, { kind: 'count', by: 1 }, theirs);
    for (const loaded of [created, later, await aggregates.load(tally, id)]) expect(loaded.owner).toEqual(owner);
  });

  it('appends without a read when the caller says that the aggregate is new, and decides again when it already exists', async () => {
    const reads: string[] = [];
    const watched = new Proxy(store, {
      get: (target, name) => {
        if (name === 'readStream') reads.push('read');
        return (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
      },
    });
    aggregates = storeOn(watched);
    expect(
      await aggregates.execute(tally, { id, known: unstored(tally.initial) }, { kind: 'count', by: 1 }, CONTEXT),
    ).toMatchObject({ revision: 0 });
    expect(reads).toEqual([]);
    expect(
      await aggregates.execute(tally, { id, known: unstored(tally.initial) }, { kind: 'count', by: 1 }, CONTEXT),
    ).toMatchObject({
      state: { total: 2 },
      revision: 1,
    });
  });

  describe('appending to several aggregates together', () => {
    let other: string;
    const counting = (on: string, by: number) => ({ decider: tally, id: on, command: { kind: 'count', by } }) as const;
    const inOther = (): Promise<RecordedEvent[]> => store.readStream(`tally-${other}`);
    /** A store that executes the appends one after the other. */
    const oneByOne = (act: (place: number) => Promise<unknown>): EventStore =>
      new Proxy(store, {
        get: (target, name) => {
          if (name !== 'appendTogether') return (Reflect.get(target, name) as () => unknown).bind(target);
          return async (appends: readonly StreamAppend[]): Promise<TogetherOutcome> => {
            for (const [index, { stream: to, expected, events }] of appends.entries()) {
              await act(index);
              const outcome = await target.append(to, expected, events);
              if (outcome.outcome === 'conflict') return { ...outcome, index, stored: index };
            }
            return { outcome: 'appended', revisions: appends.map(() => 0) };
          };
        },
      });

    beforeEach(() => {
      other = newId();
    });

    it('appends all events in their order, and returns the result of each command', async () => {
      const handled: string[] = [];
      const inline = {
        handleInline: async (events: readonly RecordedEvent[]) =>
          void handled.push(`${applied.length}: ${events.map((event) => event.stream).join()}`),
      };
      const none = { appendConflict: () => undefined };
      aggregates = new AggregateStore(store, readModels, clock, none, new TestTraffic(), inline);
      const before = await store.head();
      const results = await aggregates.appendTogether([counting(other, 2), counting(id, 12)], CONTEXT);
      expect(results).toMatchObject([
        { state: { total: 2, closed: false }, revision: 0, events: [{ type: 'Counted' }] },
        { state: { total: 12, closed: true }, revision: 1, events: [{ type: 'Counted' }, { type: 'Closed.v2' }] },
      ]);
      const streams = (await store.readAll(before, 10)).map((event) => event.stream);
      expect(streams).toEqual([`tally-${other}`, `tally-${id}`, `tally-${id}`]);
      expect(applied.map(([first]) => first?.stream)).toEqual([`tally-${other}`, `tally-${id}`]);
      expect(handled).toEqual([`2: tally-${other}`, `2: tally-${id},tally-${id}`]);
    });

    it('accepts commands of different deciders, and returns each result with its own type', async () => {
      type Named = DomainEvent<'Named', { readonly name: string }>;
      const names: Decider<readonly string[], { readonly name: string }, Named> = {
        category: 'names',
        initial: [],
        decide: ({ name }) => [{ type: 'Named', data: { name } }],
        evolve: (before, { data }) => [...before, data.name],
      };
      const named = [newId(), newId()].map((on) => ({ decider: names, id: on, command: { name: 'Ada' } }));
      const [counted, ...told] = await aggregates.appendTogether([counting(id, 2), ...named], CONTEXT);
      expect([counted.state.total, ...told.map(({ state }) => state[0])]).toEqual([2, 'Ada', 'Ada']);
      // @ts-expect-error -- a command of another decider
      const wrong = aggregates.appendTogether([{ decider: names, id, command: { kind: 'close' } }], CONTEXT);
      await expect(wrong).rejects.toThrow('name is of type undefined');
      expect(await aggregates.appendTogether([], CONTEXT)).toEqual([]);
    });

    it('stores nothing when any of the commands is refused', async () => {
      await rival(12);
      for (const on of [
        [id, other],
        [other, id],
      ] as const)
        await expect(
          aggregates.appendTogether([counting(on[0], 1), counting(on[1], 1)], CONTEXT),
        ).rejects.toMatchObject({ code: 'request.invalid' });
      expect(await inOther()).toEqual([]);
    });

    it('leaves out commands that decide no event', async () => {
      await aggregates.appendTogether([counting(other, 0), counting(id, 1)], CONTEXT);
      expect(await inOther()).toEqual([]);
      expect(await aggregates.appendTogether([counting(other, 1), counting(id, 0)], CONTEXT)).toMatchObject([
        { revision: 0, events: [{}] },
        { revision: 0, events: [] },
      ]);
      expect([await inOther(), await stream()].map((events) => events.length)).toEqual([1, 1]);
    });

    it('decides every command again when another append to one stream came first, and stores each event once', async () => {
      aggregates = storeOn(before(async (attempt) => (attempt <= 2 ? rival() : undefined)));
      const known = await aggregates.load(tally, id);
      const results = await aggregates.appendTogether([counting(other, 2), { ...counting(id, 3), known }], CONTEXT);
      expect(results).toMatchObject([{ state: { total: 2 } }, { state: { total: 5 }, revision: 2 }]);
      expect(conflicts).toEqual(['tally', 'tally']);
      expect(await inOther()).toHaveLength(1);
    });

    it('continues with the other appends when a conflict comes after the first one, and applies both to the read models', async () => {
      let rivals = 0;
      aggregates = storeOn(oneByOne(async (place) => (place === 1 && rivals++ === 0 ? rival() : undefined)));
      expect(await aggregates.appendTogether([counting(other, 2), counting(id, 3)], CONTEXT)).toMatchObject([
        { state: { total: 2 }, revision: 0 },
        { state: { total: 4 }, revision: 1 },
      ]);
      expect(await inOther()).toHaveLength(1);
      expect(applied.map((history) => history.length)).toEqual([1, 2]);
      expect(conflicts).toEqual(['tally']);
    });

    it('stores every concurrent append to the same two aggregates, in either order', async () => {
      await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          index % 2 === 0
            ? aggregates.appendTogether([counting(other, 0.03125), counting(id, 0.03125)], CONTEXT)
            : aggregates.appendTogether([counting(id, 0.03125), counting(other, 0.03125)], CONTEXT),
        ),
      );
      const totals = await Promise.all([id, other].map(async (on) => (await aggregates.load(tally, on)).state.total));
      expect(totals).toEqual([1.875, 1.875]);
      expect(conflicts).toEqual([]);
    });
  });

  it("folds one stream into two kinds of state, and gives the fold the events' metadata", async () => {
    const dates = {
      category: tally.category,
      initial: [] as readonly string[],
      evolve: (seen: readonly string[], { metadata }: RecordedEvent) => [...seen, metadata.occurredAt],
    };
    await count(1);
    await count(2);
    expect((await aggregates.load(dates, id)).state).toEqual([NOW, NOW]);
    expect((await aggregates.load(tally, id)).state).toMatchObject({ total: 3 });
  });

  it('passes on an outage of the log as an error, and applies nothing to the read models', async () => {
    aggregates = storeOn(before(() => Promise.reject(new EventStoreUnavailable('away'))));
    await expect(count()).rejects.toBeInstanceOf(EventStoreUnavailable);
    expect(applied).toEqual([]);
    expect(conflicts).toEqual([]);
  });

  it('continues the chain of the stored events when their stream holds old versions of events', async () => {
    await count(1);
    const upcasting = new Upcasting([
      { from: 'Counted', to: 'Counted.v2', upcast: (data) => ({ ...data, unit: 'piece' }) },
    ]);
    const modern = storeOn(new UpcastingEventStore(store, upcasting));
    await modern.execute(
      { ...tally, evolve: (state) => ({ ...state, total: state.total + 100 }) } as typeof tally,
      id,
      { kind: 'close' },
      CONTEXT,
    );
    const [old, added] = await stream();
    expect(old?.type).toBe('Counted');
    expect(added).toMatchObject({
      revision: 1,
      data: { at: 100 },
      metadata: { chain: { prev: old?.metadata.chain.hash } },
    });
  });
});

describe('test traffic and its share of the log', () => {
  let directory: string;
  let store: EmbeddedEventStore;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'test-share-'));
    store = EmbeddedEventStore.open({ directory, mapSizeBytes: 64 * 2 ** 20 });
  });
  afterAll(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const having = (used: number): AggregateStore =>
    new AggregateStore(
      store,
      { applyNow: async () => undefined } as unknown as ReadModels,
      clock,
      { appendConflict: () => undefined },
      new TestTraffic(() => used),
    );
  const LIVE: ActionContext = { ...CONTEXT, environment: 'live' };
  const SYSTEM: ActionContext = { ...CONTEXT, actor: { kind: 'system', id: 'recovery' } };
  const count = (used: number, context: ActionContext): Promise<unknown> =>
    having(used).execute(tally, newId(), { kind: 'count', by: 1 }, context);
  it('cannot start an aggregate when the share is used up, but can continue existing aggregates; live traffic is not limited', async () => {
    expect(() => new TestTraffic(() => 0.99).admit(CONTEXT)).not.toThrow();
    expect(() => new TestTraffic(() => 1).admit(CONTEXT)).toThrow(refused);
    expect(() => new TestTraffic(() => 1).admit(LIVE)).not.toThrow();
    await count(1.09, CONTEXT);
  });

  it("ends at 110 % of the share, while the service's own commands still run", async () => {
    await expect(count(1.1, CONTEXT)).rejects.toEqual(refused);
    await count(1.1, LIVE);
    await count(1.1, { ...CONTEXT, environment: null });
    await count(1.1, SYSTEM);
    const grouped = new GroupedStream(store, clock, { appendConflict: () => undefined }, new TestTraffic(() => 1.1));
    const counting = (context: ActionContext) => grouped.execute(tally, newId(), { kind: 'count', by: 1 }, context);
    await expect(counting(CONTEXT)).rejects.toEqual(refused);
    await counting(SYSTEM);
  });
});

describe("the context of the service's own commands", () => {
  it('names the acting part of the service, and the account and environment', () => {
    const context = systemContext('screening-sweep', { accountId: 'account-1', environment: 'live' });
    expect(context).toEqual({
      accountId: 'account-1',
      environment: 'live',
      actor: { kind: 'system', id: 'screening-sweep' },
      correlationId: context.causationId,
      causationId: context.correlationId,
      answered: {},
    });
    expect(systemContext('screening-sweep', { accountId: null, environment: null }).correlationId).not.toBe(
      context.correlationId,
    );
  });
});
