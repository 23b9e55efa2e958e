import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisRequestActivity } from '../../../src/adapters/request-activity/redis.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
beforeEach(async () => {
  await server.flush();
});
afterAll(async () => {
  await server.stop();
});

/** Another process, which has asked nothing before. */
function isRecent(): Promise<boolean> {
  return new RedisRequestActivity(server.client()).isRecent();
}

describe('requests that one process serves', () => {
  it('are known to another one until none have come for a while', async () => {
    expect(await isRecent()).toBe(false);
    new RedisRequestActivity(server.client()).note();
    await until('the request is known', isRecent);
    await until('it is forgotten', async () => !(await isRecent()));
  });

  it('are seen by who asks all the time, when they begin and when they end', async () => {
    const asking = new RedisRequestActivity(server.client());
    expect(await asking.isRecent()).toBe(false);
    new RedisRequestActivity(server.client()).note();
    await until('they have begun', () => asking.isRecent());
    await until('they have ended', async () => !(await asking.isRecent()));
  });

  it('are told and asked about once, however many come together', async () => {
    const client = server.client();
    await client.config('RESETSTAT');
    const activity = new RedisRequestActivity(client);
    for (let request = 0; request < 1_000; request++) activity.note();
    await Promise.all(Array.from({ length: 1_000 }, () => activity.isRecent()));
    const stats = await client.info('commandstats');
    expect([...stats.matchAll(/^cmdstat_(set|exists):calls=(\d+)/gm)].map(([, ...of]) => of).sort()).toEqual([
      ['exists', '1'],
      ['set', '1'],
    ]);
  });

  it('disturb nobody where Redis is away', async () => {
    const closed = server.client();
    closed.disconnect();
    const activity = new RedisRequestActivity(closed);
    activity.note();
    expect(await activity.isRecent()).toBe(false);
  });
});
