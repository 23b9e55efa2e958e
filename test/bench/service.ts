// (b), (c), (e) and (f): the service over HTTP, beside the bare tools it is made of, on the same machine in the same run.
import { Queue, QueueEvents, Worker } from 'bullmq';
import { fastify } from 'fastify';
import { Pool } from 'undici';
import { ALONE, aPerson, Service } from '../support/service.js';
import { RedisServer } from '../support/redis.js';
import { call, type Caller } from './caller.js';
import { latencies, medians, quantile, tell, throughput } from './measure.js';

export const IN_FLIGHT = 64;
export const ROUNDS = 5;
export const PER_ROUND = 3_000;

export async function benchService(): Promise<void> {
  const service = await Service.start({ LOG_LEVEL: 'warn' }, { alone: ALONE });
  const bullRedis = await RedisServer.start();
  const bull = bareBullMq(bullRedis);
  const bare = await bareStatusRoute(service.redis);
  try {
    const { headers } = await service.signIn('nopay');
    const caller: Caller = {
      pool: new Pool(service.baseUrl, { connections: IN_FLIGHT }),
      headers: { ...headers, 'content-type': 'application/json' },
    };
    const anonymous: Caller = { pool: caller.pool, headers: {} };
    const submit = async (): Promise<void> => void (await call(caller, 'POST', '/screening/submit', aPerson()));
    // Once round, so that nothing is compiled or connected while it is measured.
    await throughput(1_000, IN_FLIGHT, submit);
    await throughput(1_000, IN_FLIGHT, bull.roundTrip);

    const b = await medians(ROUNDS, {
      submit: () => throughput(PER_ROUND, IN_FLIGHT, submit),
      bull: () => throughput(PER_ROUND, IN_FLIGHT, bull.roundTrip),
      empty: () =>
        throughput(PER_ROUND * 3, IN_FLIGHT, async () => void (await call(anonymous, 'GET', '/health/live'))),
    });
    tell(`(b) POST /screening/submit, ${IN_FLIGHT} in flight`, b.submit, 'requests/s');
    tell('(b) bare BullMQ add-process-wait', b.bull, 'round trips/s');
    tell('(b) an empty route of the same server', b.empty, 'requests/s');
    tell('(b) submit / bare round trip', b.submit / b.bull, '', { atLeast: 0.5 });
    tell('(b) submit, one at a time, p50', quantile(await latencies(300, submit), 0.5), 'ms');
    tell('(b) bare round trip, one at a time, p50', quantile(await latencies(300, bull.roundTrip), 0.5), 'ms');

    const { id } = await call(caller, 'POST', '/screening/submit', aPerson());
    const barePool: Caller = { pool: new Pool(bare.url, { connections: IN_FLIGHT }), headers: {} };
    const status = async (): Promise<void> => void (await call(caller, 'GET', `/screening/${id}/status`));
    const bareGet = async (): Promise<void> => void (await call(barePool, 'GET', '/status/1'));
    await throughput(3_000, IN_FLIGHT, status);
    await throughput(3_000, IN_FLIGHT, bareGet);
    const c = await medians(ROUNDS, {
      status: () => throughput(PER_ROUND * 3, IN_FLIGHT, status),
      bare: () => throughput(PER_ROUND * 3, IN_FLIGHT, bareGet),
    });
    tell(`(c) GET /screening/{id}/status, ${IN_FLIGHT} in flight`, c.status, 'requests/s');
    tell('(c) bare Fastify route with one Redis GET', c.bare, 'requests/s');
    tell('(c) status / bare', c.status / c.bare, '', { atLeast: 0.6 });

    await benchReports(caller, id, status);
    await benchPayments(service, bull.roundTrip);
  } finally {
    await bull.close();
    await bare.close();
    await bullRedis.stop();
    await service.stop();
  }
}

/** (e) Every read of a stored report is recorded, durably, before it is answered; the status is only read. */
async function benchReports(caller: Caller, id: string, status: () => Promise<void>): Promise<void> {
  const read = async (): Promise<void> => void (await call(caller, 'GET', `/reports/${id}`));
  await throughput(1_000, IN_FLIGHT, read);
  const e = await medians(ROUNDS, {
    report: () => throughput(PER_ROUND, IN_FLIGHT, read),
    status: () => throughput(PER_ROUND, IN_FLIGHT, status),
  });
  tell(`(e) GET /reports/{id}, stored, ${IN_FLIGHT} in flight`, e.report, 'requests/s');
  tell('(e) stored report / status', e.report / e.status, '');
  tell('(e) stored report, one at a time, p50', quantile(await latencies(300, read), 0.5), 'ms');
}

/** (f) A new intent for a new session each time; the sandbox processor is on the same two cores. */
async function benchPayments(service: Service, bareRoundTrip: () => Promise<void>): Promise<void> {
  const { headers } = await service.signIn('demo');
  const caller: Caller = {
    pool: new Pool(service.baseUrl, { connections: IN_FLIGHT }),
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const perRound = 1_000;
  const sessions: string[] = [];
  await throughput((ROUNDS + 1) * perRound, IN_FLIGHT, async () => {
    const { id } = await call(caller, 'POST', '/screening/submit', aPerson());
    sessions.push(id as string);
  });
  const create = async (): Promise<void> =>
    void (await call(caller, 'POST', '/payments/create-intent', { amount: 3_500, screeningId: sessions.pop() ?? '' }));
  await throughput(perRound, IN_FLIGHT, create);
  const f = await medians(ROUNDS, {
    create: () => throughput(perRound, IN_FLIGHT, create),
    bull: () => throughput(perRound * 3, IN_FLIGHT, bareRoundTrip),
  });
  tell(`(f) POST /payments/create-intent, ${IN_FLIGHT} in flight`, f.create, 'requests/s');
  tell('(f) create-intent / bare BullMQ round trip', f.create / f.bull, '');
}

function bareBullMq(redis: RedisServer): { roundTrip(): Promise<void>; close(): Promise<void> } {
  const connection = { host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null };
  const queue = new Queue('bare', { connection, defaultJobOptions: { removeOnComplete: { count: 1_000 } } });
  queue.setMaxListeners(0);
  const events = new QueueEvents('bare', { connection });
  events.setMaxListeners(0);
  const worker = new Worker('bare', () => Promise.resolve({ kind: 'confirmed' }), {
    connection,
    concurrency: IN_FLIGHT,
  });
  return {
    roundTrip: async () => {
      const job = await queue.add('register', { attemptId: 'x', payloadRef: 'y' });
      await job.waitUntilFinished(events, 20_000);
    },
    close: async () => {
      await worker.close();
      await events.close();
      await queue.close();
    },
  };
}

/** In a process of its own, as the service is. */
async function bareStatusRoute(redis: RedisServer): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { fork } = await import('node:child_process');
  const child = fork(new URL(import.meta.url), ['bare-status-route', redis.url], { stdio: 'inherit' });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)));
    child.once('error', reject);
  });
  return {
    url,
    close: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

if (process.argv[2] === 'bare-status-route') {
  const { Redis } = await import('ioredis');
  const redis = new Redis(process.argv[3] ?? '');
  await redis.set(
    'bare:1',
    JSON.stringify({
      id: '01a1fc31-24c1-779b-9679-99dcbe35a994',
      status: 'VERIFIED',
      verificationStatus: 'VERIFIED',
      paymentStatus: 'NOT_REQUIRED',
      overallStatus: 'COMPLETED',
    }),
  );
  const app = fastify();
  app.get<{ Params: { id: string } }>('/status/:id', async (request, reply) => {
    const stored = await redis.get(`bare:${request.params.id}`);
    return reply.type('application/json').send(stored);
  });
  process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }));
}
