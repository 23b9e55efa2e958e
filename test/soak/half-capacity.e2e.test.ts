// The service runs at half of its capacity for minutes. Every request gets its own answer, and every event is
// delivered. Memory does not grow with the number of screenings, and the event loop is never blocked for long. Skipped
// unless SOAK_MINUTES sets the duration.
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { RIGHT_OTP_CODE } from '../../src/vendors/idv/double/step-up.js';
import { call, type Caller } from '../bench/caller.js';
import { anonymousBytesOf, cpuMsOf, paced, quantile, slope, tell, throughput } from '../bench/measure.js';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, trustFile } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { HttpsReceiver } from '../support/https-receiver.js';
import { Inspector } from '../support/inspector.js';
import { freePort } from '../support/redis.js';
import { ALONE, aPerson, Service } from '../support/service.js';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 0);
const IN_FLIGHT = 64;
/**
 * The screenings that fill the service's caches (docs/operations/capacity.md). The memory check starts after these
 * screenings, because full caches are not a leak.
 */
const WARMING = 12_000;
/** The number of screenings with which the capacity is measured. */
const CALIBRATING = 2_000;
/** Windows of equal length. The first two windows are not measured. */
const WINDOWS = 10;
const LEFT_OUT = 2;
const MIB = 2 ** 20;
const LAG_BELOW_MS = 20;
/**
 * The limits of growth for each screening. Other libraries also use anonymous memory outside the heap, and this memory
 * varies by a megabyte.
 */
const [HEAP_BELOW_BYTES, ANONYMOUS_BELOW_BYTES] = [200, 500];

/** Values at the end of a window: the lag during the window in milliseconds, and the memory in use without garbage, in bytes. */
interface Reading {
  readonly screenings: number;
  readonly atMs: number;
  readonly cpuMs: number;
  readonly redisCpuMs: number;
  readonly redisBytes: number;
  readonly logBytes: number;
  readonly lagP50: number;
  readonly lagP99: number;
  readonly lagMax: number;
  readonly uncollected: number;
  readonly anonymous: number;
  readonly heap: number;
}

/** Screens people and checks the answers. */
class Load {
  readonly errors: string[] = [];
  /** Events that the account must receive, each as the session's id and the type of the event. */
  readonly events = new Set<string>();
  readonly delivered = new Set<string>();
  requests = 0;
  screenings = 0;
  private begun = 0;

  constructor(
    private readonly caller: Caller,
    private readonly owner: EndpointOwner,
    private readonly receiver: HttpsReceiver,
  ) {}

  /** Removes the requests that the receiver has got, and checks that each is signed. */
  collect(): void {
    for (const request of this.receiver.requests.splice(0)) {
      const { type, data } = this.owner.verified(request);
      this.delivered.add(`${data.session_id} ${type}`);
    }
  }

  /** Never rejects. Every fourth person must enter a code. */
  readonly screening = async (): Promise<void> => {
    try {
      this.collect();
      await this.screened(this.begun++ % 4 === 0);
    } catch (error) {
      this.errors.push(String(error));
    }
    this.screenings += 1;
  };

  private async screened(challenged: boolean): Promise<void> {
    const lastName = challenged ? 'Otptest' : 'Example';
    const { id, status } = await this.ask('POST', '/screening/submit', aPerson({ lastName }));
    expect(status).toBe(challenged ? 'STEP_UP_REQUIRED' : 'VERIFIED');
    const path = `/screening/${id}`;
    if (challenged) {
      this.events.add(`${id} screening.step_up_required`);
      expect(await this.ask('GET', `${path}/status`)).toMatchObject({ id, status });
      expect(await this.ask('POST', `${path}/otp`, { code: RIGHT_OTP_CODE })).toEqual({ id, status: 'VERIFIED' });
    }
    this.events.add(`${id} screening.completed`);
    for (let look = 0; look < 2; look++)
      expect(await this.ask('GET', `${path}/status`)).toMatchObject({ id, overallStatus: 'COMPLETED' });
    expect(await this.ask('GET', `/reports/${id}`)).toMatchObject({ sessionId: id, score: { min: 300, max: 850 } });
  }

  private async ask(method: 'GET' | 'POST', path: string, body?: object): Promise<any> {
    this.requests += 1;
    return call(this.caller, method, path, body);
  }
}

(MINUTES > 0 ? it : it.skip)(
  'at half of its capacity the service makes no errors, leaks nothing and answers at once',
  async () => {
    const authority = new CertificateAuthority();
    const [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
    const inspectorPort = await freePort();
    const service = await Service.start(
      {
        LOG_LEVEL: 'warn',
        WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
        NODE_EXTRA_CA_CERTS: trust.file,
        NODE_OPTIONS: `--inspect-port=${inspectorPort}`,
      },
      { alone: ALONE },
    );
    let inspector: Inspector | undefined;
    try {
      inspector = await Inspector.open(service.program.pid ?? 0, inspectorPort);
      await soak(service, receiver, inspector);
    } finally {
      inspector?.close();
      await service.stop();
      await receiver.close();
      await rm(trust.folder, { recursive: true, force: true });
    }
  },
  (MINUTES * 60 + 900) * 1_000,
);

async function soak(service: Service, receiver: HttpsReceiver, inspector: Inspector): Promise<void> {
  const account = (await service.credentials()).accounts.nopay;
  const owner = new EndpointOwner(service, account);
  await owner.register(receiver.url('/nopay'));
  await service.ops('accounts', 'credit', account.accountId, '--add', '1000000', '--reference', 'soak');
  const { headers } = await service.signIn('nopay');
  const caller: Caller = {
    pool: new Pool(service.baseUrl, { connections: IN_FLIGHT }),
    headers: { ...headers, 'content-type': 'application/json' },
  };
  const load = new Load(caller, owner, receiver);
  const redis = service.redis.client();
  const [pid, redisPid] = [service.program.pid ?? 0, service.redis.pid ?? 0];
  const metrics = async (): Promise<string> => (await service.request('GET', '/metrics')).text;
  const read = async (): Promise<Reading> => {
    const [text, uncollected] = [await metrics(), await anonymousBytesOf(pid)];
    const lag = (name: string): number => metric(text, `nodejs_eventloop_lag_${name}_seconds`) * 1_000;
    const reading = {
      screenings: load.screenings,
      atMs: performance.now(),
      cpuMs: await cpuMsOf(pid),
      redisCpuMs: await cpuMsOf(redisPid),
      redisBytes: Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]),
      logBytes: metric(text, 'event_store_used_bytes'),
      lagP50: lag('p50'),
      lagP99: lag('p99'),
      lagMax: lag('max'),
      uncollected,
      heap: await inspector.collectedHeap(),
      anonymous: await anonymousBytesOf(pid),
    };
    // This read resets the percentiles, so that they do not include the pause of this collection.
    await metrics();
    return reading;
  };

  await throughput(WARMING, IN_FLIGHT, load.screening);
  const capacity = await throughput(CALIBRATING, IN_FLIGHT, load.screening);
  expect(load.errors).toEqual([]);

  const windows: Reading[] = [];
  const watch = async (): Promise<void> => {
    for (const startedAt = performance.now(); windows.length < WINDOWS; windows.push(await read()))
      await pause(startedAt + ((windows.length + 1) * MINUTES * 60_000) / WINDOWS - performance.now());
  };
  const times = await paced(capacity / 2, watch(), load.screening);
  const isComplete = (): boolean => {
    load.collect();
    return load.delivered.size >= load.events.size;
  };
  await until('all is delivered', isComplete).catch((error: Error) => load.errors.push(error.message));

  const measured = windows.slice(LEFT_OUT);
  const [before, after] = [windows[LEFT_OUT - 1] as Reading, measured.at(-1) as Reading];
  const worst = (name: keyof Reading): number => Math.max(...measured.map((reading) => reading[name]));
  const increase = (name: keyof Reading): number => after[name] - before[name];
  const each = (name: keyof Reading): number => increase(name) / increase('screenings');
  const growth = (name: keyof Reading): number =>
    slope([before, ...measured].map((reading) => [reading.screenings, reading[name]]));
  const rate = increase('screenings') / increase('atMs');
  tell('minutes measured', increase('atMs') / 60_000, `of ${MINUTES}`);
  tell('capacity', capacity, 'screenings/s');
  tell('offered', rate * 1_000, 'screenings/s');
  tell('screenings measured', increase('screenings'), `of ${load.screenings}`);
  tell('requests', load.requests, '');
  tell('deliveries', load.delivered.size, `of ${load.events.size}`);
  tell('errors', load.errors.length, '', { below: 1 });
  tell('time of a screening, p50', quantile(times, 0.5), 'ms');
  tell('time of a screening, p99', quantile(times, 0.99), 'ms');
  tell('anonymous memory, the most', worst('uncollected') / MIB, 'MiB');
  tell('anonymous memory without garbage, at first', before.anonymous / MIB, 'MiB');
  tell('anonymous memory without garbage, at last', after.anonymous / MIB, 'MiB');
  tell('its slope', (growth('anonymous') * rate * 3_600_000) / MIB, 'MiB an hour');
  tell('its slope', growth('anonymous'), 'bytes a screening', { below: ANONYMOUS_BELOW_BYTES });
  tell('slope of the heap without garbage', growth('heap'), 'bytes a screening', { below: HEAP_BELOW_BYTES });
  tell('event loop lag, p50 of the worst window', worst('lagP50'), 'ms');
  tell('event loop lag, p99 of the worst window', worst('lagP99'), 'ms', { below: LAG_BELOW_MS });
  tell('event loop lag, max', worst('lagMax'), 'ms');
  tell('CPU of the service', each('cpuMs') * 1_000, 'us a screening');
  tell('CPU of Redis', each('redisCpuMs') * 1_000, 'us a screening');
  tell('Redis grows by', each('redisBytes'), 'bytes a screening');
  tell('the log grows by', each('logBytes'), 'bytes a screening');

  if (load.errors.length > 0) process.stdout.write(service.program.output.slice(-5_000));
  expect(load.errors).toEqual([]);
  expect([...load.delivered].filter((event) => !load.events.has(event))).toEqual([]);
  expect(growth('anonymous')).toBeLessThan(ANONYMOUS_BELOW_BYTES);
  expect(growth('heap')).toBeLessThan(HEAP_BELOW_BYTES);
  expect(worst('lagP99')).toBeLessThan(LAG_BELOW_MS);
}

function metric(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}
