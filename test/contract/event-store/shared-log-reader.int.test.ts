import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import { newId } from '../../../src/kernel/ids.js';
import { SharedLogReader } from '../../../src/platform/subscriptions/shared-log-reader.js';
import {
  type EventBatch,
  type EventStore,
  EventStoreUnavailable,
  type StreamReadOptions,
  type SubscribeOptions,
} from '../../../src/ports/event-store.js';
import { until } from '../../support/eventually.js';
import { StaleFollower } from '../../support/stale-follower.js';
import { describeEventStore, type EventStoreHarness, follow, newCategory, newEvents } from './suite.js';

/** The embedded store. A test can count and interrupt its subscriptions. */
class Cuttable {
  /** The number of events that all subscriptions delivered. An event counts once for each read. */
  delivered = 0;
  private readonly open = new Map<AbortController, 'error' | 'end' | null>();

  constructor(readonly inner: EmbeddedEventStore) {}

  get store(): EventStore {
    return Object.create(this.inner, {
      subscribe: { value: (options: SubscribeOptions) => this.subscribe(options) },
      close: { value: () => this.inner.close() },
    }) as EventStore;
  }

  drop(how: 'error' | 'end'): void {
    for (const cut of this.open.keys()) {
      this.open.set(cut, how);
      cut.abort();
    }
  }

  private async *subscribe(options: SubscribeOptions): AsyncGenerator<EventBatch, void, undefined> {
    const cut = new AbortController();
    const abort = (): void => cut.abort();
    options.signal.addEventListener('abort', abort);
    if (options.signal.aborted) abort();
    this.open.set(cut, null);
    try {
      for await (const batch of this.inner.subscribe({ ...options, signal: cut.signal })) {
        this.delivered += batch.events.length;
        yield batch;
      }
      if (this.open.get(cut) === 'error') throw new EventStoreUnavailable('cut off');
    } finally {
      options.signal.removeEventListener('abort', abort);
      this.open.delete(cut);
    }
  }
}

class SharedHarness implements EventStoreHarness {
  readonly logStartsEmpty = true;
  readonly together = 'all-or-nothing';
  /**
   * A subscription that breaks while it catches up continues on the shared reader, so the suite cannot drop this
   * subscription. The tests below interrupt subscriptions that share the reader.
   */
  readonly dropSubscriptions = 'cannot-drop';
  log: Cuttable;
  cluster: StaleFollower;
  private directory: string;

  async open(): Promise<EventStore> {
    this.directory = await mkdtemp(join(tmpdir(), 'event-store-'));
    return this.reader();
  }

  async reopen(): Promise<EventStore> {
    await this.log.inner.close();
    return this.reader();
  }

  async close(): Promise<void> {
    await this.log.inner.close();
    await rm(this.directory, { recursive: true });
  }

  private reader(): EventStore {
    this.log = new Cuttable(EmbeddedEventStore.open({ directory: this.directory }));
    this.cluster = new StaleFollower(this.log.store);
    return new SharedLogReader(this.cluster);
  }
}

describeEventStore('shared by the subscriptions of a process', new SharedHarness());

interface Following {
  readonly seen: string[];
  /** The end of the log that this subscription knows. */
  through: string | null;
  atEnd: boolean;
  hold: Promise<void>;
  end: Promise<unknown>;
}

describe('subscriptions with a shared reader', () => {
  const harness = new SharedHarness();
  let store: EventStore;
  let category: string;
  let stop: AbortController;
  beforeEach(async () => {
    store = await harness.open();
    category = newCategory();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await harness.close();
  });

  const append = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 100)
      await store.append(`${category}-${newId()}`, 'no-stream', newEvents(Math.min(left, 100)));
  };

  /**
   * Subscribes to the log. `seen` collects the delivered events, `hold` pauses the consumer, and `end` says how the
   * subscription ended.
   */
  function follower(
    categories: readonly string[] = [category],
    onEvents = (): void => undefined,
    after: string | null = null,
  ): Following {
    const [hold, end] = [Promise.resolve(), Promise.resolve()];
    const following: Following = { seen: [], through: null, atEnd: false, hold, end };
    const run = async (): Promise<void> => {
      for await (const batch of store.subscribe({ after, categories, signal: stop.signal })) {
        following.seen.push(...batch.events.map(({ id }) => id));
        following.through = batch.through;
        following.atEnd = batch.caughtUp;
        if (batch.events.length > 0) onEvents();
        await following.hold;
      }
    };
    following.end = run().catch((error: unknown) => error);
    return following;
  }

  it('read each event once', async () => {
    const followers = Array.from({ length: 6 }, () => follower());
    const elsewhere = follower([newCategory()]);
    await until('all are at the end', () => [...followers, elsewhere].every(({ atEnd }) => atEnd));
    const before = harness.log.delivered;
    await append(300);
    await until('all have seen it', () => followers.every(({ seen }) => seen.length === 300));
    expect(harness.log.delivered - before).toBe(300);
    expect(elsewhere.seen).toEqual([]);
  });

  it('are woken only by events that they requested, and learn some time later where the log ends', async () => {
    const elsewhere = follower([newCategory()]);
    const told: (string | null)[] = [];
    const concerned = follower([category], () => told.push(elsewhere.through));
    await append(1);
    await until('both are at the end', () => concerned.seen.length === 1 && concerned.atEnd && elsewhere.atEnd);
    const before = await store.head();
    await until('the other has learned of the first', () => elsewhere.through === before);
    await append(1);
    await until('one has seen it', () => concerned.seen.length === 2);
    expect(told.at(-1)).toBe(before);
    const head = await store.head();
    await until('the other has learned it', () => elsewhere.through === head);
    expect(elsewhere.seen).toEqual([]);
  });

  it('lose no event when one subscription is so slow that the others continue without it', async () => {
    const [quick, slow] = [follower(), follower()];
    await until('both are at the end', () => quick.atEnd && slow.atEnd);
    let goOn = (): void => undefined;
    slow.hold = new Promise((resolve) => (goOn = resolve));
    await append(5_000);
    await until('the quick one has everything', () => quick.seen.length === 5_000);
    expect(slow.seen.length).toBeLessThan(5_000);
    goOn();
    await until('the slow one has everything too', () => slow.seen.length >= 5_000);
    await append(1);
    await until('both go on', () => quick.seen.length === 5_001 && slow.seen.length === 5_001);
    expect(slow.seen).toEqual(quick.seen);
  });

  it('lose no event when one begins late and the others have read further', async () => {
    await append(3);
    const late = follower();
    let goOn = (): void => undefined;
    late.hold = new Promise((resolve) => (goOn = resolve));
    // The subscription has caught up by its own reads, and the test pauses it there.
    await until('it has read so far', () => late.seen.length === 3);
    await append(2);
    const early = follower();
    await until('the other is at the end', () => early.seen.length === 5 && early.atEnd);
    goOn();
    await append(1);
    await until('both have everything', () => early.seen.length === 6 && late.seen.length === 6);
    expect(late.seen).toEqual(early.seen);
  });

  it.each([
    ['the others began there too', null],
    ['the others began further on', 'head'],
  ] as const)('lose no event when one catches up at a lagging node and %s', async (_, began) => {
    await append(1);
    const behind = await store.head();
    await append(2);
    const early = follower([category], undefined, began === null ? null : await store.head());
    await until('one is at the end', () => early.atEnd);
    harness.cluster.behind = behind;
    const late = follower();
    await until('the other is where the node ends', () => late.seen.length > 0 && late.atEnd);
    await append(1);
    await until('the first has it', () => early.seen.length === (began === null ? 4 : 1));
    harness.cluster.behind = null;
    await until('the other has everything', () => late.seen.length === 4);
    expect(late.seen.slice(-early.seen.length)).toEqual(early.seen);
  });

  it.each<[string, StreamReadOptions]>([
    ['from the beginning', {}],
    ['with room for more', { limit: 3 }],
    ['from the lagging place', { from: 2 }],
    ['backwards', { direction: 'backwards' }],
    ['backwards for the newest', { direction: 'backwards', limit: 1 }],
  ])(
    'receive events that a lagging node lacks: a read of the stream %s fails at this node until the node has them',
    async (_, options) => {
      const stream = `${category}-${newId()}`;
      await store.append(stream, 'no-stream', newEvents(2));
      const behind = await store.head();
      await store.append(stream, 1, newEvents(1));
      const told = follower();
      await until('one has learned it', () => told.seen.length === 3);
      harness.cluster.behind = behind;
      await expect(store.readStream(stream, options)).rejects.toBeInstanceOf(EventStoreUnavailable);
      for (const within of [
        { limit: 2 },
        { limit: 0 },
        { from: 1, limit: 1 },
        { from: 3 },
        { from: 1, direction: 'backwards' as const },
      ])
        await expect(store.readStream(stream, within)).resolves.toBeDefined();
      harness.cluster.behind = null;
      expect((await store.readStream(stream, options)).length).toBeGreaterThan(0);
    },
  );

  it('never report an earlier end of the log than before', async () => {
    const early = follower();
    await until('one is at the end', () => early.atEnd);
    for (let round = 0; round < 20; round++) {
      await append(1);
      // The first subscription may not have received the event yet.
      const after = await store.head();
      const { batches } = await follow(
        store,
        { after, categories: [category] },
        ({ events }) => events.length > 0,
        async () => {
          if ((await store.head()) === after) await append(1);
        },
      );
      for (const { through } of batches) expect(through! >= after!).toBe(true);
    }
  });

  it.each(['error', 'end'] as const)(
    'are all dropped when the reader breaks by an %s, and can begin again',
    async (how) => {
      const followers = Array.from({ length: 3 }, () => follower());
      await append(5);
      await until('all share it', () => followers.every(({ seen, atEnd }) => atEnd && seen.length === 5));
      harness.log.drop(how);
      for (const { end } of followers) expect(await end).toBeInstanceOf(EventStoreUnavailable);
      await append(15);
      const again = follower();
      await until('it has everything', () => again.seen.length === 20);
      await append(1);
      await until('it goes on', () => again.seen.length === 21);
    },
  );

  it('stop reading when all have ended, and read again for the next subscription', async () => {
    const first = follower();
    await until('it is at the end', () => first.atEnd);
    stop.abort();
    const before = harness.log.delivered;
    await append(10);
    stop = new AbortController();
    const { events } = await follow(
      store,
      { after: null, categories: [category] },
      (seen) => seen.events.length === 10,
    );
    expect(events).toHaveLength(10);
    expect(harness.log.delivered - before).toBe(10);
  });
});
