import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { connectionTo, workerConnection } from '../../../src/adapters/redis/connection.js';
import { RedisHealth } from '../../../src/adapters/redis/redis-health.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { until } from '../../support/eventually.js';
import { freePort, RedisServer } from '../../support/redis.js';

let server: RedisServer;
let admin: Redis;
const open: Redis[] = [];
beforeAll(async () => {
  server = await RedisServer.start();
  admin = server.client();
});
beforeEach(async () => {
  await admin.replicaof('NO', 'ONE');
  await admin.config('SET', 'maxmemory', '0');
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
});
afterAll(async () => {
  for (const redis of open.splice(0)) redis.disconnect();
  await server.stop();
});

function connected(url = server.url, metrics = new Metrics()): Redis {
  const redis = connectionTo({ url }, { role: 'all' }, { warn: () => undefined }, metrics.redisCommandsOf('main'));
  open.push(redis);
  return redis;
}

function healthOf(
  redis: Redis,
  { production = true, metrics = new Metrics(), warned = [] as unknown[] } = {},
): RedisHealth {
  return new RedisHealth(redis, production, {
    used: (bytes) => metrics.redisSpace.set(bytes),
    drops: (complaint) => void warned.push(complaint),
  });
}

async function makeReplica(of: Redis = admin): Promise<void> {
  await of.replicaof('127.0.0.1', String(await freePort()));
}

describe('the health of Redis', () => {
  it('fails with the reason when Redis is a replica, and passes when Redis is a primary again', async () => {
    const health = healthOf(connected());
    expect(await health.complaint()).toBeNull();
    await makeReplica();
    expect(await health.complaint()).toMatch(/^Redis refuses to write: READONLY /);
    await admin.replicaof('NO', 'ONE');
    await until('it is well again', async () => (await health.complaint().catch(() => '')) === null);
  });

  it('fails with the reason when the memory is full', async () => {
    const health = healthOf(connected());
    await admin.config('SET', 'maxmemory', '100kb');
    expect(await health.complaint()).toMatch(/^Redis refuses to write: OOM /);
  });

  it('fails with the reason of Redis when Redis refuses writes for another reason', async () => {
    const health = healthOf(connected());
    await admin.acl('SETUSER', 'reader', 'on', '>word', '~*', '+@all', '-set');
    const reader = connected(`redis://reader:word@127.0.0.1:${server.port}`);
    expect(await healthOf(reader).complaint()).toMatch(/^Redis refuses to write: NOPERM /);
    expect(await health.complaint()).toBeNull();
  });

  it('fails before single writes begin to fail', async () => {
    const health = healthOf(connected());
    const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', String(used + 600_000));
    expect(await health.complaint()).toMatch(/^Redis is full: it uses \d+ of \d+ bytes/);
    await admin.config('SET', 'maxmemory', String(used + 8_000_000));
    expect(await health.complaint()).toBeNull();
  });

  it.each(['allkeys-lru', 'volatile-ttl'])(
    'fails with the name of the policy when the policy becomes %s',
    async (policy) => {
      const warned: unknown[] = [];
      const health = healthOf(connected(), { warned });
      expect(await health.policyComplaint()).toBeNull();
      await admin.config('SET', 'maxmemory-policy', policy);
      for (let look = 0; look < 2; look++)
        expect(await health.complaint()).toMatch(new RegExp(`maxmemory-policy is ${policy}`));
      expect(warned).toHaveLength(1);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      expect(await health.complaint()).toBeNull();
    },
  );

  it('warns outside production of an unsuitable policy at the start, and fails when the policy changes', async () => {
    const warned: unknown[] = [];
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const health = healthOf(connected(), { production: false, warned });
    expect(await health.policyComplaint()).toBeNull();
    expect(warned).toEqual([expect.stringMatching(/allkeys-lru/)]);
    await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
    expect(await health.policyComplaint()).toMatch(/volatile-lru/);
  });

  it('accepts a Redis without memory figures, and does not need CONFIG', async () => {
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await admin.acl('SETUSER', 'managed', 'on', '>word', '~*', '+@all', '-config');
    await admin.acl('SETUSER', 'silent', 'on', '>word', '~*', '+@all', '-info');
    const as = (user: string): RedisHealth => healthOf(connected(`redis://${user}:word@127.0.0.1:${server.port}`));
    expect(await as('managed').policyComplaint()).toMatch(/allkeys-lru/);
    expect(await as('silent').policyComplaint()).toBeNull();
  });

  it('throws an error before a scrape times out when Redis does not answer', async () => {
    const health = healthOf(connected());
    expect(await health.complaint()).toBeNull();
    server.freeze();
    await expect(health.complaint()).rejects.toThrow('Redis gave no answer in 900 ms');
    server.resume();
  });

  it('sets the metrics of used memory, its limit and the duration of commands', async () => {
    const metrics = new Metrics();
    await admin.config('SET', 'maxmemory', '80000000');
    await healthOf(connected(server.url, metrics), { metrics }).complaint();
    const text = await metrics.text();
    expect(text).toMatch(/^redis_used_bytes \d{6,}$/m);
    expect(text).toMatch(/^redis_max_bytes 80000000$/m);
    expect(text).toMatch(/^redis_command_seconds_count\{connection="main"\} [1-9]/m);
  });
});

describe('connections whose address leads to another server', () => {
  let other: RedisServer;
  let proxy: Server;
  let leadsTo: RedisServer;
  const through: Socket[] = [];
  beforeAll(async () => {
    other = await RedisServer.start();
    leadsTo = server;
    proxy = createServer((socket) => {
      const inside = connect(leadsTo.port, '127.0.0.1');
      for (const end of [socket, inside]) end.on('error', () => undefined);
      socket.pipe(inside).pipe(socket);
      through.push(socket, inside);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  afterAll(async () => {
    for (const redis of open.splice(0)) redis.disconnect();
    for (const socket of through) socket.destroy();
    proxy.close();
    await other.stop();
  });

  it('are renewed at the first write that a replica refuses, in plain commands, scripts, pipelines and BullMQ', async () => {
    const url = `redis://127.0.0.1:${(proxy.address() as { port: number }).port}`;
    const [plain, scripted, piped, queued] = [
      connected(url),
      connected(url),
      connected(url),
      workerConnection(connected(url)),
    ];
    open.push(queued);
    for (const redis of [plain, scripted, piped, queued]) await redis.connect();
    const worked: string[] = [];
    const worker = new Worker('jobs', async ({ name }) => void worked.push(name), {
      connection: queued,
      runRetryDelay: 20,
      drainDelay: 1,
    });
    worker.on('error', () => undefined);
    const queue = new Queue('jobs', { connection: queued });
    queue.on('error', () => undefined);
    await queue.add('before', {});
    await until('the worker works', () => worked.includes('before'));

    leadsTo = other;
    await makeReplica();
    const there = other.client();
    const writes = [
      () => plain.set('plain', ''),
      () => scripted.eval("return redis.call('SET', KEYS[1], '')", 1, 'scripted'),
      () => piped.multi().set('piped', '').exec(),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow();
    await until('all write to the other one', async () => {
      await Promise.allSettled([...writes.map((write) => write()), queue.add('after', {})]);
      return (await there.exists('plain', 'scripted', 'piped')) === 3 && worked.includes('after');
    });
    await worker.close();
    await queue.close();
  });

  it('are renewed at most once a second while the address leads to a replica', async () => {
    const redis = connected();
    await redis.connect();
    await redis.get('warm');
    await makeReplica();
    const ids = new Set<number>();
    for (let count = 0; count < 50; count++) {
      await redis.set('a', '').catch(() => undefined);
      await until('it is connected', () => redis.status === 'ready');
      await redis.client('ID').then(
        (id) => ids.add(id),
        () => undefined,
      );
    }
    expect(ids.size).toBeLessThan(5);
  });
});
