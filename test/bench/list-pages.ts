// (p) Pages of a long list of sessions over HTTP. Most entries in Redis are synthetic. The sessions on the measured pages are real.
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { keysOf, listName } from '../../src/adapters/read-models/redis-keys.js';
import { listOf } from '../../src/kernel/projection.js';
import { screeningStatus } from '../../src/modules/screening/read/screening-status.js';
import { until } from '../support/eventually.js';
import { ALONE, Service } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { latencies, quantile, tell, throughput } from './measure.js';
import { submitted } from './operations.js';

const ENTRIES = Number(process.env['ENTRIES'] ?? 1_000_000);
const SESSIONS = 400;
const IN_FLIGHT = 8;
const BATCH = 10_000;
const WARM_UP = 100;
const PAGES = 1_000;
const TARGET_MS = 50;
const HOUR_MS = 3_600_000;

export async function benchListPages(): Promise<void> {
  const service = await Service.start({ LOG_LEVEL: 'warn' }, { alone: ALONE });
  try {
    const { accountId: account, secretKey } = (await service.credentials()).accounts.nopay;
    const pool = new Pool(service.baseUrl, { connections: IN_FLIGHT });
    const page: Caller = {
      pool,
      headers: { ...(await service.signIn('nopay')).headers, 'content-type': 'application/json' },
    };
    const server: Caller = { pool, headers: { 'x-secret-key': secretKey } };
    await throughput(SESSIONS, IN_FLIGHT, async () => void (await submitted(page)));
    const list = (query: string): Promise<any> => call(server, 'GET', `/v1/screenings?${query}`);
    await until('all sessions are listed', async () => (await list('limit=1')).total === SESSIONS);
    await fill(service, [
      listOf({ account, environment: 'test' }),
      listOf({ account, environment: 'test', overallStatus: 'COMPLETED' }),
    ]);
    // Half of the synthetic entries are newer than the sessions.
    const middle = `created_before=${new Date(Date.now() + HOUR_MS / 2).toISOString()}`;
    for (const [name, query] of [
      ['a page of 20', middle],
      ['a page of 100', `${middle}&limit=100`],
      ['a page of 20 with a status', `${middle}&status=VERIFIED`],
    ] as const) {
      let cursor: string | null = null;
      const read = async (): Promise<void> => {
        const answer = await list(cursor === null ? query : `${query}&cursor=${cursor}`);
        // Behind the sessions, the pages have synthetic entries only. Their documents are missing.
        cursor = answer.data.length === 0 ? null : answer.next_cursor;
      };
      await latencies(WARM_UP, read);
      const times = await latencies(PAGES, read);
      const { total } = await list(query);
      tell(`(p) ${name} of ${total.toLocaleString('en-US')} sessions, p50`, quantile(times, 0.5), 'ms');
      tell(`(p) ${name}, p95`, quantile(times, 0.95), 'ms', { below: TARGET_MS });
    }
    await pool.close();
  } finally {
    await service.stop();
  }
}

/** Adds synthetic entries to each list, half of them older and half of them newer than the present. */
async function fill(service: Service, lists: readonly string[]): Promise<void> {
  const redis = service.redis.client();
  const { entries } = keysOf(screeningStatus).live;
  const now = Date.now();
  for (const list of lists)
    for (let made = 0; made < ENTRIES; made += BATCH)
      await redis.zadd(
        entries,
        ...Array.from({ length: BATCH }, (_, at) => {
          const side = (made + at) % 2 === 0 ? 1 : -1;
          const time = new Date(now + side * (HOUR_MS + (made + at) * 1_000)).toISOString();
          return [0, `${listName(list)} ${time} ${randomUUID()}`] as const;
        }).flat(),
      );
}
