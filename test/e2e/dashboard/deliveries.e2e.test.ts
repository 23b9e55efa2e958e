// Webhook deliveries from the event to the receiver and the delivery log (docs/contract/webhooks.md#events, #attempts,
// #endpoint-health). The tests run the built service, and the receivers use real TLS. Each receiver verifies every
// delivery with the library that integrators use.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CertificateAuthority } from '../../support/certificates.js';
import { EndpointOwner, type ShownDelivery, trustFile } from '../../support/endpoint-owner.js';
import { HttpsReceiver, type ReceivedRequest } from '../../support/https-receiver.js';
import { SLACK_MS } from '../../support/measuring.js';
import { intentIn, Processor, shownEvents } from '../../support/processor.js';
import { freePort } from '../../support/redis.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const EVENT_ID = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DELIVERY_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const HEADERS = [
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'service-event-type',
  'service-delivery-id',
  'content-type',
  'user-agent',
];
/** A ping has no place in a feed. */
const PLACE = ['service-event-sequence', 'service-event-digest'];
/** The delays of the first and the second retry, in seconds. A test waits for the first and only reads the planned second. */
const [SOON, LATE] = [1.1, 300];
const REDELIVERY_INTERVAL = 0.5;
/**
 * The time limit for receivers that never answer. The other receivers have the default of the service, because an attempt
 * that a busy machine delays would be repeated.
 */
const TIMEOUT_MS = 300;
const DEFAULT_TIMEOUT_MS = 8_000;
const NAMES = ['nopay', 'demo', 'child', 'unrelated', 'broke', 'grandchild'] as const;

type Name = (typeof NAMES)[number];

type Behaviour = readonly [what: string, url: string, httpStatus: number | null, errorCode: string | null];

let authority: CertificateAuthority;
let trust: { readonly folder: string; readonly file: string };
let receiver: HttpsReceiver;
let service: Service;
let accounts: Credentials['accounts'];
let owners: Record<Name, EndpointOwner>;
let callers: Record<Name, PlatformCaller>;

beforeAll(async () => {
  authority = new CertificateAuthority();
  [receiver, trust] = await Promise.all([HttpsReceiver.start({ authority }), trustFile(authority)]);
  service = await Service.start({
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    NODE_EXTRA_CA_CERTS: trust.file,
    WEBHOOK_RETRY_LADDER: `${SOON},${LATE}`,
    WEBHOOK_REDELIVERY_INTERVAL: String(REDELIVERY_INTERVAL),
    SANDBOX_SLOWNESS: '0.3',
    LOG_LEVEL: 'warn',
  });
  ({ accounts } = await service.credentials());
  owners = Object.fromEntries(NAMES.map((name) => [name, new EndpointOwner(service, accounts[name])])) as Record<
    Name,
    EndpointOwner
  >;
  callers = Object.fromEntries(
    await Promise.all(NAMES.map(async (name) => [name, await service.signIn(name)])),
  ) as Record<Name, PlatformCaller>;
});

afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(trust.folder, { recursive: true, force: true });
});

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const at = (path: string): ReceivedRequest[] => receiver.requests.filter((request) => request.path === path);
const arrived = (path: string, count = 1, withinMs?: number): Promise<void> =>
  until(`${count} came to ${path}`, () => at(path).length >= count, withinMs);
const signatures = ({ headers }: ReceivedRequest): string[] => (headers['webhook-signature'] ?? '').split(' ');
const first = <Thing>(things: readonly Thing[]): Thing => things[0] as Thing;

/** Submits a person who must pass a step-up. The submission makes one event, for an account of any kind. */
async function stepUp(name: Name): Promise<string> {
  const { status, text, body } = await callers[name].submit({ lastName: 'Otptest' });
  if (status !== 200) throw new Error(`The submission was refused: ${status} ${text}`);
  return body.id;
}

/**
 * Makes a delivery that fails once, and acts while its retry is pending. A busy machine may be too slow for this. Then
 * another endpoint gets another delivery. Returns the delivery before the action and the path of its endpoint.
 */
async function beforeItsRetry(
  name: Name,
  path: string,
  act: () => Promise<void> = () => Promise.resolve(),
): Promise<{ readonly pending: ShownDelivery; readonly path: string }> {
  for (let round = 1; ; round++) {
    const itsPath = `${path}/${round}`;
    await owners[name].register(receiver.url(itsPath));
    await stepUp(name);
    const pending = await owners[name].only('is being retried', ({ attempt_count }) => attempt_count > 0);
    await act();
    const inTime = pending.attempt_count === 1 && Date.now() < Date.parse(pending.next_attempt_at ?? '');
    if (inTime) return { pending, path: itsPath };
  }
}

/** Milliseconds from the end of the last attempt to the next attempt. */
function delayOf({ attempts, next_attempt_at }: ShownDelivery): number {
  const last = attempts.at(-1);
  return Date.parse(next_attempt_at ?? '') - Date.parse(last?.attempted_at ?? '') - (last?.latency_ms ?? 0);
}

describe('every event', () => {
  const share = (id: string) =>
    callers.nopay.post(`/reports/${id}/consent-to-share`, { recipientAccountId: accounts.nopay.accountId });

  async function everythingOfNopay(): Promise<Record<string, any>[]> {
    const caller = callers.nopay;
    const [plain, agent, otp, locked, unknown, frozen] = await Promise.all([
      caller.submit(),
      caller.submit({ userType: 'AGENT' }),
      caller.submit({ lastName: 'Otptest' }),
      caller.submit({ lastName: 'Lockedtest' }),
      caller.submit({ lastName: 'Notfound' }),
      caller.submit({ lastName: 'Frozentest' }),
    ]);
    expect([plain, agent, otp, locked].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await caller.post(`/screening/${otp.body.id}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    expect((await caller.post(`/screening/${locked.body.id}/otp`, { code: '000000' })).body.status).toBe('BLOCKED');
    const shared = await share(plain.body.id);
    const revoked = await caller.post(`/reports/${plain.body.id}/revoke-sharing`, {
      recipientAccountId: accounts.nopay.accountId,
    });
    expect([shared.status, revoked.status]).toEqual([200, 200]);
    for (const _again of [1, 2]) expect((await caller.get(`/reports/${frozen.body.id}`)).status).toBe(422);
    const consumer = { user_type: 'CONSUMER' };
    const reportUrl = (id: string): object => ({ report_url: `${service.baseUrl}/v1/reports/${id}` });
    const sharing = {
      report_id: shared.body.reportId,
      session_id: plain.body.id,
      recipient_account_id: accounts.nopay.accountId,
    };
    return [
      { type: 'screening.completed', data: { session_id: plain.body.id, ...consumer, ...reportUrl(plain.body.id) } },
      { type: 'screening.completed', data: { session_id: agent.body.id, user_type: 'AGENT' } },
      { type: 'screening.step_up_required', data: { session_id: otp.body.id, ...consumer, methods: ['OTP'] } },
      { type: 'screening.completed', data: { session_id: otp.body.id, ...consumer, ...reportUrl(otp.body.id) } },
      { type: 'screening.step_up_required', data: { session_id: locked.body.id, ...consumer, methods: ['OTP'] } },
      {
        type: 'screening.blocked',
        data: { session_id: locked.body.id, ...consumer, reason_code: 'TOO_MANY_ATTEMPTS' },
      },
      {
        type: 'screening.blocked',
        data: { session_id: unknown.body.id ?? expect.any(String), ...consumer, reason_code: 'IDENTITY_NOT_FOUND' },
      },
      { type: 'screening.completed', data: { session_id: frozen.body.id, ...consumer, ...reportUrl(frozen.body.id) } },
      { type: 'report.unavailable', data: { session_id: frozen.body.id, reason_code: 'FILE_FROZEN' } },
      { type: 'report.shared', data: { ...sharing, shared_at: shared.body.sharedAt } },
      { type: 'report.revoked', data: { ...sharing, revoked_at: expect.stringMatching(TIME) } },
    ];
  }

  async function everythingOfDemo(): Promise<Record<string, any>[]> {
    const caller = callers.demo;
    const [{ body: paying }, { body: poor }] = await Promise.all([
      caller.submit(),
      caller.submit({ lastName: 'Noincometest' }),
    ]);
    const { body: intent } = await caller.post('/payments/create-intent', { amount: 3_500, screeningId: paying.id });
    await new Processor(service.sandboxUrl).confirm(intent.client_secret, 'pm_card_visa');
    expect((await caller.post(`/payments/${intent.transaction_id}/confirm`)).status).toBe(200);
    const incomes = await Promise.all([
      caller.post('/voie/sessions', { screening_session_id: paying.id }),
      caller.post('/voie/sessions', { screening_session_id: poor.id }),
      caller.post('/voie/sessions', {}),
    ]);
    const [good, bad, unlinked] = incomes.map(({ body }) => body.income_session_id as string);
    const url = (id = ''): object => ({ report_url: `${service.baseUrl}/v1/income-sessions/${id}/report` });
    return [
      {
        type: 'payment.succeeded',
        data: {
          session_id: paying.id,
          stripe_payment_intent_id: intentIn(intent.client_secret),
          amount_cents: 3_500,
          currency: 'usd',
        },
      },
      {
        type: 'screening.completed',
        data: {
          session_id: paying.id,
          user_type: 'CONSUMER',
          transaction_id: intent.transaction_id,
          report_url: `${service.baseUrl}/v1/reports/${paying.id}`,
        },
      },
      {
        type: 'income_report.completed',
        data: { income_session_id: good, route: 'PAYROLL', screening_session_id: paying.id, ...url(good) },
      },
      {
        type: 'income_report.failed',
        data: { income_session_id: bad, route: 'BANKING', screening_session_id: poor.id, reason_code: 'NO_MATCH' },
      },
      { type: 'income_report.completed', data: { income_session_id: unlinked, route: 'PAYROLL', ...url(unlinked) } },
    ];
  }

  it('arrives once with the headers, the envelope and the documented data, and is in the log', async () => {
    await Promise.all([owners.nopay.register(receiver.url('/nopay')), owners.demo.register(receiver.url('/demo'))]);
    const [nopay, demo] = await Promise.all([everythingOfNopay(), everythingOfDemo()]);
    const expected = { nopay, demo };
    for (const name of ['nopay', 'demo'] as const) {
      const events = expected[name];
      await arrived(`/${name}`, events.length, 20_000);
      const bodies = at(`/${name}`).map((request) => owners[name].verified(request));
      const envelope = {
        id: expect.stringMatching(EVENT_ID),
        schema_version: 1,
        occurred_at: expect.stringMatching(TIME),
        environment: 'test',
        account_id: accounts[name].accountId,
      };
      expect(bodies).toHaveLength(events.length);
      for (const event of events) expect(bodies).toContainEqual({ ...envelope, ...event });
      expect(new Set(bodies.map(({ id }) => id)).size).toBe(events.length);
      await until(
        'all are in the log',
        async () => (await owners[name].deliveries({ status: 'succeeded' })).length === events.length,
      );
      const log = await owners[name].deliveries();
      expect(log).toHaveLength(events.length);
      for (const { headers, body } of at(`/${name}`)) {
        const { id, type, occurred_at } = JSON.parse(body.toString());
        expect(log.find(({ event_id }) => event_id === id)).toEqual({
          delivery_id: headers['service-delivery-id'],
          event_id: headers['webhook-id'],
          event_type: type,
          occurred_at,
          status: 'succeeded',
          attempt_count: 1,
          last_attempt_at: expect.stringMatching(TIME),
          last_http_status: 200,
          last_error_code: null,
          next_attempt_at: null,
        });
      }
    }
  });

  it('is delivered like a real one when a server has triggered it', async () => {
    await owners.nopay.register(receiver.url('/triggered'));
    const { body } = await service.request('POST', '/v1/test_helpers/events', {
      headers: { 'x-secret-key': accounts.nopay.secretKey },
      body: { type: 'income_report.failed' },
    });
    await arrived('/triggered');
    expect(owners.nopay.verified(first(at('/triggered')))).toEqual(body);
    expect(first(at('/triggered')).headers).toMatchObject({ 'service-event-sequence': expect.any(String) });
  });

  it('is sent to an endpoint only when the endpoint has chosen the type of the event', async () => {
    await owners.nopay.register(receiver.url('/chosen'), {
      enabled_events: ['screening.completed', 'screening.blocked'],
    });
    const { body } = await callers.nopay.submit({ lastName: 'Lockedtest' });
    await callers.nopay.post(`/screening/${body.id}/otp`, { code: '000000' });
    await arrived('/chosen');
    expect((await owners.nopay.only('has arrived', ({ status }) => status === 'succeeded')).event_type).toBe(
      'screening.blocked',
    );
    expect((await owners.nopay.change({ enabled_events: null })).body.enabled_events).toBeNull();
    await stepUp('nopay');
    await arrived('/chosen', 2);
    expect(at('/chosen').map(({ headers }) => headers['service-event-type'])).toEqual([
      'screening.blocked',
      'screening.step_up_required',
    ]);
  });

  it("is sent only to the child's endpoint when it belongs to a child account", async () => {
    await Promise.all([
      owners.demo.register(receiver.url('/parent')),
      owners.child.register(receiver.url('/child')),
      owners.grandchild.register(receiver.url('/grandchild')),
    ]);
    const id = await stepUp('child');
    await arrived('/child');
    const marker = await stepUp('demo');
    await arrived('/parent');
    expect(at('/child').map((request) => owners.child.verified(request))).toEqual([
      expect.objectContaining({
        account_id: accounts.child.accountId,
        data: expect.objectContaining({ session_id: id }),
      }),
    ]);
    expect(at('/parent').map((request) => owners.demo.verified(request).data.session_id)).toEqual([marker]);
    expect(at('/grandchild')).toEqual([]);
  });

  it('is not sent to an endpoint that was registered after the event happened', async () => {
    await owners.unrelated.remove();
    const before = await stepUp('unrelated');
    await owners.unrelated.register(receiver.url('/newcomer'));
    const after = await stepUp('unrelated');
    await arrived('/newcomer');
    const { delivery_id } = await owners.unrelated.only('has arrived', ({ status }) => status === 'succeeded');
    expect(
      at('/newcomer').map((request) => [
        request.headers['service-delivery-id'],
        JSON.parse(request.body.toString()).data.session_id,
      ]),
    ).toEqual([[delivery_id, after]]);
    expect(after).not.toBe(before);
  });
});

describe('a delivery that fails', () => {
  it('is repeated after its delay with the same bytes and ids, a new time and a new signature', async () => {
    const { pending, path } = await beforeItsRetry('unrelated', '/flaky/1/again');
    expect(pending).toMatchObject({
      status: 'retrying',
      attempt_count: 1,
      last_http_status: 503,
      last_error_code: 'HTTP_STATUS',
      next_attempt_at: expect.stringMatching(TIME),
    });
    const delivered = await owners.unrelated.only('has arrived', ({ status }) => status === 'succeeded');
    const [one, two, ...more] = at(path) as [ReceivedRequest, ReceivedRequest];
    expect(more).toEqual([]);
    expect(two.body.equals(one.body)).toBe(true);
    expect([two.headers['webhook-id'], two.headers['service-delivery-id']]).toEqual([
      one.headers['webhook-id'],
      one.headers['service-delivery-id'],
    ]);
    expect(Number(two.headers['webhook-timestamp'])).toBeGreaterThan(Number(one.headers['webhook-timestamp']));
    expect(signatures(two)).not.toEqual(signatures(one));
    expect(delivered).toEqual({
      delivery_id: one.headers['service-delivery-id'],
      event_id: one.headers['webhook-id'],
      event_type: 'screening.step_up_required',
      occurred_at: JSON.parse(one.body.toString()).occurred_at,
      status: 'succeeded',
      attempt_count: 2,
      last_attempt_at: delivered.attempts[1]?.attempted_at,
      last_http_status: 200,
      last_error_code: null,
      next_attempt_at: null,
      attempts: [
        {
          attempted_at: expect.stringMatching(TIME),
          http_status: 503,
          error_code: 'HTTP_STATUS',
          latency_ms: expect.any(Number),
          response_excerpt: 'not yet',
        },
        {
          attempted_at: expect.stringMatching(TIME),
          http_status: 200,
          error_code: null,
          latency_ms: expect.any(Number),
          response_excerpt: 'received',
        },
      ],
    });
    // The wait counts from the end of the attempt. The queue may add time to it. The next test checks the planned delay.
    const waited =
      Date.parse(delivered.attempts[1]?.attempted_at ?? '') - Date.parse(delivered.attempts[0]?.attempted_at ?? '');
    expect(waited).toBeGreaterThanOrEqual(SOON * 900);
  });

  it('is repeated after its delay, which is randomly up to a tenth longer or shorter', async () => {
    await owners.child.register(receiver.url('/status/500/jitter'));
    const many = 16;
    await Promise.all(Array.from({ length: many }, () => stepUp('child')));
    await until(
      'the second attempt of each has failed',
      async () =>
        (await owners.child.deliveries()).filter(
          ({ attempt_count, status, next_attempt_at }) =>
            attempt_count === 2 &&
            status === 'retrying' &&
            next_attempt_at !== null &&
            Date.parse(next_attempt_at) > Date.now() + LATE * 500,
        ).length === many,
    );
    const log = await owners.child.deliveries();
    const delays = (await Promise.all(log.map(({ delivery_id }) => owners.child.delivery(delivery_id)))).map(delayOf);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(LATE * 900);
      // The tolerance covers the time to send the request, and the time to record the answer.
      expect(delay).toBeLessThan(LATE * 1_100 + SLACK_MS);
    }
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(LATE * 40);
  });

  it("keeps an excerpt of the receiver's answer, on one line and without secrets", async () => {
    const said =
      'broken\u0000 at\u001b[31m\r\nline 7 token=abcdef123 Bearer eyJhbGciOi.J9 whsec_c2VjcmV0 password: "hunter2" mail ops@example.test ssn 123-45-6789 end';
    await owners.broke.register(receiver.url(`/say?text=${encodeURIComponent(said)}`));
    await stepUp('broke');
    const { attempts } = await owners.broke.only('has arrived', ({ status }) => status === 'succeeded');
    const excerpt = attempts[0]?.response_excerpt ?? '';
    expect(excerpt).toMatch(/^broken at\[31m line 7 /);
    expect(excerpt).toMatch(/end$/);
    for (const secret of ['abcdef123', 'eyJ', 'c2VjcmV0', 'hunter2', 'ops@', '6789'])
      expect(excerpt).not.toContain(secret);
  });
});

describe('rotating the secret', () => {
  it('makes both secrets sign during the overlap, with the new secret first, and only the new secret afterwards', async () => {
    const owner = owners.broke;
    await owner.register(receiver.url('/rotated'));
    let [secret, previous_expires_at] = ['', ''];
    // A busy machine may need more time than the overlap has. Then the secret is rotated again.
    do {
      ({ secret, previous_expires_at } = await owner.rotate(2));
      const before = at('/rotated').length;
      await stepUp('broke');
      await arrived('/rotated', before + 1);
    } while (Date.now() >= Date.parse(previous_expires_at));
    const overlap = at('/rotated').at(-1) as ReceivedRequest;
    const [old, current] = owner.secrets.slice(-2) as [string, string];
    expect(current).toBe(secret);
    const signedBy = (request: ReceivedRequest, header: string, key: string): boolean => {
      const alone = new EndpointOwner(service, owner.account);
      alone.secrets.push(key);
      try {
        return Boolean(alone.verified({ ...request, headers: { ...request.headers, 'webhook-signature': header } }));
      } catch {
        return false;
      }
    };
    expect(
      signatures(overlap).map((header) => [signedBy(overlap, header, current), signedBy(overlap, header, old)]),
    ).toEqual([
      [true, false],
      [false, true],
    ]);

    await until('the overlap is over', () => Date.now() > Date.parse(previous_expires_at));
    const before = at('/rotated').length;
    await stepUp('broke');
    await arrived('/rotated', before + 1);
    const later = at('/rotated')[before] as ReceivedRequest;
    expect(signatures(later).map((header) => [signedBy(later, header, current), signedBy(later, header, old)])).toEqual(
      [[true, false]],
    );
  });

  it('applies to pending retries together with a new address: they are sent to the new address and signed only with the new secret', async () => {
    const owner = owners.grandchild;
    let secret = '';
    const { pending, path } = await beforeItsRetry('grandchild', '/status/503/old-home', async () => {
      ({ secret } = await owner.rotate(0));
      expect((await owner.change({ url: receiver.url('/new-home') })).status).toBe(200);
    });
    await owner.only('has arrived', ({ status }) => status === 'succeeded');
    const moved = at('/new-home').filter(({ headers }) => headers['service-delivery-id'] === pending.delivery_id);
    expect([at(path).length, moved.length]).toEqual([1, 1]);
    const [before, after] = [first(at(path)), first(moved)];
    const onlyNew = new EndpointOwner(service, owner.account);
    onlyNew.secrets.push(secret);
    expect(signatures(after)).toHaveLength(1);
    expect(onlyNew.verified(after).id).toBe(before.headers['webhook-id']);
    expect(() => onlyNew.verified(before)).toThrow();
    expect(after.body.equals(before.body)).toBe(true);
  });
});

describe('redelivery', () => {
  it('202: sends the same event again at once; a failure uses up no retry, a success cancels the retries; 429 within the interval', async () => {
    const owner = owners.unrelated;
    await owner.register(receiver.url('/status/503/by-hand'));
    await stepUp('unrelated');
    const waiting = await owner.only(
      'waits for its last retry',
      ({ attempt_count, next_attempt_at }) =>
        attempt_count === 2 && next_attempt_at !== null && Date.parse(next_attempt_at) > Date.now() + LATE * 500,
    );
    // Both are sent at once, because a busy machine may take longer than the interval for each.
    const replies = await Promise.all([owner.redeliver(waiting.delivery_id), owner.redeliver(waiting.delivery_id)]);
    const [again, soon] = replies.sort((one, other) => one.status - other.status) as [Reply, Reply];
    expect([again.status, again.body]).toEqual([
      202,
      { delivery_id: waiting.delivery_id, event_id: waiting.event_id, status: 'pending' },
    ]);
    expect(refused(soon)).toEqual([429, 'WEBHOOK_REDELIVERY_TOO_SOON']);
    expect(Number(soon.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(soon.headers.get('retry-after'))).toBeLessThanOrEqual(Math.ceil(REDELIVERY_INTERVAL));
    const failed = await owner.only(
      'was sent again without success',
      ({ attempt_count, last_attempt_at }) => attempt_count === 3 && last_attempt_at !== waiting.last_attempt_at,
    );
    expect(failed).toMatchObject({ status: 'retrying', next_attempt_at: waiting.next_attempt_at });

    await owner.change({ url: receiver.url('/taken-by-hand') });
    let reply = soon;
    await until(
      'it may be sent again',
      async () => (reply = await owner.redeliver(waiting.delivery_id)).status !== 429,
    );
    expect(reply.status).toBe(202);
    const done = await owner.only('has arrived', ({ status }) => status === 'succeeded');
    expect(done).toMatchObject({
      attempt_count: 4,
      next_attempt_at: null,
      last_http_status: 200,
      last_error_code: null,
    });
    expect(done.attempts.map(({ http_status }) => http_status)).toEqual([503, 503, 503, 200]);
    expect(at('/taken-by-hand').map((request) => owner.verified(request).id)).toEqual([waiting.event_id]);

    await until(
      'it may be sent a third time',
      async () => (reply = await owner.redeliver(waiting.delivery_id)).status !== 429,
    );
    expect(reply.status).toBe(202);
    await arrived('/taken-by-hand', 2);
    expect(
      new Set(at('/taken-by-hand').map(({ body, headers }) => `${headers['webhook-id']} ${body.toString()}`)).size,
    ).toBe(1);
  });

  it("404 for an unknown or malformed delivery, another account's delivery, or a ping", async () => {
    const owner = owners.unrelated;
    const ping = (await owner.ping()).body.delivery_id;
    await owners.nopay.register(receiver.url('/foreign'));
    await stepUp('nopay');
    const foreign = await owners.nopay.only('has arrived', ({ status }) => status === 'succeeded');
    for (const id of [UNKNOWN, 'nonsense', foreign.delivery_id, ping])
      expect(refused(await owner.redeliver(id))).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
  });
});

describe('deleting an endpoint', () => {
  it('cancels the pending deliveries', async () => {
    const owner = owners.broke;
    const { pending, path } = await beforeItsRetry('broke', '/status/500/deleted', () => owner.remove());
    const { delivery_id, next_attempt_at } = pending;
    expect(await owner.endpoint()).toBeNull();
    expect(refused(await owner.redeliver(delivery_id))).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
    await until('its next attempt would be over', () => Date.now() > Date.parse(next_attempt_at ?? '') + 200);
    expect(
      (await shownEvents(service, `webhook_delivery-${delivery_id}`)).map(({ type, data }) => [type, data.cause]),
    ).toEqual([
      ['DeliveryScheduled', undefined],
      ['DeliveryAttemptFailed', undefined],
      ['DeliveryCanceled', 'ENDPOINT_DELETED'],
    ]);
    expect(at(path)).toHaveLength(1);
  });
});

describe('the operator', () => {
  it('lists the waiting deliveries, and replays a period: the same events are sent under the same ids', async () => {
    const owner = owners.nopay;
    await owner.register(receiver.url('/replayed'));
    const from = new Date().toISOString();
    await Promise.all([stepUp('nopay'), stepUp('nopay')]);
    await until('both have arrived', async () => (await owner.deliveries({ status: 'succeeded' })).length === 2);
    const to = new Date().toISOString();
    const replay = await service.ops(
      'webhooks',
      'replay',
      '--from',
      from,
      '--to',
      to,
      '--account',
      accounts.nopay.accountId,
    );
    expect([replay.exitCode, JSON.parse(replay.stdout)]).toEqual([0, { events: 2, sentAgain: 2, made: 0 }]);
    await arrived('/replayed', 4);
    const times = new Map<string, number>();
    for (const { body } of at('/replayed')) times.set(body.toString(), (times.get(body.toString()) ?? 0) + 1);
    expect([...times.values()]).toEqual([2, 2]);
    await until('it is in the log', async () =>
      (await owner.deliveries()).every(({ attempt_count, status }) => attempt_count === 2 && status === 'succeeded'),
    );

    // The test of the random delays left many deliveries that are due in half a minute.
    const backlog = await service.ops('webhooks', 'backlog');
    expect([backlog.exitCode, Object.keys(JSON.parse(backlog.stdout)).sort()]).toEqual([
      0,
      ['delayed', 'oldestDueMs', 'waiting'],
    ]);
  });
});

describe('every behaviour of a receiver', () => {
  let expired: HttpsReceiver;
  let foreign: HttpsReceiver;
  let misnamed: HttpsReceiver;
  let nobody: number;

  beforeAll(async () => {
    const day = 86_400_000;
    const certificate = authority.issue({
      hosts: ['127.0.0.1'],
      notBefore: new Date(Date.now() - 2 * day),
      notAfter: new Date(Date.now() - day),
    });
    [expired, foreign, misnamed, nobody] = await Promise.all([
      HttpsReceiver.start({ certificate }),
      HttpsReceiver.start(),
      HttpsReceiver.start({ authority, hosts: ['another.example.test'] }),
      freePort(),
    ]);
  });
  afterAll(() => Promise.all([expired.close(), foreign.close(), misnamed.close()]));

  const behaviours = (): readonly Behaviour[] => [
    ['200', receiver.url('/pinged'), 200, null],
    ['204', receiver.url('/status/204'), 204, null],
    ['404', receiver.url('/status/404'), 404, 'HTTP_STATUS'],
    ['500', receiver.url('/status/500'), 500, 'HTTP_STATUS'],
    ['a redirect to loopback', receiver.url(`/redirect?to=${receiver.url('/redirected')}`), 302, 'REDIRECT'],
    ['a body without end', receiver.url('/endless'), 200, null],
    ['64 MB in a few bytes', receiver.url('/gzip-bomb'), 200, null],
    ['breaking off', receiver.url('/reset'), null, 'CONNECTION_FAILED'],
    ['breaking off in mid-body', receiver.url('/reset-body'), 200, 'CONNECTION_FAILED'],
    ['a certificate that has expired', expired.url(), null, 'TLS_ERROR'],
    ['a certificate of an unknown authority', foreign.url(), null, 'TLS_ERROR'],
    ['a certificate for another name', misnamed.url(), null, 'TLS_ERROR'],
    ['a closed port', `https://127.0.0.1:${nobody}/`, null, 'CONNECTION_FAILED'],
  ];

  const silent = (): readonly Behaviour[] => [
    ['headers that never end', receiver.url('/drip-headers'), null, 'TIMEOUT'],
    ['a body that drips', receiver.url('/drip'), 200, 'TIMEOUT'],
    ['silence', receiver.url('/hang'), null, 'TIMEOUT'],
  ];

  async function ping(
    owner: EndpointOwner,
    expected: readonly Behaviour[],
    limitMs = DEFAULT_TIMEOUT_MS,
  ): Promise<void> {
    const seen: unknown[] = [];
    for (const [what, url] of expected) {
      expect((await owner.change({ url })).status).toBe(200);
      const { status, body } = await owner.ping();
      expect([status, body.delivery_id, body.latency_ms]).toEqual([
        200,
        expect.stringMatching(DELIVERY_ID),
        expect.any(Number),
      ]);
      // The attempt ends within the time limit, whatever the receiver does.
      expect([what, body.latency_ms < limitMs + SLACK_MS]).toEqual([what, true]);
      seen.push([what, url, body.http_status ?? null, body.error_code ?? null]);
      const logged = await owner.delivery(body.delivery_id);
      expect(logged).toMatchObject({
        event_type: 'ping',
        status: body.error_code === undefined ? 'succeeded' : 'failed',
        attempt_count: 1,
        next_attempt_at: null,
        attempts: [
          { http_status: body.http_status ?? null, error_code: body.error_code ?? null, latency_ms: body.latency_ms },
        ],
      });
      expect((logged.attempts[0]?.response_excerpt ?? '').length).toBeLessThanOrEqual(4_096);
    }
    expect(seen).toEqual(expected);
  }

  /** Pings are never repeated and do not change the endpoint's health (docs/contract/webhooks.md#pings). */
  async function expectHealthUnchanged(owner: EndpointOwner): Promise<void> {
    expect(await owner.endpoint()).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
      last_success_at: null,
      last_failure_at: null,
    });
    expect(new Set((await owner.deliveries()).map(({ attempt_count }) => attempt_count))).toEqual(new Set([1]));
  }

  async function failOnce(path: string, http_status: number | null, error_code: string): Promise<void> {
    const { pending } = await beforeItsRetry('child', path);
    expect([pending.status, pending.attempt_count, pending.attempts[0]]).toMatchObject([
      'retrying',
      1,
      { http_status, error_code, latency_ms: expect.any(Number) },
    ]);
  }

  it('is shown by the answer to a test ping and by the log of the delivery', async () => {
    const owner = owners.demo;
    await owner.register(receiver.url('/pinged'));
    await ping(owner, behaviours());
    expect(at('/redirected')).toEqual([]);
    expect(at('/pinged').map((request) => owner.verified(request))).toEqual([
      {
        id: expect.stringMatching(EVENT_ID),
        type: 'ping',
        schema_version: 1,
        occurred_at: expect.stringMatching(TIME),
        environment: expect.stringMatching(/^(test|live)$/),
        account_id: accounts.demo.accountId,
        data: { endpoint_id: owner.endpointId },
      },
    ]);
    await expectHealthUnchanged(owner);
  });

  it.each([
    ['/reset', null, 'CONNECTION_FAILED'],
    ['/redirect', 302, 'REDIRECT'],
  ])('is in the log of the first attempt, and a retry is planned: %s', failOnce);

  describe('that does not answer within the time limit', () => {
    beforeAll(async () => {
      await service.program.end('SIGTERM');
      await service.startAgain({ WEBHOOK_TIMEOUT: String(TIMEOUT_MS / 1_000) });
    });

    it('is shown by the answer to a test ping and by the log of the delivery', async () => {
      const owner = owners.demo;
      await owner.register(receiver.url('/pinged'));
      await ping(owner, silent(), TIMEOUT_MS);
      await expectHealthUnchanged(owner);
    });

    it.each([
      ['/hang', null, 'TIMEOUT'],
      ['/drip', 200, 'TIMEOUT'],
    ])('is in the log of the first attempt, and a retry is planned: %s', failOnce);
  });
});

describe('every request that came in', () => {
  it('was signed with a secret of its account and had only the documented headers', () => {
    const byAccount = new Map(Object.values(owners).map((owner) => [owner.account.accountId, owner]));
    expect(receiver.requests.length).toBeGreaterThan(60);
    for (const request of receiver.requests) {
      const body = JSON.parse(request.body.toString());
      expect(byAccount.get(body.account_id)?.verified(request)).toEqual(body);
      const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
      expect(names.filter((name) => !['host', 'connection', 'content-length'].includes(name)).sort()).toEqual(
        [...HEADERS, ...(body.type === 'ping' ? [] : PLACE)].sort(),
      );
      expect(request.method).toBe('POST');
      expect(request.headers).toMatchObject({
        'webhook-id': body.id,
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
        'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$/),
        'service-event-type': body.type,
        ...(body.type !== 'ping' && {
          'service-event-sequence': expect.stringMatching(/^[1-9]\d*$/),
          'service-event-digest': expect.stringMatching(/^[0-9a-f]{64}$/),
        }),
        'service-delivery-id': expect.stringMatching(DELIVERY_ID),
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1',
      });
    }
  });
});
