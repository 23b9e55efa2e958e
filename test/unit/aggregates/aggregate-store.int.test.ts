// The read-decide-append loop on a real store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { SetClock } from '../../support/clock.js';
import type { Change } from '../../../src/kernel/change.js';
import type { Decider } from '../../../src/kernel/decider.js';
import type { DomainEvent, RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { systemContext, type ActionContext } from '../../../src/kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../src/platform/aggregates/aggregate-store.js';
import { AggregateCache } from '../../../src/platform/aggregates/aggregate-cache.js';
import { UpcastingEventStore } from '../../../src/platform/upcasting/upcasting-event-store.js';
import { Upcasting } from '../../../src/platform/upcasting/upcasters.js';
import {
  EventStoreUnavailable,
  type EventStore,
  type StreamAppend,
  type TogetherOutcome,
} from '../../../src/ports/event-store.js';
import type { ReadModels } from '../../../src/ports/read-models.js';

type TallyEvent = DomainEvent<'Counted', { readonly by: number }> | DomainEvent<'Closed.v2', { readonly at: number }>;
type TallyCommand = { readonly kind: 'count'; readonly by: number } | { readonly kind: 'close' };
interface Tally {
  readonly total: number;
  readonly closed: boolean;
}

/** Counts up to ten, then closes; a count of nothing changes nothing. */
const tally: Decider<Tally, TallyCommand, TallyEvent> = {
  category: 'tally',
  initial: { total: 0, closed: false },
  decide(command, state) {
    if (state.closed) throw new DomainError('request.invalid');
    if (command.kind === 'close') return [{ type: 'Closed.v2', data: { at: state.total } }];
    if (command.by === 0) return [];
    const counted: TallyEvent = { type: 'Counted', data: { by: command.by } };
    return state.total + command.by >= 10
      ? [counted, { type: 'Closed.v2', data: { at: state.total + command.by } }]
      : [counted];
  },
  evolve: (state, event) =>
    event.type === 'Counted' ? { ...state, total: state.total + event.data.by } : { ...state, closed: true },
};

const NOW = '2026-03-01T12:00:00.000Z';
const clock = new SetClock(Date.parse(NOW));
const CONTEXT: ActionContext = {
  accountId: 'account-1',
  environment: 'test',
  actor: { kind: 'platform-token', id: 'key-1' },
  correlationId: 'request-1',
  causationId: 'cause-1',
};

const refused = expect.objectContaining({ code: 'service.unavailable' });

describe('aggregates a command', () => {
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
    aggregates = handlingOn(store);
  });

  const readModels = {
    applyNow: async (history: readonly RecordedEvent[]) => void applied.push(history),
  } as unknown as ReadModels;
  const handlingOn = (events: EventStore): AggregateStore =>
    new AggregateStore(events, readModels, clock, { appendConflict: (category) => conflicts.push(category) });
  const count = (by = 1): Promise<unknown> => aggregates.execute(tally, id, { kind: 'count', by }, CONTEXT);
  const stream = (): Promise<RecordedEvent[]> => store.readStream(`tally-${id}`);

  /** The real store, but something happens before an append. */
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

  it('loads what was never stored as the initial state', async () => {
    expect(await aggregates.load(tally, id)).toEqual({
      state: tally.initial,
      revision: null,
      owner: null,
      history: [],
    });
  });

  it('appends what the decider decides, with who, when, why and for whom', async () => {
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

  it('marks an event with the version its type names', async () => {
    await count(12);
    expect((await stream()).map(({ type, metadata }) => [type, metadata.schemaVersion])).toEqual([
      ['Counted', 1],
      ['Closed.v2', 2],
    ]);
  });

  it('is told by the state of the log, whoever appended it', async () => {
    await count(2);
    await rival(3);
    expect(await aggregates.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT)).toMatchObject({
      state: { total: 6 },
      revision: 2,
    });
  });

  it('appends nothing when nothing is decided, or when it is refused', async () => {
    await count(0);
    expect(await stream()).toEqual([]);
    await aggregates.execute(tally, id, { kind: 'close' }, CONTEXT);
    await expect(count()).rejects.toMatchObject({ code: 'request.invalid' });
    expect(await stream()).toHaveLength(1);
    expect(applied).toHaveLength(1);
  });

  it('notes in the context that something was appended, and only then', async () => {
    const noted = async (work: (context: ActionContext) => Promise<unknown>): Promise<boolean> => {
      const effect = { done: false };
      await work({ ...CONTEXT, effect }).catch(() => undefined);
      return effect.done;
    };
    const by = (amount: number) => (context: ActionContext) =>
      aggregates.execute(tally, id, { kind: 'count', by: amount }, context);
    expect(await noted(by(0))).toBe(false);
    expect(await noted(by(1))).toBe(true);
    // It loses to the rival, and then the aggregate refuses.
    aggregates = handlingOn(before(() => rival(12)));
    expect(await noted((context) => aggregates.create(tally, newId(), { kind: 'count', by: 0 }, context))).toBe(false);
    expect(await noted(by(1))).toBe(false);
    expect(conflicts).toEqual(['tally']);
    // Commands of a long stream are appended together; each has a context of its own.
    const long = { ...tally, longLived: true } as const;
    const counting = (amount: number) => (context: ActionContext) =>
      handlingTogether.execute(long, longId, { kind: 'count', by: amount }, context);
    const [handlingTogether, longId] = [handlingOn(store), newId()];
    expect(await Promise.all([1, 0, 2].map((amount) => noted(counting(amount))))).toEqual([true, false, true]);
  });

  it('shows the read models the whole history before it answers', async () => {
    await count(1);
    await count(12);
    expect(applied.map((history) => history.map(({ type, revision }) => `${type}@${revision}`))).toEqual([
      ['Counted@0'],
      ['Counted@0', 'Counted@1', 'Closed.v2@2'],
    ]);
  });

  it('leaves the read models to their subscription when nobody reads at once, until the aggregate is to be shown', async () => {
    const quiet = { ...CONTEXT, skipReadYourWrites: true } as const;
    const known = await aggregates.execute(tally, id, { kind: 'count', by: 1 }, quiet);
    expect(applied).toEqual([]);
    await aggregates.show(known);
    expect(applied).toEqual([known.history]);
  });

  it('hands what was appended to the inline handlers, after the read models and before it answers', async () => {
    const handled: string[] = [];
    const inline = {
      handleInline: async (events: readonly RecordedEvent[]) =>
        void handled.push(`${applied.length}: ${events.map(({ type, revision }) => `${type}@${revision}`).join()}`),
    };
    const none = { appendConflict: () => undefined };
    aggregates = new AggregateStore(store, readModels, clock, none, () => 0, inline);
    await count(1);
    await count(0);
    await count(12);
    expect(handled).toEqual(['1: Counted@0', '2: Counted@1,Closed.v2@2']);
  });

  it('chains the events of a stream, within an append and from append to append', async () => {
    await count(1);
    await count(2);
    const known = await aggregates.load(tally, id);
    const { history } = await aggregates.execute(tally, id, { kind: 'count', by: 9 }, CONTEXT, known);
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

  it('goes on from what the caller knows, without reading again', async () => {
    await count(1);
    const known = await aggregates.load(tally, id);
    const blind = handlingOn(
      new Proxy(store, {
        get: (target, name) =>
          name === 'readStream'
            ? () => Promise.reject(new Error('read'))
            : (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target),
      }),
    );
    const next = await blind.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT, known);
    expect(await blind.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT, next)).toMatchObject({
      state: { total: 3 },
      revision: 2,
    });
  });

  it('decides again on what is there when somebody was faster, also when what the caller knew is old', async () => {
    aggregates = handlingOn(before(async (attempt) => (attempt <= 2 ? rival() : undefined)));
    expect(await aggregates.execute(tally, id, { kind: 'count', by: 3 }, CONTEXT)).toMatchObject({
      state: { total: 5 },
      revision: 2,
    });
    expect(conflicts).toEqual(['tally', 'tally']);
    const old = await aggregates.load(tally, id);
    await rival();
    expect(await aggregates.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT, old)).toMatchObject({
      state: { total: 7 },
      revision: 4,
    });
  });

  it('refuses on what is there when the one who was faster made it impossible', async () => {
    aggregates = handlingOn(before(async (attempt) => (attempt === 1 ? rival(10) : undefined)));
    await expect(count()).rejects.toMatchObject({ code: 'request.invalid' });
    expect((await stream()).map(({ type }) => type)).toEqual(['Counted', 'Closed.v2']);
  });

  it('decides nothing more when the one who was faster did it already', async () => {
    const once: Decider<boolean, { readonly kind: 'once' }, DomainEvent<'Done', Record<never, never>>> = {
      category: 'tally',
      initial: false,
      decide: (_command, done) => (done ? [] : [{ type: 'Done', data: {} }]),
      evolve: () => true,
    };
    const first = new AggregateStore(store, readModels, clock, { appendConflict: () => undefined });
    aggregates = handlingOn(
      before(async (attempt) => (attempt === 1 ? first.execute(once, id, { kind: 'once' }, CONTEXT) : undefined)),
    );
    expect(await aggregates.execute(once, id, { kind: 'once' }, CONTEXT)).toMatchObject({
      state: true,
      revision: 0,
      events: [],
    });
    expect(await stream()).toHaveLength(1);
  });

  it('goes on against others that are quicker fifty times', async () => {
    aggregates = handlingOn(before(async (attempt) => (attempt <= 50 ? rival(0.0625) : undefined)));
    expect(await count(1)).toMatchObject({ state: { total: 4.125 } });
  });

  it('gives up with service.unavailable while a stream stays contended, having stored nothing', async () => {
    aggregates = handlingOn(before(() => rival(0.001)));
    await expect(count()).rejects.toMatchObject({ code: 'service.unavailable' });
    expect(conflicts).toHaveLength(100);
    expect((await stream()).every(({ data }) => (data as { by: number }).by === 0.001)).toBe(true);
  });

  it('loses no update of many at once, and none of them gives up', async () => {
    await Promise.all(Array.from({ length: 200 }, () => count(0.03125)));
    expect((await aggregates.load(tally, id)).state.total).toBe(6.25);
    expect((await stream()).map(({ revision }) => revision)).toEqual(Array.from({ length: 200 }, (_, index) => index));
  });

  it('loses no update of several processes at once, and none of them gives up', async () => {
    const slow = before(() => new Promise((resolve) => setImmediate(resolve)));
    const processes = Array.from({ length: 6 }, () => handlingOn(slow));
    await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        processes[index % 6]!.execute(tally, id, { kind: 'count', by: 0.03125 }, CONTEXT),
      ),
    );
    expect((await aggregates.load(tally, id)).state.total).toBe(120 * 0.03125);
  });

  it('says whose an aggregate is, as its first event does, whoever acts on it later', async () => {
    const owner = { accountId: 'account-1', environment: 'test' };
    const created = await aggregates.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT);
    const theirs = { ...CONTEXT, accountId: 'account-2', environment: 'live' } as const;
    const later = await aggregates.execute(tally, id, { kind: 'count', by: 1 }, theirs);
    for (const loaded of [created, later, await aggregates.load(tally, id)]) expect(loaded.owner).toEqual(owner);
  });

  it('creates without a read, and decides again on what is there when it is not new', async () => {
    const reads: string[] = [];
    const watched = new Proxy(store, {
      get: (target, name) => {
        if (name === 'readStream') reads.push('read');
        return (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
      },
    });
    aggregates = handlingOn(watched);
    expect(await aggregates.create(tally, id, { kind: 'count', by: 1 }, CONTEXT)).toMatchObject({ revision: 0 });
    expect(reads).toEqual([]);
    expect(await aggregates.create(tally, id, { kind: 'count', by: 1 }, CONTEXT)).toMatchObject({
      state: { total: 2 },
      revision: 1,
    });
  });

  describe('together with those of other aggregates', () => {
    let other: string;
    const counting = (on: string, by: number) => ({ decider: tally, id: on, command: { kind: 'count', by } }) as const;
    const inOther = (): Promise<RecordedEvent[]> => store.readStream(`tally-${other}`);
    /** As a store has it that makes appends one after the other. */
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

    it('appends all at once in their order, and gives what became of each', async () => {
      const handled: string[] = [];
      const inline = {
        handleInline: async (events: readonly RecordedEvent[]) =>
          void handled.push(`${applied.length}: ${events.map((event) => event.stream).join()}`),
      };
      const none = { appendConflict: () => undefined };
      aggregates = new AggregateStore(store, readModels, clock, none, () => 0, inline);
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

    it('takes commands of different deciders, any number of one, and tells of each in its own words', async () => {
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

    it('stores none when one is refused, whichever', async () => {
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

    it('leaves out those that change nothing', async () => {
      await aggregates.appendTogether([counting(other, 0), counting(id, 1)], CONTEXT);
      expect(await inOther()).toEqual([]);
      expect(await aggregates.appendTogether([counting(other, 1), counting(id, 0)], CONTEXT)).toMatchObject([
        { revision: 0, events: [{}] },
        { revision: 0, events: [] },
      ]);
      expect([await inOther(), await stream()].map((events) => events.length)).toEqual([1, 1]);
    });

    it('decides all of them again on what is there when somebody was faster with one, and stores each once', async () => {
      aggregates = handlingOn(before(async (attempt) => (attempt <= 2 ? rival() : undefined)));
      const known = await aggregates.load(tally, id);
      const results = await aggregates.appendTogether([counting(other, 2), { ...counting(id, 3), known }], CONTEXT);
      expect(results).toMatchObject([{ state: { total: 2 } }, { state: { total: 5 }, revision: 2 }]);
      expect(conflicts).toEqual(['tally', 'tally']);
      expect(await inOther()).toHaveLength(1);
    });

    it('goes on with the rest where a conflict comes after the first was stored, which is shown too', async () => {
      let rivals = 0;
      aggregates = handlingOn(oneByOne(async (place) => (place === 1 && rivals++ === 0 ? rival() : undefined)));
      expect(await aggregates.appendTogether([counting(other, 2), counting(id, 3)], CONTEXT)).toMatchObject([
        { state: { total: 2 }, revision: 0 },
        { state: { total: 4 }, revision: 1 },
      ]);
      expect(await inOther()).toHaveLength(1);
      expect(applied.map((history) => history.length)).toEqual([1, 2]);
      expect(conflicts).toEqual(['tally']);
    });

    it('lets many at once on the same two aggregates, in either order, all through', async () => {
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

  it('passes an outage of the log on, and shows the read models nothing', async () => {
    aggregates = handlingOn(before(() => Promise.reject(new EventStoreUnavailable('away'))));
    await expect(count()).rejects.toBeInstanceOf(EventStoreUnavailable);
    expect(applied).toEqual([]);
    expect(conflicts).toEqual([]);
  });

  it('appends to a stream of old versions with the chain of what is stored', async () => {
    await count(1);
    const upcasting = new Upcasting([
      { from: 'Counted', to: 'Counted.v2', upcast: (data) => ({ ...data, unit: 'piece' }) },
    ]);
    const modern = handlingOn(new UpcastingEventStore(store, upcasting));
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

describe('aggregates commands of an endless stream', () => {
  let directory: string;
  let store: EmbeddedEventStore;
  let id: string;
  let reads: { readonly stream: string; readonly from: number }[];
  /** How many events were appended at once, to one stream. */
  let appends: number[];
  let conflicts: number;

  const endless: typeof tally = {
    ...tally,
    category: 'endless',
    longLived: true,
    decide: (command) =>
      command.kind === 'count' && command.by !== 0 ? [{ type: 'Counted', data: { by: command.by } }] : [],
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'endless-'));
    store = EmbeddedEventStore.open({ directory, mapSizeBytes: 256 * 2 ** 20 });
  });
  afterAll(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    id = newId();
    [reads, appends, conflicts] = [[], [], 0];
  });

  /** Notes what is read and appended. */
  const watched = (): EventStore =>
    new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        if (name === 'append')
          return (...args: Parameters<EventStore['append']>) => {
            appends.push(args[2].length);
            return target.append(...args);
          };
        if (name !== 'readStream') return typeof member === 'function' ? member.bind(target) : member;
        return (stream: string, options?: { from?: number }) => {
          reads.push({ stream, from: options?.from ?? 0 });
          return target.readStream(stream, options);
        };
      },
    });
  /** What a process of its own has. */
  const aHandling = (): AggregateStore => {
    const none = {
      applyNow: () => Promise.reject(new Error('a part of the history was shown to the read models')),
    } as unknown as ReadModels;
    return new AggregateStore(watched(), none, clock, { appendConflict: () => (conflicts += 1) });
  };
  const count = (aggregates: AggregateStore, by: number, of = id) =>
    aggregates.execute(endless, of, { kind: 'count', by }, CONTEXT);

  it('reads only what is newer than what this process has seen', async () => {
    const ours = aHandling();
    for (const by of [1, 2, 3]) await count(ours, by);
    expect(reads.map(({ from }) => from)).toEqual([0, 1, 2]);
    expect(await ours.load(endless, id)).toMatchObject({ state: { total: 6 }, revision: 2 });
  });

  it('says whose a long-lived aggregate is, though only its newest event is at hand', async () => {
    const owner = { accountId: 'account-1', environment: 'test' };
    const [ours, theirs] = [aHandling(), aHandling()];
    await count(ours, 1);
    const later = { ...CONTEXT, accountId: 'account-2' };
    expect(await ours.execute(endless, id, { kind: 'count', by: 1 }, later)).toMatchObject({ owner });
    expect(await theirs.load(endless, id)).toMatchObject({ owner, history: [{ revision: 1 }] });
    await theirs.execute(endless, id, { kind: 'count', by: 1 }, later);
    expect(await ours.load(endless, id)).toMatchObject({ owner, history: [{ revision: 2 }] });
  });

  describe('that come at once', () => {
    const closing: typeof tally = { ...tally, category: 'closing', longLived: true };
    const counting = (aggregates: AggregateStore, known?: LoadedAggregate<Tally>): Promise<number | string> =>
      aggregates.execute(closing, id, { kind: 'count', by: 1 }, CONTEXT, known).then(
        ({ state }) => state.total,
        (error: DomainError) => error.code,
      );
    const twelveOf = (aggregates: AggregateStore) =>
      Promise.all(Array.from({ length: 12 }, () => counting(aggregates)));
    const stored = async (): Promise<string[]> => (await store.readStream(`closing-${id}`)).map(({ type }) => type);

    it('decides each on what those before it left, and appends them together', async () => {
      const ours = aHandling();
      expect(await twelveOf(ours)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 'request.invalid', 'request.invalid']);
      expect(await stored()).toEqual([...Array.from({ length: 10 }, () => 'Counted'), 'Closed.v2']);
      expect(appends).toEqual([11]);
      expect(await ours.load(closing, id)).toMatchObject({ state: { total: 10, closed: true }, revision: 10 });
    });

    it('decides all of them again when another process was quicker, and answers with what was stored then', async () => {
      const fourOf = (aggregates: AggregateStore) =>
        Promise.all([1, 2, 3, 4].map(() => aggregates.execute(closing, id, { kind: 'count', by: 1 }, CONTEXT)));
      const [ours, theirs] = await Promise.all([fourOf(aHandling()), fourOf(aHandling())]);
      expect(conflicts).toBeGreaterThan(0);
      const byRevision = [...ours, ...theirs].sort((one, other) => Number(one.revision) - Number(other.revision));
      expect(byRevision.map(({ revision, state: { total } }) => [revision, total])).toEqual(
        [1, 2, 3, 4, 5, 6, 7, 8].map((total) => [total - 1, total]),
      );
      expect(byRevision.flatMap(({ events }) => events.map(({ id: eventId }) => eventId))).toEqual(
        (await store.readStream(`closing-${id}`)).map(({ id: eventId }) => eventId),
      );
    });

    it('refuses none of them before what the refusal rests on is stored', async () => {
      const away = new Proxy(store, {
        get: (target, name) =>
          name === 'append'
            ? () => Promise.reject(new EventStoreUnavailable('away'))
            : (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target),
      });
      const ours = new AggregateStore(away, {} as ReadModels, clock, { appendConflict: () => undefined });
      const told = [{ kind: 'count', by: 10 } as const, { kind: 'count', by: 1 } as const].map((command) =>
        ours.execute(closing, id, command, CONTEXT).catch((error: Error) => error.message),
      );
      expect(await Promise.all(told)).toEqual(['away', 'away']);
    });

    it('decides each by itself when one of them cannot be stored', async () => {
      const unstorable: Change<Tally, TallyEvent>['decide'] = () => [{ type: 'Closed.v2', data: { at: Number.NaN } }];
      const ours = aHandling();
      const first = ours.executeTogether([], { decider: closing, id, decide: unstorable }, CONTEXT);
      const outcomes = await Promise.all([first.catch(() => 'not stored'), counting(ours)]);
      expect(outcomes).toEqual(['not stored', 1]);
      expect(await stored()).toEqual(['Counted']);
    });

    it('decides one by itself that is handed a state or goes with another stream, between the others', async () => {
      const ours = aHandling();
      const known = await ours.load(closing, id);
      const earlier: Change<Tally, TallyEvent> = {
        decider: { ...tally, category: 'beside' },
        id,
        decide: () => [{ type: 'Counted', data: { by: 1 } }],
      };
      const last: Change<Tally, TallyEvent> = {
        decider: closing,
        id,
        decide: (state) => tally.decide({ kind: 'count', by: 1 }, state),
      };
      const outcomes = await Promise.all([
        counting(ours),
        counting(ours, known),
        ours
          .executeTogether([earlier], last, { ...CONTEXT, skipReadYourWrites: true })
          .then(({ state }) => state.total),
        counting(ours),
      ]);
      expect([...outcomes].sort()).toEqual([1, 2, 3, 4]);
      expect((await stored()).length).toBe(4);
      expect(await store.readStream(`beside-${id}`)).toHaveLength(1);
      // Both that may be gathered; what goes with another stream is no append of one; the state that was handed over is old by then.
      expect([appends, conflicts]).toEqual([[2, 1, 1], 1]);
    });
  });

  it('sees what another process appended, though it remembers an older state', async () => {
    const [ours, theirs] = [aHandling(), aHandling()];
    await count(ours, 1);
    expect(await count(theirs, 2)).toMatchObject({ state: { total: 3 }, revision: 1 });
    expect(await ours.load(endless, id)).toMatchObject({ state: { total: 3 }, revision: 1 });
    expect(await count(ours, 4)).toMatchObject({ state: { total: 7 }, revision: 2 });
  });

  it('loses no update of two processes that compete, and chains all of them', async () => {
    const both = [aHandling(), aHandling()];
    await Promise.all(Array.from({ length: 30 }, (_, index) => count(both[index % 2]!, 0.25)));
    for (const one of both) expect(await one.load(endless, id)).toMatchObject({ state: { total: 7.5 }, revision: 29 });
    let prev = genesisOf(`endless-${id}`);
    for (const event of await store.readStream(`endless-${id}`)) {
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

  it('lets many at once in one process take turns, without a conflict', async () => {
    const ours = aHandling();
    await Promise.all(Array.from({ length: 200 }, () => count(ours, 0.03125)));
    expect(conflicts).toBe(0);
    expect(await ours.load(endless, id)).toMatchObject({ state: { total: 6.25 }, revision: 199 });
  });

  it('goes on with the next when one fails', async () => {
    const ours = aHandling();
    const broken: typeof endless = {
      ...endless,
      decide: () => {
        throw new DomainError('request.invalid');
      },
    };
    const failing = ours.execute(broken, id, { kind: 'close' }, CONTEXT);
    const next = count(ours, 1);
    await expect(failing).rejects.toMatchObject({ code: 'request.invalid' });
    expect(await next).toMatchObject({ revision: 0 });
  });

  it('decides on what is there when what the caller knew is old', async () => {
    const [ours, theirs] = [aHandling(), aHandling()];
    const old = await ours.load(endless, id);
    await count(theirs, 5);
    expect(await ours.execute(endless, id, { kind: 'count', by: 1 }, CONTEXT, old)).toMatchObject({
      state: { total: 6 },
      revision: 1,
    });
  });

  it('folds a long stream piece by piece, once', async () => {
    let known = await aHandling().load(endless, id);
    const writer = aHandling();
    const many: typeof endless = {
      ...endless,
      decide: () => Array.from({ length: 850 }, () => ({ type: 'Counted' as const, data: { by: 1 } })),
    };
    for (let batch = 0; batch < 3; batch++)
      known = await writer.execute(many, id, { kind: 'count', by: 1 }, CONTEXT, known);
    reads = [];
    const ours = aHandling();
    expect(await ours.load(endless, id)).toMatchObject({
      state: { total: 2_550 },
      revision: 2_549,
      history: [{ revision: 2_549 }],
    });
    expect(await ours.load(endless, id)).toMatchObject({ revision: 2_549, history: [{ revision: 2_549 }] });
    expect(reads.map(({ from }) => from)).toEqual([0, 1_000, 2_000, 2_550]);
  });

  it('remembers as many streams as its room allows, those used last', async () => {
    const [first, second] = [newId(), newId()];
    for (const [stream, by] of [
      [first, 1],
      [second, 2],
    ] as const)
      await count(aHandling(), by, stream);
    const seen = new AggregateCache(watched(), 10_000);
    const load = (stream: string): Promise<LoadedAggregate<Tally>> => seen.load(endless, `endless-${stream}`);
    await load(first);
    await load(second);
    for (let other = 0; other < 10; other++) {
      const stream = newId();
      await count(aHandling(), 1, stream);
      await load(stream);
      await load(first);
    }
    reads = [];
    expect(await load(first)).toMatchObject({ state: { total: 1 } });
    expect(await load(second)).toMatchObject({ state: { total: 2 } });
    expect(reads.map(({ from }) => from)).toEqual([1, 0]);
  });

  it('does not take an aggregate that changed nothing, or does not exist, for one that does', async () => {
    const ours = aHandling();
    expect(await ours.load(endless, id)).toEqual({ state: endless.initial, revision: null, owner: null, history: [] });
    await count(ours, 0);
    expect(await store.readStream(`endless-${id}`)).toEqual([]);
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
      () => used,
    );
  const LIVE: ActionContext = { ...CONTEXT, environment: 'live' };
  const SYSTEM: ActionContext = { ...CONTEXT, actor: { kind: 'system', id: 'sweep' } };
  const count = (used: number, context: ActionContext): Promise<unknown> =>
    having(used).execute(tally, newId(), { kind: 'count', by: 1 }, context);
  it('begins nothing once the share is used up, and goes on with what it has begun; live traffic begins', async () => {
    expect(() => having(0.99).admit(CONTEXT)).not.toThrow();
    expect(() => having(1).admit(CONTEXT)).toThrow(refused);
    expect(() => having(1).admit(LIVE)).not.toThrow();
    await count(1.09, CONTEXT);
  });

  it('does nothing more at a tenth beyond; what the service does by itself goes on, so that nothing waits behind it', async () => {
    await expect(count(1.1, CONTEXT)).rejects.toEqual(refused);
    await count(1.1, LIVE);
    await count(1.1, { ...CONTEXT, environment: null });
    await count(1.1, SYSTEM);
  });
});

describe('glancing at a stream that is no endless one', () => {
  it('reads once what was seen, and always what is newer, whoever appended it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'glance-'));
    const store = EmbeddedEventStore.open({ directory, mapSizeBytes: 64 * 2 ** 20 });
    try {
      const read: string[] = [];
      const watched = new Proxy(store, {
        get: (target, name) => {
          const member = Reflect.get(target, name) as (...args: unknown[]) => unknown;
          if (name !== 'readStream') return typeof member === 'function' ? member.bind(target) : member;
          return async (...args: Parameters<EventStore['readStream']>) => {
            const events = await target.readStream(...args);
            read.push(...events.map(({ id }) => id));
            return events;
          };
        },
      });
      const shown = { applyNow: async () => undefined } as unknown as ReadModels;
      const [ours, theirs] = [
        new AggregateStore(watched, shown, clock, { appendConflict: () => undefined }),
        new AggregateStore(store, shown, clock, { appendConflict: () => undefined }),
      ];
      const id = newId();
      expect(await ours.loadCached(tally, id)).toEqual({ state: tally.initial, owner: null, last: null });
      const first = await theirs.execute(tally, id, { kind: 'count', by: 1 }, CONTEXT);
      for (let look = 0; look < 3; look++)
        expect(await ours.loadCached(tally, id)).toMatchObject({
          state: { total: 1 },
          last: { id: first.events[0]?.id },
        });
      const second = await theirs.execute(tally, id, { kind: 'count', by: 2 }, CONTEXT);
      expect(await ours.loadCached(tally, id)).toMatchObject({
        state: { total: 3 },
        last: { id: second.events.at(-1)?.id },
      });
      expect(read).toEqual([...first.events, ...second.events].map((event) => event.id));
      // Another state of the same stream is not mistaken for it.
      const dates = {
        category: tally.category,
        initial: [] as readonly string[],
        evolve: (before: readonly string[], { metadata }: RecordedEvent) => [...before, metadata.occurredAt],
      };
      const occurred = [...first.events, ...second.events].map(({ metadata }) => metadata.occurredAt);
      expect((await ours.loadCached(dates, id)).state).toEqual(occurred);
      expect((await ours.loadCached(tally, id)).state).toMatchObject({ total: 3 });
      // What is loaded to be changed is whole, whatever was glanced at.
      expect((await ours.load(tally, id)).history).toHaveLength(2);
    } finally {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('the context of what the service does by itself', () => {
  it('names the part that acts, and what it belongs to', () => {
    const context = systemContext('screening-sweep', { accountId: 'account-1', environment: 'live' });
    expect(context).toEqual({
      accountId: 'account-1',
      environment: 'live',
      actor: { kind: 'system', id: 'screening-sweep' },
      correlationId: context.causationId,
      causationId: context.correlationId,
    });
    expect(systemContext('screening-sweep', { accountId: null, environment: null }).correlationId).not.toBe(
      context.correlationId,
    );
  });
});

describe('aggregates commands of a stream that only records', () => {
  type Noted = DomainEvent<'Noted', { readonly what: string }>;
  const notes: Decider<object, string, Noted> = {
    category: 'notes',
    initial: {},
    stateless: true,
    decide: (what) => {
      if (what === 'refused') throw new DomainError('request.invalid');
      return what === '' ? [] : [{ type: 'Noted', data: { what } }];
    },
    evolve: (state) => state,
  };

  let directory: string;
  let store: EmbeddedEventStore;
  let id: string;
  /** How many events were appended at once, and what was read of the stream. */
  let appended: number[];
  let reads: unknown[];
  let conflicts: number;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'notes-'));
    store = EmbeddedEventStore.open({ directory, mapSizeBytes: 64 * 2 ** 20 });
  });
  afterAll(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    id = newId();
    [appended, reads, conflicts] = [[], [], 0];
  });

  /** What a process of its own has; `first` happens before each of its appends. */
  const aProcess = (first: (append: number) => Promise<unknown> = async () => undefined): AggregateStore => {
    const watched = Object.create(store, {
      append: {
        value: async (...args: Parameters<EventStore['append']>) => {
          appended.push(args[2].length);
          await first(appended.length);
          return store.append(...args);
        },
      },
      readStream: {
        value: async (...[stream, options]: Parameters<EventStore['readStream']>) => {
          const events = await store.readStream(stream, options);
          reads.push(events.length);
          return events;
        },
      },
    }) as EventStore;
    const none = { applyNow: () => Promise.reject(new Error('read models were shown it')) } as unknown as ReadModels;
    return new AggregateStore(watched, none, clock, { appendConflict: () => (conflicts += 1) });
  };
  const by = (name: string): ActionContext => ({
    ...CONTEXT,
    actor: { kind: 'platform-token', id: name },
    correlationId: `request-${name}`,
    causationId: `cause-${name}`,
  });
  const note = (aggregates: AggregateStore, what: string) => aggregates.execute(notes, id, what, by(what.slice(0, 8)));
  const stored = async (): Promise<string[]> =>
    (await store.readStream(`notes-${id}`)).map(({ data }) => (data as Noted['data']).what);
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
  const conditionOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'stored',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );

  it('appends together what comes at once, each with its own context, and chains it', async () => {
    const ours = aProcess();
    const results = await Promise.all(names(50).map((name) => note(ours, name)));
    expect(appended).toEqual([50]);
    const events = await store.readStream(`notes-${id}`);
    expect(
      events.map(({ revision, data, metadata }) => ({
        revision,
        data,
        actor: metadata.actor.id,
        correlation: metadata.$correlationId,
        causation: metadata.$causationId,
      })),
    ).toEqual(
      names(50).map((name, revision) => ({
        revision,
        data: { what: name },
        actor: name,
        correlation: `request-${name}`,
        causation: `cause-${name}`,
      })),
    );
    expect(results.map(({ events: own, revision }) => [revision, own.map(({ id: eventId }) => eventId)])).toEqual(
      events.map(({ revision, id: eventId }) => [revision, [eventId]]),
    );
    let prev = genesisOf(`notes-${id}`);
    for (const { metadata, stream, revision, type, data, id: eventId } of events) {
      const { chain, ...covered } = metadata;
      expect(chain).toEqual(linkTo(prev, { id: eventId, type, stream, revision, data, metadata: covered }));
      prev = chain.hash;
    }
  });

  it('gathers what comes while an append is under way, and appends it after that, in as many appends as it takes', async () => {
    let others: Promise<unknown>[] = [];
    const ours: AggregateStore = aProcess(async (append) => {
      if (append === 1) others = names(250).map((name) => note(ours, name));
    });
    await note(ours, 'first');
    await Promise.all(others);
    expect(appended).toEqual([1, 100, 100, 50]);
    expect(await stored()).toEqual(['first', ...names(250)]);
  });

  it('fails nobody but whom the decision refuses, and stores nothing for who changes nothing', async () => {
    const ours = aProcess();
    const outcomes = await Promise.all(['a', 'refused', '', 'b'].map((what) => conditionOf(note(ours, what))));
    expect(outcomes).toEqual(['stored', 'request.invalid', 'stored', 'stored']);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('fails all whose append failed, and goes on with the next', async () => {
    const ours = aProcess(async (append) => {
      if (append === 1) throw new EventStoreUnavailable('away');
    });
    expect(await Promise.all(names(3).map((name) => conditionOf(note(ours, name))))).toEqual(['away', 'away', 'away']);
    expect(await stored()).toEqual([]);
    expect(await conditionOf(note(ours, 'next'))).toBe('stored');
  });

  it('fails nobody but who brings what cannot be stored', async () => {
    const ours = aProcess();
    const outcomes = ['a', 'lone \ud800', 'b'].map((what) => conditionOf(note(ours, what)));
    expect(await Promise.all(outcomes)).toEqual(['stored', expect.stringContaining('surrogate'), 'stored']);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('stores together no more than the log takes at once', async () => {
    const ours = aProcess();
    const large = names(20).map((name) => name.padEnd(60_000, '.'));
    expect(new Set(await Promise.all(large.map((what) => conditionOf(note(ours, what)))))).toEqual(new Set(['stored']));
    expect(await stored()).toEqual(large);
  });

  it('decides again on all of it when another process was quicker', async () => {
    const theirs = aProcess();
    const ours = aProcess(async (append) => {
      if (append === 1) await note(theirs, 'theirs');
    });
    await Promise.all(names(5).map((name) => note(ours, name)));
    expect(conflicts).toBe(1);
    expect(await stored()).toEqual(['theirs', ...names(5)]);
    expect(await theirs.load(notes, id)).toMatchObject({ revision: 5 });
  });

  it('loses nothing of two processes that compete', async () => {
    const both = [aProcess(), aProcess()];
    await Promise.all(names(60).map((name, index) => note(both[index % 2]!, name)));
    expect((await stored()).sort()).toEqual(names(60).sort());
  });

  it('reads one event, however long the stream is', async () => {
    const ours = aProcess();
    await Promise.all(names(30).map((name) => note(ours, name)));
    reads = [];
    await note(aProcess(), 'last');
    expect(reads).toEqual([1]);
  });
});
