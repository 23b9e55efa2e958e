// (h): a registration on the direct API beside a submission on the platform, in the same run on the same service.
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { ALONE, aPerson, Service } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { latencies, medians, quantile, tell, throughput } from './measure.js';
import { IN_FLIGHT, PER_ROUND, ROUNDS } from './service.js';

export async function benchDirect(): Promise<void> {
  const service = await Service.start({ LOG_LEVEL: 'warn' }, { alone: ALONE });
  try {
    const { headers } = await service.signIn('nopay');
    const { accounts } = await service.credentials();
    const pool = new Pool(service.baseUrl, { connections: IN_FLIGHT });
    const json = { 'content-type': 'application/json' };
    const page: Caller = { pool, headers: { ...headers, ...json } };
    const server: Caller = { pool, headers: { 'x-api-key': accounts.nopay.apiKey, ...json } };
    const submit = async (): Promise<void> => void (await call(page, 'POST', '/screening/submit', aPerson()));
    const register = async (): Promise<void> => {
      const { dateOfBirth: dob, ...person } = aPerson();
      await call(server, 'POST', `/api/idv/renters/${randomUUID()}`, { ...person, dob });
    };
    await throughput(1_000, IN_FLIGHT, submit);
    await throughput(1_000, IN_FLIGHT, register);
    const h = await medians(ROUNDS, {
      submit: () => throughput(PER_ROUND, IN_FLIGHT, submit),
      register: () => throughput(PER_ROUND, IN_FLIGHT, register),
    });
    tell(`(h) POST /screening/submit, ${IN_FLIGHT} in flight`, h.submit, 'requests/s');
    tell(`(h) POST /api/idv/renters/{id}, ${IN_FLIGHT} in flight`, h.register, 'requests/s');
    tell('(h) register / submit', h.register / h.submit, '', { atLeast: 0.95 });
    tell('(h) submit, one at a time, p50', quantile(await latencies(300, submit), 0.5), 'ms');
    tell('(h) register, one at a time, p50', quantile(await latencies(300, register), 0.5), 'ms');
  } finally {
    await service.stop();
  }
}
