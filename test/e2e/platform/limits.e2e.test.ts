// The limits against abuse on the whole service, with their defaults and with other numbers
// (docs/contract/general.md#limits-against-abuse).
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aPerson, PlatformCaller, Service, type Person, type Reply } from '../../support/service.js';
import { EndpointOwner } from '../../support/endpoint-owner.js';
import { aRegistration, DirectCaller } from '../../support/direct.js';
import { until } from '../../support/eventually.js';

let phones = 4_155_550_200;
const aPhone = (): string => String((phones += 1));

let service: Service;
let nopay: PlatformCaller;
let unrelated: PlatformCaller;

beforeAll(async () => {
  // An empty value has the same effect as a missing value.
  service = await Service.start({
    LIMITS: '',
    TOKEN_EXCHANGE_PER_MINUTE: '',
    TRUSTED_PROXIES: '127.0.0.1',
    OTP_RESEND_INTERVAL: '0',
  });
  [nopay, unrelated] = await Promise.all([service.signIn('nopay'), service.signIn('unrelated')]);
});
afterAll(() => service.stop());

const submit = (
  caller: PlatformCaller,
  from: string,
  person: Person = {},
  headers: Record<string, string> = {},
): Promise<Reply> =>
  caller.post('/screening/submit', aPerson({ phoneNumber: aPhone(), ...person }), {
    'x-forwarded-for': from,
    ...headers,
  });
const statuses = (replies: readonly Reply[]): Record<number, number> =>
  replies.reduce<Record<number, number>>((all, { status }) => ({ ...all, [status]: (all[status] ?? 0) + 1 }), {});

/** Each row names a limit, its subject, the variable that sets it, and when it ends. */
const LIMIT_AND_WAIT = /^Too many .*: the limit is \d.* \([A-Z_]+\)\..* Try again after \d{4}-\d\d-\d\dT[\d:.]+Z\.$/;

function limited(reply: Reply | undefined, seconds: number): void {
  expect([reply?.status, reply?.body.error]).toEqual([
    429,
    { code: 'NETWORK_RATE_LIMITED', message: expect.stringMatching(LIMIT_AND_WAIT), recoverable: true },
  ]);
  const wait = Number(reply?.headers.get('retry-after'));
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(seconds);
}

describe('the limits by default', () => {
  it('answer 429/121 with Retry-After beyond 5 registrations of one person on the direct API', async () => {
    const direct = await DirectCaller.of(service, 'child');
    const person = aRegistration();
    for (let count = 0; count < 5; count++)
      expect((await direct.post(`/renters/often-${count}`, person)).status).toBe(200);
    const reply = await direct.post('/renters/often-5', person);
    expect([reply.status, reply.body.errors[0].errorCode]).toEqual([429, 121]);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('answer 429 beyond 30 submissions a minute from one address for one account; malformed submissions do not count, and other addresses continue', async () => {
    expect((await submit(nopay, '203.0.113.1', { dateOfBirth: 'x' })).status).toBe(400);
    const replies = await Promise.all(Array.from({ length: 33 }, () => submit(nopay, '203.0.113.1')));
    expect(statuses(replies)).toEqual({ 200: 30, 429: 3 });
    limited(
      replies.find(({ status }) => status === 429),
      60,
    );
    expect([(await submit(nopay, '203.0.113.2')).status, (await submit(unrelated, '203.0.113.1')).status]).toEqual([
      200, 200,
    ]);
  });

  it('answer 429 beyond 6 codes an hour to one phone of one account; nothing is stored, and the vendor is not called', async () => {
    const phoneNumber = aPhone();
    const registrations = async (): Promise<number> =>
      (
        (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
          operations: { registration: { received: number } };
        }
      ).operations.registration.received;
    const [before, events] = [await registrations(), await eventCount()];
    const replies = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        submit(nopay, `203.0.113.${10 + at}`, { lastName: 'Otptest', phoneNumber }),
      ),
    );
    expect(statuses(replies)).toEqual({ 200: 6, 429: 18 });
    expect(await registrations()).toBe(before + 6);
    const six = await eventCount();
    const refused = await submit(nopay, '203.0.113.40', { phoneNumber });
    limited(refused, 3_600);
    expect(refused.body.error.message).toContain('phone number');
    expect([await registrations(), await eventCount()]).toEqual([before + 6, six]);
    expect(six).toBeGreaterThan(events);
    expect((await submit(unrelated, '203.0.113.40', { lastName: 'Otptest', phoneNumber })).status).toBe(200);
  });

  it('answer 429 beyond 6 codes an hour to one phone; resends count too, and refusals of the session have priority', async () => {
    const phoneNumber = aPhone();
    const { id } = (await submit(nopay, '203.0.113.50', { lastName: 'Otptest', phoneNumber })).body;
    const second = (await submit(nopay, '203.0.113.50', { lastName: 'Otptest', phoneNumber })).body.id;
    const resend = (session: string) => nopay.post(`/screening/${session}/otp/resend`);
    for (let count = 0; count < 4; count++) expect((await resend(id)).status).toBe(200);
    limited(await resend(id), 3_600);
    limited(await resend(second), 3_600);
    expect((await nopay.post(`/screening/${second}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    expect((await resend(second)).status).toBe(410);
  });

  it('do not count a submission that sends no code', async () => {
    const phoneNumber = aPhone();
    for (let count = 0; count < 8; count++)
      expect((await submit(nopay, '203.0.113.60', { phoneNumber })).status).toBe(200);
    expect((await submit(nopay, '203.0.113.60', { lastName: 'Otptest', phoneNumber })).status).toBe(200);
  });

  it('answer 429 beyond 5 submissions an hour of one person; another account has its own count', async () => {
    const person = aPerson({ phoneNumber: aPhone() });
    for (let count = 0; count < 5; count++) expect((await submit(nopay, '203.0.113.70', person)).status).toBe(200);
    limited(await submit(nopay, '203.0.113.71', person), 3_600);
    expect((await submit(unrelated, '203.0.113.70', person)).status).toBe(200);
  });

  it('answer 429 beyond 60 reads of reports a minute with one token; another token continues', async () => {
    const { id } = (await submit(nopay, '203.0.113.80')).body;
    const reader = await service.signIn('nopay');
    const replies = await Promise.all(Array.from({ length: 61 }, () => reader.get(`/reports/${id}`)));
    expect(statuses(replies)).toEqual({ 200: 60, 429: 1 });
    limited(
      replies.find(({ status }) => status === 429),
      60,
    );
    expect((await nopay.get(`/reports/${id}`)).status).toBe(200);
  });

  it('answer 429 beyond 3 income sessions of one screening, and beyond one a minute for a page without a screening; nothing is stored', async () => {
    const [page, other] = await Promise.all([service.signIn('nopay'), service.signIn('nopay')]);
    const screening_session_id = (await submit(page, '203.0.113.81')).body.id;
    const open = (caller: PlatformCaller, body: object) => caller.post('/voie/sessions', body);
    for (let count = 0; count < 3; count++) expect((await open(page, { screening_session_id })).status).toBe(200);
    const events = await eventCount();
    limited(await open(page, { screening_session_id }), 30 * 86_400);
    limited(await open(other, { screening_session_id }), 30 * 86_400);
    expect(await eventCount()).toBe(events);
    expect([(await open(page, {})).status, (await open(other, {})).status]).toEqual([200, 200]);
    limited(await open(page, {}), 60);
  });

  it('answer 429 beyond 10 intents and 20 confirmations a minute of one session; another session continues', async () => {
    const demo = await service.signIn('demo');
    const payable = async (from: string): Promise<string> => (await submit(demo, from)).body.id;
    const [own, another] = [await payable('203.0.113.82'), await payable('203.0.113.83')];
    const create = (screeningId: string) => demo.post('/payments/create-intent', { amount: 3_500, screeningId });
    const created: Reply[] = [];
    for (let count = 0; count < 11; count++) created.push(await create(own));
    expect(statuses(created)).toEqual({ 200: 10, 429: 1 });
    limited(created.at(-1), 60);
    expect((await create(another)).status).toBe(200);
    const confirm = () => demo.post(`/payments/${created[0]!.body.transaction_id}/confirm`);
    const confirmed = [];
    for (let count = 0; count < 21; count++) confirmed.push(await confirm());
    expect(statuses(confirmed)).toEqual({ 200: 20, 429: 1 });
    limited(confirmed.at(-1), 60);
  });

  it('answer 429 beyond 10 shares and revocations a minute of one report', async () => {
    const { id } = (await submit(nopay, '203.0.113.84')).body;
    const replies = [];
    for (let count = 0; count < 11; count++) replies.push(await nopay.post(`/reports/${id}/consent-to-share`));
    expect(statuses(replies)).toEqual({ 200: 10, 429: 1 });
    limited(replies.at(-1), 60);
    limited(await nopay.post(`/reports/${id}/revoke-sharing`), 60);
  });

  it("answer 429 beyond 30 changes an hour of one account's endpoint; rotations count too", async () => {
    const owner = new EndpointOwner(service, (await service.credentials()).accounts.unrelated);
    const { id } = (await owner.request('POST', '', { url: 'https://8.8.8.8/hook' })).body;
    const replies = [];
    for (let count = 1; count < 16; count++) replies.push(await owner.request('PUT', `/${id}`, {}));
    for (let count = 16; count < 30; count++) replies.push(await owner.request('POST', `/${id}/rotate`));
    expect(statuses(replies)).toEqual({ 200: 29 });
    limited(await owner.request('POST', `/${id}/rotate`), 3_600);
    limited(await owner.request('DELETE', `/${id}`), 3_600);
  });

  it('store no address and no phone in Redis', async () => {
    const redis = service.redis.client();
    const keys = (await redis.keys('rate:*')).join('\n');
    expect(keys).not.toBe('');
    expect(keys).not.toMatch(/203\.0|415555|submits|sms/);
  });

  it("answer 429 beyond 60 token exchanges a minute with one key from one address; strangers with the key do not use up the owner's limit", async () => {
    const { publishableKey, allowedOrigins } = (await service.credentials()).accounts.unrelated;
    const own = allowedOrigins[0] as string;
    const from = (address: string, origin: string, headers: Record<string, string> = {}): Promise<Reply> =>
      service.request('POST', '/auth/token/exchange', {
        headers: { 'x-publishable-key': publishableKey, origin, 'x-forwarded-for': address, ...headers },
      });
    const many = async (origin: string): Promise<Record<number, number>> =>
      statuses(await Promise.all(Array.from({ length: 61 }, () => from('203.0.113.70', origin))));
    expect(await many('https://evil.example.test')).toEqual({ 403: 60, 429: 1 });
    expect((await from('203.0.113.71', 'https://evil.example.test')).body.error.code).toBe('ORIGIN_NOT_ALLOWED');
    expect(await many(own)).toEqual({ 200: 60, 429: 1 });
    // Requests from another address are still accepted, and so are requests of an open page.
    const quota = ({ status, headers }: Reply): unknown[] => [status, headers.get('ratelimit-remaining')];
    const other = await from('203.0.113.71', own);
    expect([quota(other), other.headers.get('ratelimit-limit')]).toEqual([[200, '59'], '60']);
    const renewal = await from('203.0.113.70', own, { authorization: `Bearer ${other.body.token}` });
    expect(quota(renewal)).toEqual([200, '59']);
  });
});

describe('the limits by environment and account', () => {
  let at: Service;
  let caller: PlatformCaller;

  beforeAll(async () => {
    const env = {
      SUBMITS_PER_MINUTE_PER_ADDRESS: '2',
      SUBMITS_PER_MINUTE: '0',
      SMS_PER_HOUR: '0',
      SMS_PER_DAY: '3',
      SUBMITS_PER_HOUR_PER_PERSON: '1',
      REPORT_READS_PER_MINUTE: '1',
      IDEMPOTENCY_KEYS_PER_LINEAGE: '1',
      IDEMPOTENCY_KEYS_PER_ACCOUNT: '1',
      INCOME_SESSIONS_PER_SCREENING: '1',
      INCOME_SESSIONS_PER_MINUTE: '0',
      INCOME_SESSIONS_PER_MINUTE_PER_ACCOUNT: '2',
      SHARES_PER_MINUTE: '1',
    };
    at = await service.startBeside({ ...env, ROLE: 'api' });
  });
  beforeEach(async () => {
    caller = new PlatformCaller(at, (await service.signIn('child')).headers);
  });
  afterAll(() => at.program.end('SIGTERM'));

  it('answer 429 beyond the configured number of submissions; 0 sets no limit', async () => {
    const person = aPerson({ phoneNumber: aPhone() });
    const first = await submit(caller, '203.0.113.90', person);
    expect(first.status).toBe(200);
    limited(await submit(caller, '203.0.113.90', person), 3_600);
    expect((await submit(caller, '203.0.113.90')).status).toBe(200);
    limited(await submit(caller, '203.0.113.90'), 60);

    const { accountId } = (await service.credentials()).accounts.child;
    expect((await service.ops('accounts', 'set', accountId, '--submits-per-minute', '1')).exitCode).toBe(0);
    await until(
      'the number of the account counts',
      async () => (await submit(caller, '203.0.113.91', { dateOfBirth: '04121990' })).status === 429,
    );
    expect((await service.ops('accounts', 'set', accountId, '--submits-per-minute', 'none')).exitCode).toBe(0);
  });

  it('answer 429 beyond the configured numbers of codes, reads and shares', async () => {
    const phoneNumber = aPhone();
    let tries = 0;
    // Each try sends two requests, because one request alone may begin a new window.
    await until('the number of the installation counts', async () => {
      const twice = [await submit(caller, `10.9.1.${(tries += 1)}`), await submit(caller, `10.9.2.${tries}`)];
      return twice.every(({ status }) => status === 200);
    });
    const codes = [];
    for (let count = 0; count < 4; count++)
      codes.push(await submit(caller, `203.0.113.${93 + count}`, { lastName: 'Otptest', phoneNumber }));
    expect(statuses(codes)).toEqual({ 200: 3, 429: 1 });
    limited(codes.at(-1), 86_400);

    const { id } = (await submit(caller, '203.0.113.99')).body;
    expect((await caller.get(`/reports/${id}`)).status).not.toBe(429);
    limited(await caller.get(`/reports/${id}`), 60);

    expect((await caller.post(`/reports/${id}/consent-to-share`)).status).not.toBe(429);
    limited(await caller.post(`/reports/${id}/consent-to-share`), 60);
  });

  it('answer 429 beyond the configured numbers of income sessions', async () => {
    const { id } = (await submit(caller, '203.0.113.98')).body;
    const open = (from: string, body: object) => caller.post('/voie/sessions', body, { 'x-forwarded-for': from });
    expect((await open('203.0.113.98', { screening_session_id: id })).status).toBe(200);
    limited(await open('203.0.113.98', { screening_session_id: id }), 30 * 86_400);
    expect([(await open('203.0.113.97', {})).status, (await open('203.0.113.97', {})).status]).toEqual([200, 200]);
    limited(await open('203.0.113.97', {}), 60);
    // The limit of the account also refuses this page from another address. The service accepts a page of a new caller
    // from that address.
    limited(await open('203.0.113.96', {}), 60);
    const newcomer = new PlatformCaller(at, (await service.signIn('child')).headers);
    expect((await newcomer.post('/voie/sessions', {}, { 'x-forwarded-for': '203.0.113.96' })).status).toBe(200);
  });

  it('answer 200 with Idempotency-Kept: false beyond the configured number of kept replies', async () => {
    const keyed = (key: string) => submit(caller, '203.0.113.89', {}, { 'idempotency-key': key });
    const replies = [await keyed('one'), await keyed('two')];
    expect(replies.map(({ status, headers }) => [status, headers.get('idempotency-kept')])).toEqual([
      [200, null],
      [200, 'false'],
    ]);
    const { secretKey } = (await service.credentials()).accounts.child;
    const grant = (key: string) =>
      at.request('POST', '/v1/sessions', {
        headers: { 'x-secret-key': secretKey, 'idempotency-key': key },
        body: {},
      });
    const grants = [await grant('one'), await grant('two'), await grant('one'), await grant('two')];
    expect(grants.map(({ status, headers }) => [status, headers.get('idempotency-kept')])).toEqual([
      [200, null],
      [200, 'false'],
      [200, null],
      [200, 'false'],
    ]);
    expect(grants[2]?.text).toBe(grants[0]?.text);
    expect((await at.request('GET', '/metrics')).text).toContain('idempotency_replies_not_kept_total 3');
  });
});

/** The number of all stored events. */
async function eventCount(): Promise<number> {
  const { stdout } = await service.ops('audit', 'verify');
  const found = /"events":(\d+)/.exec(stdout);
  if (!found) throw new Error(`No count in: ${stdout}`);
  return Number(found[1]);
}
