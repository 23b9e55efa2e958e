// Streams that receive many commands at the same time, on a real store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { ActionContext } from '../../../src/kernel/context.js';
import type { Decider } from '../../../src/kernel/decider.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import type { DomainEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import type { LoadedAggregate } from '../../../src/kernel/loaded-aggregate.js';
import { AggregateCache } from '../../../src/platform/aggregates/aggregate-cache.js';
import { GroupedStream } from '../../../src/platform/aggregates/grouped-stream.js';
import { genesisOf, linkTo } from '../../../src/platform/audit/chain.js';
import { EventStoreUnavailable, type EventStore } from '../../../src/ports/event-store.js';
import { clock, CONTEXT, tally, type Tally } from './tally.js';

describe('a grouped stream', () => {
  let directory: string;
  let store: EmbeddedEventStore;
  let id: string;
  let reads: { readonly stream: string; readonly from: number }[];
  /** The number of events in each append to any stream. */
  let appends: number[];
  let conflicts: number;

  const endless: typeof tally = {
    ...tally,
    category: 'endless',
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

  /** Records each read and each append. */
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
  /** The grouped streams of one process. */
  const aProcess = (): GroupedStream => new GroupedStream(watched(), clock, { appendConflict: () => (conflicts += 1) });
  const count = (streams: GroupedStream, by: number, of = id) =>
    streams.execute(endless, of, { kind: 'count', by }, CONTEXT);

  it('reads only the events that this process has not read yet', async () => {
    const ours = aProcess();
    for (const by of [1, 2, 3]) await count(ours, by);
    expect(reads.map(({ from }) => from)).toEqual([0, 1, 2]);
    expect(await ours.load(endless, id)).toMatchObject({ state: { total: 6 }, revision: 2 });
  });

  it('knows the owner of a long stream although it loads only the newest event', async () => {
    const owner = { accountId: 'account-1', environment: 'test' };
    const [ours, theirs] = [aProcess(), aProcess()];
    await count(ours, 1);
    const later = { ...CONTEXT, accountId: 'account-2' };
    expect(await ours.execute(endless, id, { kind: 'count', by: 1 }, later)).toMatchObject({ owner });
    expect(await theirs.load(endless, id)).toMatchObject({ owner, history: [{ revision: 1 }] });
    await theirs.execute(endless, id, { kind: 'count', by: 1 }, later);
    expect(await ours.load(endless, id)).toMatchObject({ owner, history: [{ revision: 2 }] });
  });

  describe('a grouped stream with concurrent commands', () => {
    const closing: typeof tally = { ...tally, category: 'closing' };
    const counting = (streams: GroupedStream): Promise<number | string> =>
      streams.execute(closing, id, { kind: 'count', by: 1 }, CONTEXT).then(
        ({ state }) => state.total,
        (error: DomainError) => error.code,
      );
    const twelveOf = (streams: GroupedStream) => Promise.all(Array.from({ length: 12 }, () => counting(streams)));
    const stored = async (): Promise<string[]> => (await store.readStream(`closing-${id}`)).map(({ type }) => type);

    it('decides each command on the result of the earlier ones, and appends their events together', async () => {
      const ours = aProcess();
      expect(await twelveOf(ours)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 'request.invalid', 'request.invalid']);
      expect(await stored()).toEqual([...Array.from({ length: 10 }, () => 'Counted'), 'Closed.v2']);
      expect(appends).toEqual([11]);
      expect(await ours.load(closing, id)).toMatchObject({ state: { total: 10, closed: true }, revision: 10 });
    });

    it('decides every command again when another process appended first, and answers with the stored result', async () => {
      const fourOf = (streams: GroupedStream) =>
        Promise.all([1, 2, 3, 4].map(() => streams.execute(closing, id, { kind: 'count', by: 1 }, CONTEXT)));
      const [ours, theirs] = await Promise.all([fourOf(aProcess()), fourOf(aProcess())]);
      expect(conflicts).toBeGreaterThan(0);
      const byRevision = [...ours, ...theirs].sort((one, other) => Number(one.revision) - Number(other.revision));
      expect(byRevision.map(({ revision, state: { total } }) => [revision, total])).toEqual(
        [1, 2, 3, 4, 5, 6, 7, 8].map((total) => [total - 1, total]),
      );
      expect(byRevision.flatMap(({ events }) => events.map(({ id: eventId }) => eventId))).toEqual(
        (await store.readStream(`closing-${id}`)).map(({ id: eventId }) => eventId),
      );
    });

    it('refuses a command only when the events that cause the refusal are stored', async () => {
      const away = new Proxy(store, {
        get: (target, name) =>
          name === 'append'
            ? () => Promise.reject(new EventStoreUnavailable('away'))
            : (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target),
      });
      const ours = new GroupedStream(away, clock, { appendConflict: () => undefined });
      const told = [{ kind: 'count', by: 10 } as const, { kind: 'count', by: 1 } as const].map((command) =>
        ours.execute(closing, id, command, CONTEXT).catch((error: Error) => error.message),
      );
      expect(await Promise.all(told)).toEqual(['away', 'away']);
    });

    it('decides each command alone when one of the events cannot be stored', async () => {
      const unstorable: typeof tally = {
        ...closing,
        decide: () => [{ type: 'Closed.v2', data: { at: Number.NaN } }],
      };
      const ours = aProcess();
      const first = ours.execute(unstorable, id, { kind: 'close' }, CONTEXT);
      const outcomes = await Promise.all([first.catch(() => 'not stored'), counting(ours)]);
      expect(outcomes).toEqual(['not stored', 1]);
      expect(await stored()).toEqual(['Counted']);
    });
  });

  it('reads the events that another process appended after the remembered state', async () => {
    const [ours, theirs] = [aProcess(), aProcess()];
    await count(ours, 1);
    expect(await count(theirs, 2)).toMatchObject({ state: { total: 3 }, revision: 1 });
    expect(await ours.load(endless, id)).toMatchObject({ state: { total: 3 }, revision: 1 });
    expect(await count(ours, 4)).toMatchObject({ state: { total: 7 }, revision: 2 });
  });

  it('stores and chains every update of two competing processes', async () => {
    const both = [aProcess(), aProcess()];
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

  it('appends 200 concurrent commands of one process without a conflict', async () => {
    const ours = aProcess();
    await Promise.all(Array.from({ length: 200 }, () => count(ours, 0.03125)));
    expect(conflicts).toBe(0);
    expect(await ours.load(endless, id)).toMatchObject({ state: { total: 6.25 }, revision: 199 });
  });

  it('continues with the next command when one fails', async () => {
    const ours = aProcess();
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

  it('reads a long stream in pages, and only once', async () => {
    const writer = aProcess();
    const many: typeof endless = {
      ...endless,
      decide: () => Array.from({ length: 850 }, () => ({ type: 'Counted' as const, data: { by: 1 } })),
    };
    for (let batch = 0; batch < 3; batch++) await writer.execute(many, id, { kind: 'count', by: 1 }, CONTEXT);
    reads = [];
    const ours = aProcess();
    expect(await ours.load(endless, id)).toMatchObject({
      state: { total: 2_550 },
      revision: 2_549,
      history: [{ revision: 2_549 }],
    });
    expect(await ours.load(endless, id)).toMatchObject({ revision: 2_549, history: [{ revision: 2_549 }] });
    expect(reads.map(({ from }) => from)).toEqual([0, 1_000, 2_000, 2_550]);
  });

  it('remembers as many of the most recently used streams as its memory limit allows', async () => {
    const [first, second] = [newId(), newId()];
    for (const [stream, by] of [
      [first, 1],
      [second, 2],
    ] as const)
      await count(aProcess(), by, stream);
    const seen = new AggregateCache(watched(), 0, 10_000);
    const load = (stream: string): Promise<LoadedAggregate<Tally>> => seen.load(endless, `endless-${stream}`);
    await load(first);
    await load(second);
    for (let other = 0; other < 10; other++) {
      const stream = newId();
      await count(aProcess(), 1, stream);
      await load(stream);
      await load(first);
    }
    reads = [];
    expect(await load(first)).toMatchObject({ state: { total: 1 } });
    expect(await load(second)).toMatchObject({ state: { total: 2 } });
    expect(reads.map(({ from }) => from)).toEqual([1, 0]);
  });

  it('stores nothing when the command of a new aggregate decides no event', async () => {
    const ours = aProcess();
    expect(await ours.load(endless, id)).toEqual({ state: endless.initial, revision: null, owner: null, history: [] });
    await count(ours, 0);
    expect(await store.readStream(`endless-${id}`)).toEqual([]);
  });
});

describe('a grouped stream that only records', () => {
  type Noted = DomainEvent<'Noted', { readonly what: string }>;
  const notes: Decider<object, string, Noted> = {
    category: 'notes',
    initial: {},
    newestOnly: true,
    decide: (what) => {
      if (what === 'refused') throw new DomainError('request.invalid');
      return what === '' ? [] : [{ type: 'Noted', data: { what } }];
    },
    evolve: (state) => state,
  };

  let directory: string;
  let store: EmbeddedEventStore;
  let id: string;
  /** The number of events in each append and in each read. */
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

  /** The grouped streams of one process. `first` runs before each of its appends. */
  const aProcess = (first: (append: number) => Promise<unknown> = async () => undefined): GroupedStream => {
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
    return new GroupedStream(watched, clock, { appendConflict: () => (conflicts += 1) });
  };
  const by = (name: string): ActionContext => ({
    ...CONTEXT,
    actor: { kind: 'platform-token', id: name },
    correlationId: `request-${name}`,
    causationId: `cause-${name}`,
  });
  const note = (streams: GroupedStream, what: string) => streams.execute(notes, id, what, by(what.slice(0, 8)));
  const stored = async (): Promise<string[]> =>
    (await store.readStream(`notes-${id}`)).map(({ data }) => (data as Noted['data']).what);
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
  const conditionOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'stored',
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );

  it('appends the events of concurrent commands together, each with its own context, and chains them', async () => {
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

  it('collects commands during an append, and then appends their events in as few appends as the limit allows', async () => {
    let others: Promise<unknown>[] = [];
    const ours: GroupedStream = aProcess(async (append) => {
      if (append === 1) others = names(250).map((name) => note(ours, name));
    });
    await note(ours, 'first');
    await Promise.all(others);
    expect(appended).toEqual([1, 100, 100, 50]);
    expect(await stored()).toEqual(['first', ...names(250)]);
  });

  it('fails only the refused command, and stores nothing for a command that decides no event', async () => {
    const ours = aProcess();
    const outcomes = await Promise.all(['a', 'refused', '', 'b'].map((what) => conditionOf(note(ours, what))));
    expect(outcomes).toEqual(['stored', 'request.invalid', 'stored', 'stored']);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('fails every command of a failed append, and continues with the next commands', async () => {
    const ours = aProcess(async (append) => {
      if (append === 1) throw new EventStoreUnavailable('away');
    });
    expect(await Promise.all(names(3).map((name) => conditionOf(note(ours, name))))).toEqual(['away', 'away', 'away']);
    expect(await stored()).toEqual([]);
    expect(await conditionOf(note(ours, 'next'))).toBe('stored');
  });

  it('fails every waiting command at once when the log is unavailable, and continues with the next commands', async () => {
    let others: Promise<string>[] = [];
    const ours: GroupedStream = aProcess(async () => {
      if (others.length === 0) others = names(250).map((name) => conditionOf(note(ours, name)));
      throw new EventStoreUnavailable('away');
    });
    expect(await conditionOf(note(ours, 'first'))).toBe('away');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['away']));
    expect(appended).toEqual([1]);
    expect(await conditionOf(note(ours, 'next'))).toBe('away');
    expect(appended).toEqual([1, 1]);
  });

  it('fails only the command whose event cannot be stored', async () => {
    const ours = aProcess();
    const outcomes = ['a', 'lone \ud800', 'b'].map((what) => conditionOf(note(ours, what)));
    expect(await Promise.all(outcomes)).toEqual(['stored', expect.stringContaining('surrogate'), 'stored']);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('splits an append that is larger than the limit of the log', async () => {
    const ours = aProcess();
    const large = names(20).map((name) => name.padEnd(60_000, '.'));
    expect(new Set(await Promise.all(large.map((what) => conditionOf(note(ours, what)))))).toEqual(new Set(['stored']));
    expect(await stored()).toEqual(large);
  });

  it('decides every command again when another process appended first', async () => {
    const theirs = aProcess();
    const ours = aProcess(async (append) => {
      if (append === 1) await note(theirs, 'theirs');
    });
    await Promise.all(names(5).map((name) => note(ours, name)));
    expect(conflicts).toBe(1);
    expect(await stored()).toEqual(['theirs', ...names(5)]);
    expect(await theirs.load(notes, id)).toMatchObject({ revision: 5 });
  });

  it('stores every update of two competing processes', async () => {
    const both = [aProcess(), aProcess()];
    await Promise.all(names(60).map((name, index) => note(both[index % 2]!, name)));
    expect((await stored()).sort()).toEqual(names(60).sort());
  });

  it('reads one event of a stream of any length', async () => {
    const ours = aProcess();
    await Promise.all(names(30).map((name) => note(ours, name)));
    reads = [];
    await note(aProcess(), 'last');
    expect(reads).toEqual([1]);
  });
});
