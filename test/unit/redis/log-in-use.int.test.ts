import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LogInUse } from '../../../src/adapters/redis/log-in-use.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

const LEASE_MS = 400;

let server: RedisServer;
const started: LogInUse[] = [];
beforeAll(async () => {
  server = await RedisServer.start();
});
beforeEach(async () => {
  for (const one of started.splice(0)) await one.stop();
  await server.flush();
});
afterAll(async () => {
  for (const one of started) await one.stop();
  await server.stop();
});

function processOn(log: string, onAnother: (mustEnd: boolean) => void = () => undefined): LogInUse {
  const one = new LogInUse(server.client(), () => log, onAnother, LEASE_MS);
  started.push(one);
  return one;
}

async function looks(): Promise<number> {
  return Number(/cmdstat_zrangebyscore:calls=(\d+)/.exec(await server.client().info('commandstats'))?.[1] ?? 0);
}

describe('processes that share one Redis', () => {
  it('start when they have the same log', async () => {
    for (let count = 0; count < 3; count++) await processOn('one').start();
    expect(await server.client().zcard('log-in-use')).toBe(3);
  });

  it('refuse to start while a process runs on another log', async () => {
    await processOn('one').start();
    await processOn('one').start();
    expect(await processOn('another').start()).toBe(false);
    expect(await processOn('on').start()).toBe(false);
  });

  it('start on another log when the others have stopped', async () => {
    for (let count = 0; count < 2; count++) await processOn('one').start();
    for (const one of started) await one.stop();
    expect(await processOn('another').start()).toBe(true);
    expect(await server.client().zrange('log-in-use', '0', '-1')).toEqual([expect.stringMatching(/^another /)]);
  });

  it('start on another log when the entries of killed processes have expired', async () => {
    await processOn('one').start();
    // The killed process no longer renews its entry in Redis.
    clearInterval((started[0] as unknown as { renewing: NodeJS.Timeout }).renewing);
    expect(await processOn('another').start()).toBe(true);
  });

  it('are not ready when Redis lost their entry and another log was claimed, and become ready when the other log is released', async () => {
    const told: boolean[] = [];
    const one = processOn('one', (mustEnd) => told.push(mustEnd));
    await one.start();
    clearInterval((one as unknown as { renewing: NodeJS.Timeout }).renewing);
    await server.flush();
    const other = processOn('another');
    await other.start();
    await (one as unknown as { renew(): Promise<void> }).renew();
    expect(one.complaint).toContain('another event log');
    await (one as unknown as { renew(): Promise<void> }).renew();
    expect(told).toEqual([false]);
    await other.stop();
    await (one as unknown as { renew(): Promise<void> }).renew();
    expect(one.complaint).toBeNull();
  });

  it('must end when another log was claimed in the meantime and stays claimed', async () => {
    const told: boolean[] = [];
    const one = processOn('one', (mustEnd) => told.push(mustEnd));
    await one.start();
    await server.flush();
    // The entry of a process that was suspended until the entry expired, and that continues afterwards.
    await server.client().zadd('log-in-use', Date.now() + 60_000, 'another process');
    await until('it is told to end', () => told.length === 2);
    expect(told).toEqual([false, true]);
  });

  it('refuse to start when they have seen another log and Redis then fails', async () => {
    await processOn('one').start();
    const before = await looks();
    const starting = processOn('another').start();
    await until('it has heard of the others', async () => (await looks()) > before + 1);
    await server.kill9();
    expect(await starting).toBe(false);
    await server.startAgain();
  });

  it('must end when they started without Redis and other processes run on another log', async () => {
    await processOn('one').start();
    await server.kill9();
    const told: boolean[] = [];
    const late = processOn('another', (mustEnd) => told.push(mustEnd));
    expect(await late.start()).toBe(true);
    // The late process tries again only when the others are back, because the first process to claim Redis keeps it.
    clearInterval((late as unknown as { renewing: NodeJS.Timeout }).renewing);
    await server.startAgain();
    await processOn('one').start();
    await until('it is told', async () => {
      await (late as unknown as { renew(): Promise<void> }).renew();
      return told.length > 0;
    });
    expect(told).toEqual([true]);
  });

  it('start while Redis is unavailable, and claim the log when it is back', async () => {
    await server.kill9();
    await processOn('one').start();
    await server.startAgain();
    await until('it is claimed', async () => (await server.client().zcard('log-in-use')) === 1);
  });
});
