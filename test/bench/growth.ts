// (n) The figures that grow with the log, for a short and a long log whose older events are compressed.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { appendScreenings } from '../support/long-log.js';
import { ALONE, Service } from '../support/service.js';
import { call, type Caller } from './caller.js';
import { idle } from './comparison.js';
import { anonymousBytesOf, latencies, quantile, tell } from './measure.js';
import { submitted } from './operations.js';

const SHORT = 10_000;
const LONG = Number(process.env['EVENTS'] ?? 200_000);
const WARM_UP = 200;
const READS = 1_000;
const SUBMITS = 100;

export async function benchGrowth(): Promise<void> {
  for (const events of [SHORT, LONG]) await benchLog(events);
}

async function benchLog(events: number): Promise<void> {
  const size = `of ${events.toLocaleString('en-US')} events`;
  const data = async (folder: string): Promise<void> => {
    const log = EmbeddedEventStore.open({ directory: join(folder, 'events'), uncompressedEvents: 0 });
    try {
      await appendScreenings(log, events);
      await log.compress();
      tell(`(n) disk of a log ${size}`, (await sizeOf(log)) / events, 'bytes an event');
    } finally {
      await log.close();
    }
  };
  const service = await Service.start({ LOG_LEVEL: 'warn' }, { alone: ALONE, stored: { data } });
  try {
    // All read models are built at this point.
    await idle([service.program.pid ?? 0]);
    await service.program.end('SIGTERM');
    const startedAt = performance.now();
    await service.startAgain();
    tell(`(n) start with a log ${size}`, performance.now() - startedAt, 'ms');
    await benchRequests(service, size);
    tell(
      `(n) anonymous memory with a log ${size}`,
      (await anonymousBytesOf(service.program.pid ?? 0)) / 2 ** 20,
      'MiB',
    );
  } finally {
    await service.stop();
  }
}

async function benchRequests(service: Service, size: string): Promise<void> {
  const { headers } = await service.signIn('nopay');
  const caller: Caller = {
    pool: new Pool(service.baseUrl, { connections: 1 }),
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const path = `/screening/${await submitted(caller)}/status`;
  const read = async (): Promise<void> => void (await call(caller, 'GET', path));
  const submit = async (): Promise<void> => void (await submitted(caller));
  await latencies(WARM_UP, submit);
  await idle([service.program.pid ?? 0]);
  tell(`(n) p50 of a status with a log ${size}`, quantile(await latencies(READS, read), 0.5), 'ms');
  tell(`(n) p50 of a submission with a log ${size}`, quantile(await latencies(SUBMITS, submit), 0.5), 'ms');
  await caller.pool.close();
}

/** The size of a copy. The copy has no free pages. */
async function sizeOf(log: EmbeddedEventStore): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-growth-'));
  try {
    await log.copyTo(folder);
    return (await stat(join(folder, 'events.mdb'))).size;
  } finally {
    await rm(folder, { recursive: true });
  }
}
