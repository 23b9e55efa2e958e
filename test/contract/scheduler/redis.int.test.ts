import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisScheduler } from '../../../src/adapters/scheduler/redis.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

/** This time is longer than any test takes. */
const HOUR_MS = 3_600_000;
/** An interval for timers. Three quarters of it are not whole milliseconds. */
const SHORT_MS = 21;

describe('timers', () => {
  let server: RedisServer;
  let schedulers: RedisScheduler[];
  let faults: [name: string, message: string][];
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.stop());
  beforeEach(async () => {
    [schedulers, faults] = [[], []];
    await server.client().flushall();
  });
  afterEach(async () => void (await Promise.all(schedulers.map((scheduler) => scheduler.stop()))));

  /** Timers of a separate process. */
  function scheduler(works: Readonly<Record<string, () => Promise<unknown>>>, intervalMs: number): RedisScheduler {
    const made = new RedisScheduler(server.client(), (name, error) => faults.push([name, (error as Error).message]));
    for (const [name, run] of Object.entries(works)) made.every(name, intervalMs, async () => void (await run()));
    schedulers.push(made);
    return made;
  }

  it('run at once, in one of several processes', async () => {
    let runs = 0;
    const work = { recovery: async () => runs++, other: async () => runs++ };
    await Promise.all([1, 2, 3].map(() => scheduler(work, HOUR_MS).start()));
    expect(runs).toBe(2);
  });

  it('continue in another process when the first has ended, and after Redis was emptied', async () => {
    const runs = { one: 0, other: 0 };
    const one = scheduler({ recovery: async () => runs.one++ }, SHORT_MS);
    await one.start();
    await scheduler({ recovery: async () => runs.other++ }, SHORT_MS).start();
    await until('the one runs them', () => runs.one > 2);
    await one.stop();
    const soFar = runs.other;
    await until('the other runs them', () => runs.other > soFar + 2);
    await server.client().flushall();
    const beforeEmpty = runs.other;
    await until('it still runs them', () => runs.other > beforeEmpty + 2);
    expect(faults).toEqual([]);
  });

  it('do not start again while they run, and do not block the others', async () => {
    let begun = 0;
    let others = 0;
    let end = (): void => undefined;
    const slow = (): Promise<void> => {
      begun++;
      return new Promise((resolve) => (end = resolve));
    };
    await scheduler({ slow, quick: async () => others++ }, SHORT_MS).start();
    await until('the other one has run often', () => others > 5);
    expect(begun).toBe(1);
    end();
    await until('it is begun again', () => begun === 2);
    end();
  });

  it('report a failure, and run again', async () => {
    let runs = 0;
    const failing = (): Promise<void> => {
      runs++;
      return Promise.reject(new Error('not this time'));
    };
    await scheduler({ failing }, SHORT_MS).start();
    await until('it has run again', () => runs > 2);
    expect(faults[0]).toEqual(['failing', 'not this time']);
  });

  it('are awaited at the end, and start no further run afterwards', async () => {
    let ended = 0;
    let end = (): void => undefined;
    let begun = 0;
    const slow = async (): Promise<void> => {
      begun++;
      await new Promise<void>((resolve) => (end = resolve));
      ended++;
    };
    const stopping = scheduler({ slow }, SHORT_MS);
    await stopping.start();
    const stopped = stopping.stop().then(() => ended);
    end();
    expect(await stopped).toBe(1);
    let others = 0;
    await scheduler({ slow: async () => others++ }, SHORT_MS).start();
    await until('another one has run often', () => others > 5);
    expect(begun).toBe(1);
  });
});
