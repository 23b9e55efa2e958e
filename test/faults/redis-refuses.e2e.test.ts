// A Redis that answers but refuses to write, or may drop data. The readiness probe gives the reason, reads still work,
// and the service recovers without a restart.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { productionHere } from '../support/production.js';
import { freePort } from '../support/redis.js';
import { type PlatformCaller, Program, type Reply, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

let service: Service;
let caller: PlatformCaller;
let redis: Redis;

beforeAll(async () => {
  service = await Service.start();
  caller = await service.signIn('nopay');
  redis = service.redis.client();
});
beforeEach(async () => {
  await redis.replicaof('NO', 'ONE');
  await redis.config('SET', 'maxmemory', '0');
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await until('the service is ready', async () => (await ready()).status === 200);
});
afterAll(() => service.stop());

const ready = (): Promise<Reply> => service.request('GET', '/health/ready');

describe('a Redis that refuses to write', () => {
  it.each([
    ['is a replica after a failover', async () => redis.replicaof('127.0.0.1', String(await freePort())), 'READONLY'],
    ['is full', () => redis.config('SET', 'maxmemory', '1mb'), 'OOM'],
  ])(
    'makes the service unready when Redis %s; readiness gives the reason, and reads still work',
    async (_, refuse, reason) => {
      const { id } = (await caller.submit()).body;
      await refuse();
      const refused = await ready();
      expect([refused.status, refused.body.checks.redis]).toEqual([503, 'failing']);
      // During the renewal of the connection, the reason is the lost connection.
      const told = new RegExp(`^Redis refuses to write: ${reason} `);
      await until('the reason is shown', async () => told.test((await ready()).body.reasons?.redis));
      for (let read = 0; read < 5; read++) expect((await caller.status(id)).body.status).toBe('VERIFIED');
      expect((await service.request('GET', '/metrics')).text).toContain('health_check_failing{check="redis"} 1');

      await redis.replicaof('NO', 'ONE');
      await redis.config('SET', 'maxmemory', '0');
      await until('the service is ready again', async () => (await ready()).status === 200);
      await until('a submission succeeds again', async () => (await caller.submit()).status === 200);
    },
  );
});

describe("a memory policy that lets Redis drop the service's data", () => {
  it('makes the service unready with the reason when it is set while the service runs', async () => {
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { status, body } = await ready();
    expect([status, body.checks.redis]).toEqual([503, 'failing']);
    expect(body.reasons.redis).toMatch(/allkeys-lru/);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    expect((await ready()).status).toBe(200);
  });

  it('ends a start in production with one sentence, and the output has only lines of the log', async () => {
    await redis.config('SET', 'maxmemory-policy', 'volatile-lru');
    const program = new Program('dist/src/main.js', {
      ...(await productionHere()),
      PORT: String(await freePort()),
      DATA_DIR: `${service.dataDir}/production`,
      REDIS_URL: service.redis.url,
    });
    program.spawn();
    expect(await program.ended()).toBe(2);
    const lines = program.output.trim().split('\n');
    expect(lines.pop()).toMatch(
      /^REDIS_URL: Redis may drop .* maxmemory-policy is volatile-lru\. Set it to noeviction\.$/,
    );
    for (const line of lines) expect(JSON.parse(line).msg).toEqual(expect.any(String));
  });
});
