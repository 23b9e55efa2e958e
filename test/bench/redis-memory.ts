// (n) The memory of a screening in Redis by kind of key, while Redis keeps its documents and after their removal.
import type { Redis } from 'ioredis';
import { Pool } from 'undici';
import { RIGHT_OTP_CODE } from '../../src/vendors/idv/double/step-up.js';
import { until } from '../support/eventually.js';
import { Processor } from '../support/processor.js';
import type { Service } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { throughput } from './measure.js';
import { submitted } from './operations.js';
import { BenchReceiver } from './webhook-receiver.js';
import { serviceWithEndpoints } from './webhooks.js';

const COUNT = 400;
const IN_FLIGHT = 16;
const FEE = 3_500;
/** The hours for which Redis keeps documents. With 0, documents are removed at the next commit. */
const [KEPT, LEFT] = ['72', '0'];
const STILL_BYTES = 30_000;
const LOOK_MS = 3_000;

/** Bytes in Redis by kind of key. */
type Sizes = ReadonlyMap<string, number>;
type Kinds = Readonly<Record<string, () => Promise<void>>>;

export async function benchRedisMemory(): Promise<void> {
  const receiver = await BenchReceiver.start();
  try {
    const kept = await perScreening(receiver, KEPT);
    const left = await perScreening(receiver, LEFT);
    for (const [kind, sizes] of kept) {
      const after = left.get(kind);
      const sum = (all: Sizes | undefined): number => [...(all?.values() ?? [])].reduce((total, one) => total + one, 0);
      line(`(n) bytes a screening, ${kind}`, 'kept', 'left');
      for (const [name, bytes] of [...sizes].sort(([, one], [, next]) => next - one))
        line(`  ${name}`, bytes.toFixed(0), (after?.get(name) ?? 0).toFixed(0));
      line('  together', sum(sizes).toFixed(0), sum(after).toFixed(0));
    }
  } finally {
    await receiver.close();
  }
}

async function perScreening(receiver: BenchReceiver, hours: string): Promise<Map<string, Sizes>> {
  const { service } = await serviceWithEndpoints(receiver, { READ_MODEL_HOURS: hours });
  try {
    const redis = service.redis.client();
    const grown = new Map<string, Sizes>();
    for (const [kind, screening] of Object.entries(await kindsOf(service))) {
      // The first screening also creates keys that exist only once.
      await screening();
      const before = await sizesAtRest(redis);
      await throughput(COUNT, IN_FLIGHT, screening);
      const after = await sizesAtRest(redis);
      const sizes = [...after].map(([name, bytes]) => [name, (bytes - (before.get(name) ?? 0)) / COUNT] as const);
      grown.set(kind, new Map(sizes.filter(([, bytes]) => Math.abs(bytes) >= 1)));
    }
    return grown;
  } finally {
    await service.stop();
  }
}

async function kindsOf(service: Service): Promise<Kinds> {
  const processor = new Processor(service.sandboxUrl);
  const pool = new Pool(service.baseUrl, { connections: IN_FLIGHT });
  const callerOf = async (account: 'demo' | 'nopay'): Promise<Caller> => ({
    pool,
    headers: { ...(await service.signIn(account)).headers, 'content-type': 'application/json' },
  });
  const [demo, nopay] = await Promise.all([callerOf('demo'), callerOf('nopay')]);
  return {
    simple: async () => void (await submitted(nopay)),
    'with one-time code, payment, report read twice': async () => {
      const id = await submitted(demo, { lastName: 'Otptest' }, 'STEP_UP_REQUIRED');
      await call(demo, 'POST', `/screening/${id}/otp`, { code: RIGHT_OTP_CODE });
      const intent = await call(demo, 'POST', '/payments/create-intent', { amount: FEE, screeningId: id });
      await processor.confirm(intent.client_secret, 'pm_card_visa');
      await call(demo, 'POST', `/payments/${intent.transaction_id}/confirm`);
      const { overallStatus } = await call(demo, 'GET', `/screening/${id}/status`);
      if (overallStatus !== 'COMPLETED') throw new Error(`A paid screening is ${overallStatus}`);
      for (let read = 0; read < 2; read++) await call(demo, 'GET', `/reports/${id}`);
    },
  };
}

/** Measures when Redis has stopped growing, because deliveries and commits follow the answers. */
async function sizesAtRest(redis: Redis): Promise<Sizes> {
  let before = 0;
  const still = async (): Promise<boolean> => {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = Number(/used_memory_dataset:(\d+)/.exec(await redis.info('memory'))?.[1]);
    const difference = Math.abs(now - before);
    before = now;
    return difference < STILL_BYTES;
  };
  await until('Redis has stopped growing', still, 120_000);
  const sizes = new Map<string, number>();
  for (let cursor = '0'; ;) {
    const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
    for (const key of keys) {
      const name = key.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[\w-]{20,}/g, '*');
      sizes.set(name, (sizes.get(name) ?? 0) + ((await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0));
    }
    cursor = next;
    if (cursor === '0') return sizes;
  }
}

function line(name: string, kept: string, left: string): void {
  process.stdout.write(`${name.padEnd(72)} ${kept.padStart(6)} ${left.padStart(6)}\n`);
}
