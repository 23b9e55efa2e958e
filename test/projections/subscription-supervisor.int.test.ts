import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Subscription,
  SubscriptionSupervisor,
  type SupervisorOptions,
} from '../../src/platform/subscriptions/subscription-supervisor.js';
import type { EventBatch, EventStore, SubscribeOptions } from '../../src/ports/event-store.js';
import { newId } from '../../src/kernel/ids.js';
import { append, Log, opened, stamped, Recorder } from './fixtures.js';
import { until } from '../support/eventually.js';

const QUICK: SupervisorOptions = { minDelayMs: 5, maxDelayMs: 20, watchIntervalMs: 5 };

/** Saves its checkpoint after the effect, like an event handler. */
class Follower implements Subscription {
  readonly name = 'follower';
  readonly seen: string[] = [];
  opens = 0;
  after: string | null = null;
  following = true;
  onBatch: (batch: EventBatch) => Promise<void> | void = () => undefined;

  open(): Promise<{ after: string | null; categories: string[] } | null> {
    this.opens += 1;
    return Promise.resolve(this.following ? { after: this.after, categories: ['parcel'] } : null);
  }

  async handle(batch: EventBatch): Promise<void> {
    await this.onBatch(batch);
    this.seen.push(...batch.events.map(({ id }) => id));
    this.after = batch.through;
  }
}

describe('the subscription supervisor', () => {
  let log: Log;
  let told: Recorder;
  let follower: Follower;
  let stop: AbortController;
  let running: Promise<void>[];

  /** The log with subscriptions that fail as the test says. */
  function faulty(subscribe: (options: SubscribeOptions, attempt: number) => AsyncIterable<EventBatch>): EventStore {
    let attempts = 0;
    return Object.create(log.store, {
      subscribe: { value: (options: SubscribeOptions) => subscribe(options, ++attempts) },
    }) as EventStore;
  }

  function follow(store: EventStore = log.store, options: SupervisorOptions = QUICK): SubscriptionSupervisor {
    const supervisor = new SubscriptionSupervisor(store, follower, told, options);
    running.push(supervisor.run(stop.signal));
    return supervisor;
  }

  async function appendSome(count: number): Promise<string[]> {
    const id = newId();
    await append(log.store, id, opened('a'));
    for (let stamp = 1; stamp < count; stamp++) await append(log.store, id, stamped());
    return (await log.store.readStream(`parcel-${id}`)).map((event) => event.id);
  }

  const ids = async (): Promise<string[]> => (await log.store.readAll(null, Infinity)).map(({ id }) => id);
  const caughtUp = (): Promise<void> =>
    until('it has seen everything', async () => follower.seen.length >= (await ids()).length);

  beforeEach(async () => {
    log = await Log.open();
    told = new Recorder();
    follower = new Follower();
    stop = new AbortController();
    running = [];
  });

  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
    await log.close();
  });

  it.each(['an error', 'a plain end'])(
    'starts again from the saved checkpoint after %s, without a gap or a repetition',
    async (how) => {
      await appendSome(30);
      const store = faulty(async function* (options, attempt) {
        let batches = 0;
        for await (const batch of log.store.subscribe({ ...options, batchSize: 4 })) {
          yield batch;
          if (attempt > 5 || ++batches < 2) continue;
          if (how === 'an error') throw new Error('connection lost');
          return;
        }
      });
      follow(store);
      await caughtUp();
      expect(follower.seen).toEqual(await ids());
      expect(told.drops.map((error) => (error as Error).message)).toContain(
        how === 'an error' ? 'connection lost' : 'The subscription ended by itself',
      );
    },
  );

  it('repeats only the failed batch', async () => {
    await appendSome(5);
    let failures = 3;
    follower.onBatch = () => {
      if (failures-- > 0) throw new Error('not now');
    };
    follow();
    await caughtUp();
    expect(follower.seen).toEqual(await ids());
    expect(told.drops).toHaveLength(3);
  });

  it('retries with growing random pauses, and with short pauses again after a success', async () => {
    const delays: number[] = [];
    const observer = Object.assign(told, {
      dropped: (_name: string, _error: unknown, delayMs: number) => void delays.push(delayMs),
    });
    let broken = true;
    const store = faulty(async function* (options) {
      if (broken) throw new Error('refused');
      yield* log.store.subscribe(options);
    });
    const supervisor = new SubscriptionSupervisor(store, follower, observer, {
      ...QUICK,
      minDelayMs: 8,
      maxDelayMs: 64,
    });
    running.push(supervisor.run(stop.signal));
    await until('it has failed often', () => delays.length >= 6);
    for (const [failure, delayMs] of delays.entries()) {
      expect(delayMs).toBeGreaterThanOrEqual(Math.min(64, 8 * 2 ** failure));
      expect(delayMs).toBeLessThanOrEqual(Math.min(64, 12 * 2 ** failure));
    }
    expect(new Set(delays.slice(0, 3).map((delayMs, failure) => delayMs / 2 ** failure)).size).toBe(3);
    broken = false;
    await appendSome(1);
    await caughtUp();
    broken = true;
    delays.length = 0;
    supervisor.restart();
    await until('it has failed again', () => delays.length > 0);
    expect(delays[0]).toBeLessThanOrEqual(12);
  });

  it('finishes the current batch when it is told to stop', async () => {
    await appendSome(3);
    let finish = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      follower.onBatch = () => {
        resolve();
        return new Promise<void>((done) => {
          finish = done;
        });
      };
    });
    follow();
    await begun;
    stop.abort();
    finish();
    await Promise.all(running);
    expect(follower.seen).toEqual(await ids());
  });

  it('starts at another position at once when it is asked to', async () => {
    const first = await appendSome(3);
    const supervisor = follow();
    await caughtUp();
    follower.after = null;
    supervisor.restart();
    await until('it has seen everything again', () => follower.seen.length === 6);
    expect(follower.seen).toEqual([...first, ...first]);
    expect(told.drops).toEqual([]);
  });

  it('waits while it has no events to follow, and reports no lag', async () => {
    follower.following = false;
    const supervisor = follow();
    await appendSome(2);
    await until('it has been measured', () => told.lags.length > 5);
    expect([follower.opens, supervisor.lagMs]).toEqual([1, 0]);
    follower.following = true;
    supervisor.restart();
    await caughtUp();
  });

  it('reports how long events have been waiting', async () => {
    await appendSome(2);
    let release = (): void => undefined;
    follower.onBatch = () =>
      new Promise<void>((resolve) => {
        release = resolve;
      });
    const supervisor = follow();
    await until('the lag grows', () => supervisor.lagMs > 60 && (told.lags.at(-1) ?? 0) > 50);
    follower.onBatch = () => undefined;
    release();
    await caughtUp();
    await until('there is none', () => supervisor.lagMs === 0 && told.lags.at(-1) === 0);
  });
});
