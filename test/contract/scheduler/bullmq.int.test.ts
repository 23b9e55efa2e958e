import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { BullMqScheduler } from '../../../src/adapters/scheduler/bullmq.js';
import { RedisServer } from '../../support/redis.js';
import { until } from '../../support/eventually.js';

describe('timers', () => {
  let redis: RedisServer;
  beforeAll(async () => void (redis = await RedisServer.start()));
  afterAll(() => redis.stop());

  it('of an earlier release end, and those of this release go on', async () => {
    const connection = { url: redis.url, maxRetriesPerRequest: null };
    const timers = new Queue('timers', { connection });
    await timers.upsertJobScheduler('of-an-earlier-release', { every: 20 }, { name: 'of-an-earlier-release' });
    let runs = 0;
    const faults: unknown[] = [];
    const scheduler = new BullMqScheduler(connection, (_name, error) => faults.push(error));
    scheduler.every('of-this-release', 20, async () => void runs++);
    await scheduler.start();
    try {
      await until('only the timer of this release is left', async () => {
        const names = (await timers.getJobSchedulers()).map(({ key }) => key);
        return names.join() === 'every-20-ms';
      });
      const soFar = runs;
      await until('it goes on', () => runs > soFar + 1);
      expect(await timers.getFailedCount()).toBe(0);
      expect(faults).toEqual([]);
    } finally {
      await scheduler.stop();
      await timers.close();
    }
  });
});
