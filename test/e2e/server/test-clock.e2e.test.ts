// /v1/test_helpers/clock on the whole service with the documented limits (docs/contract/server.md#test-clock).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DirectCaller } from '../../support/direct.js';
import { EndpointOwner } from '../../support/endpoint-owner.js';
import { until } from '../../support/eventually.js';
import { freePort } from '../../support/redis.js';
import { type Credentials, type DemoAccount, type Reply, Service } from '../../support/service.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** The delays of the documented ladder before attempts 2 to 9, in seconds. */
const LADDER = [60, 300, 1_800, 7_200, 18_000, 21_600, 21_600, 21_600];
const CARD = { number: '4242 4242 4242 4242', expiry: '12/40', cvc: '123' };
const PAGES = { successUrl: 'http://localhost:5173/paid', cancelUrl: 'http://localhost:5173/canceled' };

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service?.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const clock = (secretKey: string): Promise<Reply> =>
  service.request('GET', '/v1/test_helpers/clock', { headers: { 'x-secret-key': secretKey } });
const turn = (body: unknown, secretKey: string): Promise<Reply> =>
  service.request('POST', '/v1/test_helpers/clock', { headers: { 'x-secret-key': secretKey }, body });

/** Turns the clock, waits until everything is done, and returns the clock. */
async function turned(body: unknown, { secretKey }: DemoAccount): Promise<any> {
  const reply = await turn(body, secretKey);
  if (reply.status !== 200) throw new Error(`The clock was not turned: ${reply.status} ${reply.text}`);
  let shown = reply.body;
  await until('the clock is ready', async () => {
    shown = (await clock(secretKey)).body;
    return shown.status === 'ready';
  });
  return shown;
}

describe('POST /v1/test_helpers/clock', () => {
  it('200: attempts, the end of the endpoint, reports, shares and the checkout guard follow the clock of their account alone', async () => {
    const { nopay, demo } = accounts;
    const owner = new EndpointOwner(service, nopay);
    await owner.register(`https://127.0.0.1:${await freePort()}/hooks`);
    const caller = await service.signIn('nopay');
    const pending: string[] = [];
    for (let count = 0; count < 3; count++) pending.push((await caller.submit({ lastName: 'Otptest' })).body.id);
    const shared: string = (await caller.submit()).body.id;
    const own: string = (await caller.submit()).body.id;
    const { sharedAt, expiresAt } = (await caller.post(`/reports/${shared}/consent-to-share`)).body;
    expect((await caller.get(`/reports/${own}`)).status).toBe(200);
    const others = await service.signIn('broke');
    const othersSession: string = (await others.submit({ lastName: 'Otptest' })).body.id;
    await until('the first attempts have failed', async () => {
      const log = await owner.deliveries();
      return log.length >= 5 && log.every(({ attempt_count }) => attempt_count === 1);
    });

    // Step-ups expire after 30 minutes, also at the first look.
    expect((await turned({ advance: 31 * 60 }, nopay)).offset_seconds).toBe(31 * 60);
    expect((await caller.status(pending[0]!)).body.status).toBe('EXPIRED');
    expect((await others.status(othersSession)).body.status).toBe('STEP_UP_REQUIRED');

    // The ladder ends after 26 hours, and the endpoint 72 hours later.
    await turned({ advance: 110 * HOUR }, nopay);
    const first = (await owner.deliveries()).at(-1)!;
    const { attempts, status } = await owner.delivery(first.delivery_id);
    expect([status, attempts.length]).toEqual(['exhausted', LADDER.length + 1]);
    const times = attempts.map(({ attempted_at }) => Date.parse(attempted_at) / 1_000);
    for (const [place, delay] of LADDER.entries()) {
      const passed = (times[place + 1] ?? 0) - (times[place] ?? 0);
      expect([place, passed > delay * 0.89, passed < delay * 1.11 + 5]).toEqual([place, true, true]);
    }
    const endpoint = await owner.endpoint();
    expect(endpoint).toMatchObject({ status: 'disabled', disabled_reason: 'NO_SUCCESSFUL_DELIVERY' });
    const ends = (await owner.deliveries({ status: 'exhausted' })).map(({ last_attempt_at }) =>
      Date.parse(last_attempt_at!),
    );
    const failing = ends.sort((one, other) => one - other)[2]!;
    expect(Math.round((Date.parse(endpoint.updated_at) - failing) / HOUR / 1_000)).toBe(72);

    // A report is valid for 30 days, and a share for 24 months.
    await turned({ advance: 26 * DAY }, nopay);
    const later = await service.signIn('nopay');
    expect(refused(await later.get(`/reports/${own}`))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    const listed = async (): Promise<unknown> => {
      const headers = { 'x-secret-key': nopay.secretKey };
      const { data } = (await service.request('GET', '/v1/reports?shared=true', { headers })).body;
      return data.find(({ session_id: id }: any) => id === shared)?.status;
    };
    expect((await later.get(`/reports/${shared}/sharing`)).body.status).toBe('SHARED');
    expect(await listed()).toBe('SHARED');
    const { now } = await turned({ to: expiresAt }, nopay);
    expect(Date.parse(now)).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    expect((await later.get(`/reports/${shared}/sharing`)).body).toMatchObject({
      status: 'EXPIRED',
      sharedAt,
      expiresAt,
    });
    expect(await listed()).toBe('EXPIRED');
    await later.submit();
    const { secretKey } = nopay;
    const feed = async (): Promise<any> =>
      (await service.request('GET', '/v1/events?limit=1000', { headers: { 'x-secret-key': secretKey } })).body;
    await until(
      'the newest event has the new time',
      async () => (await feed()).data.at(-1).event.occurred_at > expiresAt,
    );
    expect(refused(await later.post(`/reports/${shared}/consent-to-share`))).toEqual([403, 'REPORT_SHARING_EXPIRED']);

    // A renter does not pay again for 30 days.
    const direct = await DirectCaller.of(service, 'demo');
    const checkout = async (): Promise<unknown[]> => {
      const reply = await direct.send('POST', '/pay/payment/checkout-session', { renterId: 'guarded', ...PAGES });
      return [reply.status, reply.body.errors[0]?.errorCode ?? reply.body.payload.url];
    };
    await direct.registered('renters', 'guarded');
    const [, page] = await checkout();
    await fetch(`${String(page)}/pay`, { method: 'POST', body: new URLSearchParams(CARD), redirect: 'manual' });
    await until('the payment is known', async () => (await checkout())[0] === 409);
    expect(await checkout()).toEqual([409, 409]);
    await turned({ advance: 31 * DAY }, demo);
    expect((await direct.register('renters', 'guarded')).status).toBe(200);
    expect((await checkout())[0]).toBe(200);

    expect((await clock(accounts.broke.secretKey)).body).toMatchObject({ offset_seconds: 0, status: 'ready' });
    expect((await clock(accounts.child.secretKey)).body.offset_seconds).toBe(0);
  });

  it('200: the lock and the authentication of a party follow the clock of its account', async () => {
    const direct = await DirectCaller.of(service, 'unbilled');
    const told = ({ status, body }: Reply): unknown[] => [status, body.errors[0]?.errorCode ?? null];
    const agent = async (id: string, lastName: string): Promise<Reply> => direct.register('agents', id, { lastName });
    await agent('renewed', 'Alreadytest');
    expect(told(await agent('renewed', 'Alreadytest'))).toEqual([409, 292]);
    await agent('locked', 'Otptest');
    expect(told(await direct.post('/agents/locked/otp', { code: '123456' }))).toEqual([200, null]);
    await direct.post('/agents/locked/auth', { jscPayload: 'fingerprint', ipAddress: '203.0.113.7' });
    for (let number = 0; number < 3; number++) await direct.post('/agents/locked/auth/otp', { code: '000000' });
    expect(told(await direct.get('/agents/locked/auth/status'))).toEqual([423, 300]);
    await turned({ advance: DAY - 60 }, accounts.unbilled);
    expect(told(await direct.get('/agents/locked/auth/status'))).toEqual([423, 300]);
    await turned({ advance: 60 }, accounts.unbilled);
    expect(told(await direct.get('/agents/locked/auth/status'))).toEqual([200, null]);
    await turned({ advance: 365 * DAY }, accounts.unbilled);
    expect(told(await agent('renewed', 'Alreadytest'))).toEqual([200, null]);
  });

  it('200: the limit of a review by people at the vendor follows the clock of its account alone', async () => {
    const begun = async (account: keyof Credentials['accounts']): Promise<{ id: string; reviewUntil: string }> => {
      const chosen = ['--identity-vendor', 'acme', '--credit-vendor', 'acme'];
      expect((await service.ops('accounts', 'set', accounts[account].accountId, ...chosen)).exitCode).toBe(0);
      const caller = await service.signIn(account);
      const { id } = (await caller.submit({ lastName: 'Reviewtest' })).body;
      let shown: any;
      await until(
        'the review has begun',
        async () => (shown = (await caller.status(id)).body).reviewUntil !== undefined,
      );
      return { id, reviewUntil: shown.reviewUntil };
    };
    // A turned clock has ended earlier tokens.
    const statusOf = async (account: keyof Credentials['accounts'], id: string): Promise<string> =>
      (await (await service.signIn(account)).status(id)).body.status;
    const [own, other] = [await begun('child'), await begun('grandchild')];
    await turned({ to: new Date(Date.parse(own.reviewUntil) - 60_000).toISOString() }, accounts.child);
    expect(await statusOf('child', own.id)).toBe('SUBMITTED');
    await turned({ advance: 60 }, accounts.child);
    expect([await statusOf('child', own.id), await statusOf('grandchild', other.id)]).toEqual(['EXPIRED', 'SUBMITTED']);
  });

  it('200: a share lasts its 24 months, and events are delivered, also when the clock is 90 years ahead', async () => {
    const { nopay } = accounts;
    await turned({ advance: 90 * 365 * DAY }, nopay);
    const owner = new EndpointOwner(service, nopay);
    await owner.register(`https://127.0.0.1:${await freePort()}/hooks`);
    const caller = await service.signIn('nopay');
    const { id } = (await caller.submit()).body;
    const { expiresAt } = (await caller.post(`/reports/${id}/consent-to-share`)).body;
    await turned({ to: expiresAt }, nopay);
    expect((await caller.get(`/reports/${id}/sharing`)).body.status).toBe('EXPIRED');
    const statuses = (await owner.deliveries()).map(({ status }) => status);
    expect([statuses.length > 0, new Set(statuses)]).toEqual([true, new Set(['exhausted'])]);
  });

  it.each([
    [{}, 'advance'],
    [{ advance: 60, to: '2999-01-01T00:00:00Z' }, 'advance'],
    [{ advance: 0 }, 'advance'],
    [{ advance: -60 }, 'advance'],
    [{ advance: 1.5 }, 'advance'],
    [{ advance: '60' }, 'advance'],
    [{ advance: 1e12 }, 'advance'],
    [{ to: '2020-01-01T00:00:00Z' }, 'to'],
    [{ to: '2999-01-01T00:00:00Z' }, 'to'],
    [{ to: '2027-01-01T00:00:00' }, 'to'],
    [{ to: 'tomorrow' }, 'to'],
  ])('400: %j names the field', async (body, field) => {
    const reply = await turn(body, accounts.unrelated.secretKey);
    expect([reply.status, reply.body.error.field]).toEqual([400, field]);
    expect((await clock(accounts.unrelated.secretKey)).body.offset_seconds).toBe(0);
  });

  it.each(['60', 1.5, true])('400: advance %j is told to be no whole number', async (advance) => {
    const { body } = await turn({ advance }, accounts.unrelated.secretKey);
    expect(body.error.details).toEqual([{ field: 'advance', message: 'must be a whole number of seconds' }]);
  });

  it('403: a live key cannot turn or read the clock', async () => {
    const liveKey = accounts.demo.liveSecretKey!;
    for (const reply of [await turn({ advance: 60 }, liveKey), await clock(liveKey)])
      expect(refused(reply)).toEqual([403, 'AUTH_FORBIDDEN']);
  });

  it('401: a call without a key turns nothing', async () => {
    expect((await service.request('POST', '/v1/test_helpers/clock', { body: { advance: 60 } })).status).toBe(401);
  });
});
