// (f) Payment intents for new sessions, compared with submissions to the same service. The sandbox's processor runs on the same machine.
import { Pool } from 'undici';
import { ALONE, aPerson, Service } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { latencies, medians, quantile, tell, throughput } from './measure.js';

const IN_FLIGHT = 64;
const ROUNDS = 5;
const PER_ROUND = 1_000;
const ALONE_COUNT = 200;

export async function benchPayments(): Promise<void> {
  const service = await Service.start({ LOG_LEVEL: 'warn' }, { alone: ALONE });
  try {
    const { headers } = await service.signIn('demo');
    const caller: Caller = {
      pool: new Pool(service.baseUrl, { connections: IN_FLIGHT }),
      headers: { ...headers, 'content-type': 'application/json' },
    };
    const sessions: string[] = [];
    const submit = async (): Promise<void> => {
      const { id } = await call(caller, 'POST', '/screening/submit', aPerson());
      sessions.push(id as string);
    };
    const create = async (): Promise<void> =>
      void (await call(caller, 'POST', '/payments/create-intent', {
        amount: 3_500,
        screeningId: sessions.pop() ?? '',
      }));
    await throughput(PER_ROUND + ALONE_COUNT, IN_FLIGHT, submit);
    await throughput(PER_ROUND, IN_FLIGHT, create);
    const f = await medians(ROUNDS, {
      submit: () => throughput(PER_ROUND, IN_FLIGHT, submit),
      create: () => throughput(PER_ROUND, IN_FLIGHT, create),
    });
    tell(`(f) POST /payments/create-intent, ${IN_FLIGHT} in flight`, f.create, 'requests/s');
    tell('(f) create-intent / submit', f.create / f.submit, '');
    tell('(f) create-intent, one at a time, p50', quantile(await latencies(ALONE_COUNT, create), 0.5), 'ms');
  } finally {
    await service.stop();
  }
}
