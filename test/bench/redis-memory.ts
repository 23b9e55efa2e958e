// (m) What a screening leaves in Redis: at once, and without end, which is what has no time to live and is in no bounded list.
import type { Redis } from 'ioredis';
import { Pool } from 'undici';
import { RIGHT_OTP_CODE } from '../../src/vendors/idv/double/step-up.js';
import { until } from '../support/eventually.js';
import { Processor } from '../support/processor.js';
import { aPerson } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { throughput } from './measure.js';
import { BenchReceiver } from './webhook-receiver.js';
import { serviceWithEndpoints } from './webhooks.js';

const COUNT = 400;
const IN_FLIGHT = 16;
const FEE = 3_500;

export async function benchRedisMemory(): Promise<void> {
  const receiver = await BenchReceiver.start();
  const { service } = await serviceWithEndpoints(receiver, false);
  try {
    const redis = service.redis.client();
    const processor = new Processor(service.sandboxUrl);
    const callerOf = async (account: 'demo' | 'nopay' | 'unbilled'): Promise<Caller> => ({
      pool: new Pool(service.baseUrl, { connections: IN_FLIGHT }),
      headers: { ...(await service.signIn(account)).headers, 'content-type': 'application/json' },
    });
    const [demo, nopay] = await Promise.all([callerOf('demo'), callerOf('nopay')]);
    const submit = async (caller: Caller, lastName: string): Promise<string> =>
      (await call(caller, 'POST', '/screening/submit', aPerson({ lastName }))).id as string;
    const kinds: Readonly<Record<string, () => Promise<void>>> = {
      'simple: submitted and verified': async () => void (await submit(nopay, 'Example')),
      'full: one-time code, payment, report read twice, shared': async () => {
        const id = await submit(demo, 'Otptest');
        await call(demo, 'POST', `/screening/${id}/otp`, { code: RIGHT_OTP_CODE });
        const intent = await call(demo, 'POST', '/payments/create-intent', { amount: FEE, screeningId: id });
        await processor.confirm(intent.client_secret, 'pm_card_visa');
        await call(demo, 'POST', `/payments/${intent.transaction_id}/confirm`);
        await until('the report is there', async () => {
          const { statusCode, body } = await demo.pool.request({
            method: 'GET',
            path: `/reports/${id}`,
            headers: demo.headers,
          });
          await body.dump();
          return statusCode === 200;
        });
        await call(demo, 'GET', `/reports/${id}`);
      },
    };
    for (const [kind, screening] of Object.entries(kinds)) {
      await screening();
      const before = await settled(redis);
      await throughput(COUNT, IN_FLIGHT, screening);
      const after = await settled(redis);
      process.stdout.write(`(m) ${kind}; bytes a screening\n`);
      for (const [name, { bytes, lasting }] of [...after].sort(([, one], [, next]) => next.bytes - one.bytes)) {
        const earlier = before.get(name);
        const grown = (bytes - (earlier?.bytes ?? 0)) / COUNT;
        if (Math.abs(grown) < 1) continue;
        const forever = (lasting - (earlier?.lasting ?? 0)) / COUNT;
        process.stdout.write(
          `  ${name.padEnd(48)} ${grown.toFixed(0).padStart(7)}  without end ${forever.toFixed(0).padStart(7)}\n`,
        );
      }
    }
  } finally {
    await service.stop();
    await receiver.close();
  }
}

interface Share {
  readonly bytes: number;
  /** Of keys without a time to live. */
  readonly lasting: number;
}

/** The memory of Redis by kind of key, once it has stopped growing. */
async function settled(redis: Redis): Promise<Map<string, Share>> {
  let before = -1;
  await until(
    'nothing is under way',
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const now = Number(/used_memory_dataset:(\d+)/.exec(await redis.info('memory'))?.[1] ?? 0);
      const still = Math.abs(now - before) < 30_000;
      before = now;
      return still;
    },
    120_000,
  );
  const shares = new Map<string, Share>();
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
    for (const key of keys) {
      const [usage, ttl] = await Promise.all([redis.memory('USAGE', key, 'SAMPLES', 0), redis.pttl(key)]);
      const bytes = usage ?? 0;
      const name = key.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9A-Za-z_-]{20,}/g, '*').replace(/:\d+(?=:|$)/g, ':#');
      const { bytes: sum, lasting } = shares.get(name) ?? { bytes: 0, lasting: 0 };
      shares.set(name, { bytes: sum + bytes, lasting: lasting + (ttl === -1 ? bytes : 0) });
    }
    cursor = next;
    if (cursor === '0') return shares;
  }
}
