// Webhook deliveries while processes are killed or stopped and Redis loses its data. Every event arrives at least once.
// Only deliveries that were under way when their sender died arrive twice. The log records every delivery.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisHandlerCheckpoints } from '../../src/adapters/handler-checkpoints/redis.js';
import { CertificateAuthority } from '../support/certificates.js';
import { EndpointOwner, type ShownDelivery, trustFile } from '../support/endpoint-owner.js';
import { HttpsReceiver, type ReceivedRequest } from '../support/https-receiver.js';
import { freePort } from '../support/redis.js';
import { type PlatformCaller, Program, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

const TIMEOUT = 2;
/**
 * This time is long enough for the lock of a dead sender to expire, its attempts to be repeated, and the next delay to
 * end.
 */
const SETTLED_MS = 25_000;
const NAMES = ['nopay', 'demo', 'child', 'unrelated', 'broke', 'grandchild'] as const;

type Name = (typeof NAMES)[number];

let authority: CertificateAuthority;
let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
/** The service allows this receiver's address while its endpoint is registered, and forbids it afterwards. */
let forbidden: HttpsReceiver;
/** A receiver that starts late. */
let late: { readonly port: number; receiver: HttpsReceiver | null };
let service: Service;
let owners: Record<Name, EndpointOwner>;
let callers: Record<Name, PlatformCaller>;

beforeAll(async () => {
  authority = new CertificateAuthority();
  late = { port: await freePort(), receiver: null };
  [receiver, forbidden, trust] = await Promise.all([
    HttpsReceiver.start({ authority }),
    HttpsReceiver.start({ authority, address: '127.0.0.2', hosts: ['127.0.0.2'] }),
    trustFile(authority),
  ]);
  service = await Service.start(
    {
      WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32,127.0.0.2/32',
      NODE_EXTRA_CA_CERTS: trust.file,
      WEBHOOK_TIMEOUT: String(TIMEOUT),
      WEBHOOK_RETRY_LADDER: Array(30).fill(1).join(),
      LOG_LEVEL: 'warn',
    },
    { alone: ['service'] },
  );
  const { accounts } = await service.credentials();
  owners = Object.fromEntries(NAMES.map((name) => [name, new EndpointOwner(service, accounts[name])])) as Record<
    Name,
    EndpointOwner
  >;
  callers = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await service.signIn(name)])),
  ) as Record<Name, PlatformCaller>;
  await Promise.all([
    ...(['nopay', 'demo', 'unrelated', 'broke'] as const).map((name) =>
      owners[name].register(receiver.url(`/${name}`)),
    ),
    owners.child.register(`https://127.0.0.1:${late.port}/child`),
    owners.grandchild.register(forbidden.url('/grandchild', '127.0.0.2')),
  ]);
});

afterAll(async () => {
  await service?.stop();
  await Promise.all([receiver?.close(), forbidden?.close(), late?.receiver?.close()]);
  await rm(trust.folder, { recursive: true, force: true });
});

/** Submits this number of people who must pass a step-up. Each submission makes one event. */
async function stepUps(name: Name, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const { status, text, body } = await callers[name].submit({ lastName: 'Otptest' });
      if (status !== 200) throw new Error(`The submission was refused: ${status} ${text}`);
      return body.id as string;
    }),
  );
}

const came = (name: Name): ReceivedRequest[] =>
  [receiver, late.receiver].flatMap((one) => one?.requests.filter(({ path }) => path === `/${name}`) ?? []);
const sessionOf = ({ body }: ReceivedRequest): string => JSON.parse(body.toString()).data.session_id;

/** How many times the event of each session has arrived. */
function times(name: Name): Map<string, number> {
  const counts = new Map<string, number>();
  for (const session of came(name).map(sessionOf)) counts.set(session, (counts.get(session) ?? 0) + 1);
  return counts;
}

const timesOf = (name: Name, sessions: readonly string[]): number[] => {
  const counts = times(name);
  return sessions.map((id) => counts.get(id) ?? 0);
};

const succeeded = (name: Name, count: number, withinMs = SETTLED_MS): Promise<void> =>
  until(
    `${count} of ${name} are in the log as delivered`,
    async () => (await owners[name].deliveries({ status: 'succeeded' })).length >= count,
    withinMs,
  );

async function detailsOf(name: Name, sessions: readonly string[]): Promise<ShownDelivery[]> {
  const ids = new Map(came(name).map((request) => [sessionOf(request), request.headers['service-delivery-id'] ?? '']));
  return Promise.all(sessions.map((id) => owners[name].delivery(ids.get(id) ?? '')));
}

const expectAllAccountedFor = (name: Name, count: number): Promise<void> =>
  owners[name].expectAllAccountedFor(came(name), count);

describe('a process that is suspended for longer than the locks of its jobs last', () => {
  it('sends nothing again when it resumes, because another process has made its deliveries', async () => {
    // The receiver has not answered these requests when the process is suspended.
    await owners.unrelated.change({ url: receiver.url('/hang/unrelated') });
    const sessions = await stepUps('unrelated', 4);
    await until('all have been sent', () => receiver.requests.length >= sessions.length);
    const stoppedAt = Date.now();
    process.kill(service.program.pid as number, 'SIGSTOP');
    const other = new Program('dist/src/main.js', { ...service.env, PORT: String(await freePort()) });
    try {
      other.spawn();
      receiver.play('/unrelated');
      const sent = (): Map<string, number> => {
        const counts = new Map<string, number>();
        for (const request of receiver.requests)
          counts.set(sessionOf(request), (counts.get(sessionOf(request)) ?? 0) + 1);
        return counts;
      };
      await until('the other has sent them again', () => sessions.every((id) => sent().get(id) === 2), SETTLED_MS);
      // A lock lasts for 5 seconds and is checked every 2 seconds.
      await until('the locks have expired', () => Date.now() > stoppedAt + 10_000);
      process.kill(service.program.pid as number, 'SIGCONT');
      receiver.play(null);
      await succeeded('unrelated', sessions.length);
      await owners.unrelated.change({ url: receiver.url('/unrelated') });
      for (const { delivery_id } of await owners.unrelated.deliveries()) {
        const { status, attempt_count, attempts } = await owners.unrelated.delivery(delivery_id);
        expect([status, attempt_count, attempts.map(({ error_code }) => error_code)]).toEqual(['succeeded', 1, [null]]);
      }
      const [after] = await stepUps('unrelated', 1);
      await until('the next event arrives', () => times('unrelated').has(after as string));
      await succeeded('unrelated', sessions.length + 1);
      expect([...sent().values()]).toEqual([2, 2, 2, 2, 1]);
    } finally {
      process.kill(service.program.pid as number, 'SIGCONT');
      receiver.play(null);
      await other.end('SIGTERM');
    }
  });
});

describe('kill -9', () => {
  it('before an event has deliveries: each delivery is made once, by the next start or by an operator command before the start', async () => {
    await service.program.end('SIGTERM');
    const places = new RedisHandlerCheckpoints(service.redis.client());
    await until('the event handler is free', () => places.take('webhook_deliveries', 'elsewhere', 90_000));
    // One of the addresses is forbidden from here on.
    await service.startAgain({ WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32' });
    const from = new Date().toISOString();
    const [missing] = (await stepUps('nopay', 1)) as [string];
    const to = new Date().toISOString();
    const [stored] = (await stepUps('nopay', 1)) as [string];
    await stepUps('grandchild', 1);
    expect(await owners.nopay.deliveries()).toEqual([]);

    const replay = await service.ops('webhooks', 'replay', '--from', from, '--to', to);
    expect([replay.exitCode, JSON.parse(replay.stdout)]).toEqual([0, { events: 1, sentAgain: 0, made: 1 }]);
    await succeeded('nopay', 1);
    expect(timesOf('nopay', [missing, stored])).toEqual([1, 0]);
    // The event handler has not reached the other event, so the check leaves this event to the handler.
    const check = await service.ops('webhooks', 'check');
    expect([check.exitCode, JSON.parse(check.stdout)]).toEqual([0, { events: expect.any(Number), missing: 0 }]);

    await service.kill9();
    await places.release('webhook_deliveries', 'elsewhere');
    await service.startAgain();
    await succeeded('nopay', 2);
    expect(timesOf('nopay', [missing, stored])).toEqual([1, 1]);
    await until(
      'the forbidden address was tried',
      async () => ((await owners.grandchild.deliveries())[0]?.attempt_count ?? 0) > 0,
    );
  });

  it('while a retry waits: the retry is sent once; after a POST and before its record: the delivery is sent twice', async () => {
    const waiting = await stepUps('child', 3);
    await until(
      'all were refused',
      async () =>
        (await owners.child.deliveries()).filter(({ last_error_code }) => last_error_code === 'CONNECTION_FAILED')
          .length === 3,
    );
    await owners.demo.change({ url: receiver.url('/hang/demo') });
    const before = receiver.requests.length;
    const posted = await stepUps('demo', 3);
    await until(
      'all have been sent',
      () =>
        receiver.requests.filter(({ path }) => path === '/hang/demo').length === 3 &&
        receiver.requests.length >= before + 3,
    );
    await service.kill9();

    late.receiver = await HttpsReceiver.start({ authority, port: late.port });
    receiver.play('/demo');
    await service.startAgain();
    await Promise.all([succeeded('child', 3), succeeded('demo', 3)]);
    receiver.play(null);
    await owners.demo.change({ url: receiver.url('/demo') });
    expect(timesOf('child', waiting)).toEqual([1, 1, 1]);
    for (const { attempts } of await detailsOf('child', waiting))
      expect(attempts.map(({ error_code }) => error_code)).toEqual([
        ...attempts.slice(1).map(() => 'CONNECTION_FAILED'),
        null,
      ]);
    const byHand = receiver.requests.filter((request) => posted.includes(sessionOf(request)));
    expect([
      byHand.length,
      new Set(byHand.map(({ body, headers }) => `${headers['webhook-id']} ${body.toString()}`)).size,
    ]).toEqual([6, 3]);
    for (const { delivery_id } of await owners.demo.deliveries()) {
      const { attempt_count, attempts } = await owners.demo.delivery(delivery_id);
      expect([attempt_count, attempts.map(({ error_code }) => error_code)]).toEqual([1, [null]]);
    }
  });
});

describe('a Redis that is stopped, restarts empty, and is emptied again', () => {
  it('loses no delivery and repeats no finished delivery', async () => {
    receiver.play('/status/503');
    const sent = timesOf('nopay', [...times('nopay').keys()]);
    const known = [...times('nopay').keys()];
    const first = await stepUps('nopay', 3);
    await until('all were refused', async () => (await owners.nopay.deliveries({ status: 'retrying' })).length === 3);
    await service.redis.kill9();
    await service.redis.startAgainEmpty();
    await until(
      'the service is ready again',
      async () => (await service.request('GET', '/health/ready')).status === 200,
    );
    const second = await stepUps('nopay', 3);
    await service.redis.flush();
    receiver.play(null);
    await until(
      'all have arrived',
      async () => (await owners.nopay.deliveries({ status: 'succeeded' }).catch(() => [])).length === known.length + 6,
    );
    expect(timesOf('nopay', known)).toEqual(sent);
    // The receiver refused each delivery several times and accepted it once.
    for (const { attempts, attempt_count } of await detailsOf('nopay', [...first, ...second])) {
      expect(attempts.map(({ http_status }) => http_status)).toEqual([...Array(attempt_count - 1).fill(503), 200]);
    }
    await expectAllAccountedFor('nopay', known.length + 6);
  });
});

describe('an endpoint that is disabled while deliveries are queued', () => {
  it('receives no more requests: queued deliveries are canceled, and earlier deliveries are exhausted', async () => {
    await service.program.end('SIGTERM');
    await service.startAgain({ WEBHOOK_RETRY_LADDER: '0.3', WEBHOOK_DISABLE_AFTER: '1', WEBHOOK_TIMEOUT: '1' });
    await owners.broke.change({ url: receiver.url('/hang/broke') });
    const count = 120;
    await stepUps('broke', count);
    await until('it is disabled', async () => (await owners.broke.endpoint()).status === 'disabled');
    const open = async (): Promise<number> =>
      (await owners.broke.deliveries()).filter(({ status }) => status === 'pending' || status === 'retrying').length;
    await until('nothing is open', async () => (await open()) === 0);
    const requests = (): number => receiver.requests.filter(({ path }) => path === '/hang/broke').length;
    const then = requests();
    const log = await owners.broke.deliveries();
    const of = (wanted: string): ShownDelivery[] => log.filter(({ status }) => status === wanted);
    expect([log.length, of('exhausted').length + of('canceled').length]).toEqual([count, count]);
    expect(of('exhausted').length).toBeGreaterThanOrEqual(3);
    expect(of('canceled').length).toBeGreaterThan(20);
    expect(log.every(({ next_attempt_at }) => next_attempt_at === null)).toBe(true);
    const another = await stepUps('nopay', 1);
    await until('another endpoint gets its event', () => times('nopay').has(another[0] as string));
    expect(requests()).toBe(then);
    // Deliveries that were under way when the endpoint was disabled may have used their last attempt afterwards.
    const { consecutive_failures } = await owners.broke.endpoint();
    expect([consecutive_failures >= 3, consecutive_failures <= of('exhausted').length]).toEqual([true, true]);
  });
});

describe('after all of these faults', () => {
  it('the forbidden address has received nothing, every delivery is accounted for, and the audit chain is whole', async () => {
    expect(forbidden.counts).toEqual({ requests: 0, handshakes: 0, failedHandshakes: 0 });
    const [tried] = await owners.grandchild.deliveries();
    expect([tried?.status, tried?.last_error_code]).toEqual([
      expect.stringMatching(/^(retrying|exhausted)$/),
      'BLOCKED_ADDRESS',
    ]);
    await expectAllAccountedFor('child', 3);
    const audit = await service.ops('audit', 'verify');
    expect([audit.exitCode, audit.stdout]).toEqual([0, expect.stringContaining('"brokenLinks":0')]);
  });
});
