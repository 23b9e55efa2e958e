import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { connectionTo, workerConnection } from '../../../src/adapters/redis/connection.js';
import { until } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis.js';

/** A broken connection causes some errors. A worker that retries without a pause would cause endless errors. */
const MANY = 1_000;

describe('the connection of workers', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = workerConnection(connectionTo(server, { role: 'worker' }, { warn: () => undefined }, () => undefined));
    await redis.connect();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('lets a busy worker pause while Redis is unavailable, and continue when Redis is back', async () => {
    let done = 0;
    let errors = 0;
    const queue = new Queue('jobs', { connection: redis });
    queue.on('error', () => undefined);
    const worker = new Worker('jobs', async () => void (done += 1), { connection: redis, runRetryDelay: 20 });
    worker.on('error', () => {
      // Without this, the endless errors would keep this test from ending.
      if (++errors === MANY) void worker.close(true);
    });
    await queue.addBulk(Array.from({ length: 5_000 }, () => ({ name: 'job', data: {} })));
    await until('it works', () => done > 0);
    await server.kill9();
    await server.startAgain();
    const before = done;
    await queue.add('another', {});
    await until('it goes on', () => done > before || errors >= MANY);
    expect(errors).toBeLessThan(MANY);
    await worker.close();
    await queue.close();
  });
});
