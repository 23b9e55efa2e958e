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

function processOn(log: string, onAnother: () => void = () => undefined): LogInUse {
  const one = new LogInUse(server.client(), () => log, onAnother, LEASE_MS);
  started.push(one);
  return one;
}

describe('processes over one Redis', () => {
  it('start when they have the same log', async () => {
    for (let count = 0; count < 3; count++) await processOn('one').start();
    expect(await server.client().zcard('log-in-use')).toBe(3);
  });

  it('refuse to start while another one, however long, runs on another log', async () => {
    await processOn('one').start();
    await processOn('one').start();
    expect(await processOn('another').start()).toBe(false);
    expect(await processOn('on').start()).toBe(false);
  });

  it('start on another log once the others were stopped', async () => {
    for (let count = 0; count < 2; count++) await processOn('one').start();
    for (const one of started) await one.stop();
    expect(await processOn('another').start()).toBe(true);
    expect(await server.client().zrange('log-in-use', '0', '-1')).toEqual([expect.stringMatching(/^another /)]);
  });

  it('start on another log once those that were killed no longer count', async () => {
    await processOn('one').start();
    // Its client is gone with it, and nothing is renewed.
    clearInterval((started[0] as unknown as { renewing: NodeJS.Timeout }).renewing);
    expect(await processOn('another').start()).toBe(true);
  });

  it('are not ready when another log came while Redis had forgotten them, and are again when that one is gone', async () => {
    let told = 0;
    const one = processOn('one', () => (told += 1));
    await one.start();
    clearInterval((one as unknown as { renewing: NodeJS.Timeout }).renewing);
    await server.flush();
    const other = processOn('another');
    await other.start();
    await (one as unknown as { renew(): Promise<void> }).renew();
    expect(one.complaint).toContain('another event log');
    await (one as unknown as { renew(): Promise<void> }).renew();
    expect(told).toBe(1);
    await other.stop();
    await (one as unknown as { renew(): Promise<void> }).renew();
    expect(one.complaint).toBeNull();
  });

  it('start while Redis is away, and claim the log when it is back', async () => {
    await server.kill9();
    await processOn('one').start();
    await server.startAgain();
    await until('it is claimed', async () => (await server.client().zcard('log-in-use')) === 1);
  });
});
