// The sandbox identity vendor over HTTP: which requests it refuses, how it repeats answers, what it counts and what it
// remembers.
import { appendFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import {
  SandboxIdentityVendor,
  type SandboxIdentityVendorOptions,
} from '../../../src/vendors/idv/double/identity-vendor.js';
import { type RunningSandbox, startSandbox } from '../../../sandbox/server.js';
import { until } from '../../support/eventually.js';

const CREDENTIAL = 'test-credential';
const JO = {
  userType: 'CONSUMER',
  firstName: 'Jocelyn',
  lastName: 'Smithsonian',
  dateOfBirth: '01311980',
  ssn: '666443210',
  phone: { number: '2025550143', type: 'C' },
  address: { street: '17 Canary Street', city: 'Springfield', state: 'IL', zip: '62701' },
  device: { jsc: 'fingerprint-canary' },
  termsAcceptedAt: '2026-01-02T03:04:05.678Z',
};

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

let folder: string;
let sandbox: RunningSandbox;
const running: RunningSandbox[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  sandbox = await start(folder);
});

afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
  rmSync(folder, { recursive: true });
});

async function start(where: string, options: Partial<SandboxIdentityVendorOptions> = {}): Promise<RunningSandbox> {
  const vendor = new SandboxIdentityVendor({
    folder: join(where, 'sandbox'),
    credential: CREDENTIAL,
    slowMs: 300,
    ...options,
  });
  const started = await startSandbox({ host: '127.0.0.1', port: 0, parts: [vendor] });
  running.push(started);
  return started;
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  at = sandbox,
): Promise<Reply> {
  const response = await fetch(at.url + path, {
    method,
    headers: {
      authorization: `Bearer ${CREDENTIAL}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
}

function post(path: string, body: unknown, key = newId(), at = sandbox): Promise<Reply> {
  return ask('POST', path, body, { 'idempotency-key': key }, at);
}

const register = (more: object = {}, key = newId(), at = sandbox): Promise<Reply> =>
  post('/identity/v1/registrations', { ...JO, ...more }, key, at);
const outcome = async (key: string, at = sandbox): Promise<any> =>
  (await ask('GET', `/identity/v1/outcomes/${key}`, undefined, {}, at)).body;
const counts = async (key: string, at = sandbox): Promise<any> =>
  (await ask('GET', `/control/calls?key=${key}`, undefined, {}, at)).body;

describe('strictness of the sandbox', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/identity/v1'],
    ['GET', '/identity/v1/registrations'],
    ['POST', '/identity/v1/registration'],
    ['POST', '/identity/v1/registrations/'],
    ['PUT', '/identity/v1/registrations'],
    ['POST', '/identity/v2/registrations'],
    ['POST', '/identity/v1/sessions/vs_1'],
    ['POST', '/identity/v1/outcomes/key'],
    ['POST', '/control/calls'],
  ])('404: %s %s', async (method, path) => {
    const reply = await ask(method, path, method === 'GET' ? undefined : {}, { 'idempotency-key': newId() });
    expect([reply.status, reply.body.error.code]).toEqual([404, 'not_found']);
  });

  it.each(['', 'Bearer', 'Bearer wrong', `Bearer ${CREDENTIAL}x`, `Basic ${CREDENTIAL}`])(
    '401: credential "%s"',
    async (authorization) => {
      const key = newId();
      const reply = await ask('POST', '/identity/v1/registrations', JO, { authorization, 'idempotency-key': key });
      expect([reply.status, reply.body.error.code]).toEqual([401, 'unauthorized']);
      expect((await ask('GET', `/identity/v1/outcomes/${key}`, undefined, { authorization })).status).toBe(401);
      expect(await counts(key)).toEqual({ key, received: 0, executed: 0, billed: 0 });
    },
  );

  it.each(['', 'two words', 'x'.repeat(256)])('400: idempotency key "%s"', async (key) => {
    const reply = await ask('POST', '/identity/v1/registrations', JO, { 'idempotency-key': key });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'idempotency_key_required']);
  });

  const nested = { phone: { ...JO.phone, country: '1' }, address: { ...JO.address, street: 7 } };
  it.each<[string, unknown, string]>([
    ['an unknown field', { ...JO, nickname: 'J' }, 'nickname'],
    ['an unknown nested field', { ...JO, phone: nested.phone }, 'phone.country'],
    ['an ill-typed nested field', { ...JO, address: nested.address }, 'address.street'],
    ['a missing user type', { ...JO, userType: undefined }, 'userType'],
    ['a missing nested field', { ...JO, device: {} }, 'device.jsc'],
    ['a number for text', { ...JO, ssn: 666443210 }, 'ssn'],
    ['null', { ...JO, middleName: null }, 'middleName'],
    ['an empty name', { ...JO, firstName: '' }, 'firstName'],
    ['an unknown user type', { ...JO, userType: 'consumer' }, 'userType'],
    ['a fingerprint over 4,000 characters', { ...JO, device: { jsc: 'x'.repeat(4_001) } }, 'device.jsc'],
    ['a list', [JO], ''],
  ])('400/708 names the field: %s', async (_name, body, field) => {
    const key = newId();
    const reply = await post('/identity/v1/registrations', body, key);
    expect([reply.status, reply.body.error.code, reply.body.error.field]).toEqual([400, 708, field]);
    expect(JSON.stringify(reply.body)).not.toMatch(/Jocelyn|666443210|consumer"/);
    expect(await outcome(key)).toEqual({ state: 'not-executed' });
  });

  const table: readonly (readonly [status: number, codes: readonly number[]])[] = [
    [400, [2002, 2013, 2045, 2049, 2092, 2403, 2404, 2405, 2406, 2407, 2627, 2633, 2709, 2711]],
    [401, [2502, 3002, 3008, 7001]],
    [422, [1999, 2001, 2004, 2010, 2018, 2501, 2503, 2802, 3014, 3015, 3901]],
    [500, [1001, 1004, 1010, 2801, 3001, 3012, 7002, 7004]],
    [503, [123, 2000]],
    [504, [2500, 3009, 3011]],
  ];
  it.each(table.flatMap(([status, codes]) => codes.map((code) => [status, code] as const)))(
    '%i with the number %i when a middle name selects this number',
    async (status, code) => {
      const key = newId();
      const reply = await register({ middleName: `Upstream${code}` }, key);
      expect([reply.status, reply.body.error]).toEqual([status, { code, message: expect.any(String) }]);
      expect(await counts(key)).toEqual({ key, received: 1, executed: 1, billed: 0 });
    },
  );

  it('refuses a body that is not JSON, not declared as JSON, or too large', async () => {
    expect((await post('/identity/v1/registrations', '{"userType":')).status).toBe(400);
    expect(
      (
        await ask('POST', '/identity/v1/registrations', 'x=1', {
          'idempotency-key': newId(),
          'content-type': 'text/plain',
        })
      ).status,
    ).toBe(415);
    expect((await register({ firstName: 'x'.repeat(70_000) })).status).toBe(413);
    expect((await post('/identity/v1/registrations?debug=1', JO)).status).toBe(400);
  });

  it('refuses malformed step-up answers without using up an attempt', async () => {
    const otp = (await register({ lastName: 'Otptest' })).body.authSession;
    const kba = (await register({ lastName: 'Kbatest' })).body.authSession;
    const four = [1, 2, 3, 4].map((id) => ({ questionId: id, answerId: 5 }));
    const refused: [string, unknown][] = [
      [`${otp}/otp`, { code: 123456 }],
      [`${otp}/otp`, { code: '123' }],
      [`${otp}/otp`, { code: '12a456' }],
      [`${otp}/otp`, {}],
      [`${otp}/otp/resend`, { now: true }],
      [`${otp}/kba`, { answers: four }],
      [`${kba}/otp`, { code: '123456' }],
      [`${kba}/otp/resend`, {}],
      [`${kba}/kba`, { answers: four.slice(1) }],
      [`${kba}/kba`, { answers: [...four, four[0]] }],
      [`${kba}/kba`, { answers: [...four.slice(1), four[1]] }],
      [`${kba}/kba`, { answers: four.map((answer) => ({ ...answer, answerId: 6 })) }],
      [`${kba}/kba`, { answers: four.map(({ questionId }) => ({ questionId })) }],
    ];
    for (const [path, body] of refused) {
      const reply = await post(`/identity/v1/sessions/${path}`, body);
      expect([path, reply.status, reply.body.error.code]).toEqual([path, 400, 708]);
    }
    expect((await post(`/identity/v1/sessions/${otp}/otp`, { code: '000000' })).body).toMatchObject({
      userAuthenticated: false,
      attemptsRemaining: 2,
    });
    expect((await post(`/identity/v1/sessions/${kba}/kba`, { answers: four })).body).toMatchObject({
      userAuthenticated: false,
      attemptsRemaining: 2,
    });
  });

  it('repeats a request id that is a plain token, and otherwise makes an id', async () => {
    expect(
      (await ask('GET', '/identity/v1/outcomes/x', undefined, { 'x-request-id': 'abc-1' })).headers.get('x-request-id'),
    ).toBe('abc-1');
    expect(
      (await ask('GET', '/identity/v1/outcomes/x', undefined, { 'x-request-id': 'a b' })).headers.get('x-request-id'),
    ).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the body of an answer about an identity', () => {
  const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const body = (key: string, more: object): object => ({
    success: true,
    userAuthenticated: false,
    authSession: UUID,
    otpEnabled: false,
    kiqEnabled: false,
    clientReferenceId: key,
    kba: null,
    crossCoreFullResponse: null,
    ...more,
  });
  const token = expect.stringMatching(/^ut_[0-9a-f]{32}\.[\w-]{40,}$/);
  const questions = (sessionId: unknown): object => ({
    sessionId,
    questions: [1, 2, 3, 4].map((id) => ({
      id,
      text: expect.any(String),
      answers: [1, 2, 3, 4, 5].map((answerId) => ({ id: answerId, text: expect.any(String) })),
    })),
  });

  it('has the documented fields at a registration, and no token for the person before the identity is confirmed', async () => {
    const keys = [newId(), newId(), newId(), newId()] as const;
    expect((await register({}, keys[0])).body).toEqual(body(keys[0], { userAuthenticated: true, UserToken: token }));
    expect((await register({ lastName: 'Alreadytest' }, keys[1])).body).toEqual(
      body(keys[1], { userAuthenticated: true, UserToken: token, duplicateGuard: true }),
    );
    expect((await register({ lastName: 'Otptest' }, keys[2])).body).toEqual(body(keys[2], { otpEnabled: true }));
    const choice = (await register({ lastName: 'Choicetest' }, keys[3])).body;
    expect(choice).toEqual(body(keys[3], { otpEnabled: true, kiqEnabled: true, kba: questions(choice.authSession) }));
  });

  it('is the same after a right answer, a wrong one, a resend and a lock', async () => {
    const { authSession } = (await register({ lastName: 'Lockedtest' })).body;
    const keys = [newId(), newId(), newId(), newId()] as const;
    const at = `/identity/v1/sessions/${authSession}/otp`;
    expect(await post(`${at}/resend`, {}, keys[0])).toMatchObject({
      status: 200,
      body: body(keys[0], { authSession, otpEnabled: true }),
    });
    const locked = await post(at, { code: '000000' }, keys[1]);
    const unblockAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect([locked.status, locked.body]).toEqual([423, body(keys[1], { success: false, authSession, unblockAt })]);

    const other = (await register({ lastName: 'Otptest' })).body.authSession;
    const wrong = await post(`/identity/v1/sessions/${other}/otp`, { code: '000000' }, keys[2]);
    const open = { success: false, authSession: other, otpEnabled: true, attemptsRemaining: 2 };
    expect([wrong.status, wrong.body]).toEqual([422, body(keys[2], open)]);
    const right = await post(`/identity/v1/sessions/${other}/otp`, { code: '123456' }, keys[3]);
    const confirmed = { userAuthenticated: true, UserToken: token, authSession: other };
    expect([right.status, right.body]).toEqual([200, body(keys[3], confirmed)]);
  });
});

describe('personas that break HTTP', () => {
  it('Downtest is 503, Redirecttest 302 to an HTML login, Garbledtest 200 that is not JSON', async () => {
    expect(await register({ lastName: 'Downtest' })).toMatchObject({
      status: 503,
      body: { error: { code: 'service_unavailable' } },
    });
    const redirect = await register({ lastName: 'Redirecttest' });
    expect(redirect.status).toBe(302);
    const login = await ask('GET', redirect.headers.get('location') ?? '');
    expect([login.status, login.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    const garbled = await fetch(`${sandbox.url}/identity/v1/registrations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${CREDENTIAL}`,
        'content-type': 'application/json',
        'idempotency-key': newId(),
      },
      body: JSON.stringify({ ...JO, lastName: 'Garbledtest' }),
    });
    expect(garbled.status).toBe(200);
    await expect(garbled.json()).rejects.toThrow();
  });

  it('Resettest resets the connection after reading the request', async () => {
    const key = newId();
    await expect(register({ lastName: 'Resettest' }, key)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(await counts(key)).toEqual({ key, received: 1, executed: 0, billed: 0 });
  });

  it('Timeouttest stays in progress, and then permanently counts as "not executed"', async () => {
    const other = await start(mkdtempSync(join(folder, 'other-')), { silentMs: 400 });
    const key = newId();
    const hanging = register({ lastName: 'Timeouttest' }, key, other).then(
      () => 'answered',
      () => 'cut off',
    );
    await until('the call is received', async () => (await counts(key, other)).received === 1);
    expect(await outcome(key, other)).toEqual({ state: 'in-progress' });
    expect((await register({ lastName: 'Timeouttest' }, key, other)).body.error.code).toBe('call_in_progress');
    await until('the call is given up', async () => (await outcome(key, other)).state === 'not-executed');
    expect((await register({}, key, other)).body.error.code).toBe('key_closed');
    await running.pop()?.close();
    expect(await hanging).toBe('cut off');
  });
});

describe('idempotency of the sandbox', () => {
  it('repeats the first answer without executing anything', async () => {
    const key = newId();
    const first = await register({}, key);
    const second = await register({}, key);
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(await counts(key)).toEqual({ key, received: 2, executed: 1, billed: 0 });
  });

  it('repeats refusals too', async () => {
    const key = newId();
    const first = await register({ lastName: 'Fraudtest' }, key);
    expect(first).toMatchObject({ status: 422, body: { error: { code: 18 } } });
    expect(await register({ lastName: 'Fraudtest' }, key)).toMatchObject({ status: 422, body: first.body });
  });

  it('409: the same key with another body, or on another path', async () => {
    const key = newId();
    await register({}, key);
    expect(await register({ firstName: 'Other' }, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    });
    expect(await post('/identity/v1/sessions/vs_1/otp', { code: '123456' }, key)).toMatchObject({ status: 409 });
    expect(await post('/identity/v1/sessions/vs_1/otp/resend', {}, key)).toMatchObject({ status: 409 });
  });

  it('409: the same key while the first call is in progress, and the call is executed once', async () => {
    const key = newId();
    const slow = register({ lastName: 'Slowtest' }, key);
    await until('the call is received', async () => (await counts(key)).received === 1);
    expect(await register({ lastName: 'Slowtest' }, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'call_in_progress' } },
    });
    expect(await outcome(key)).toEqual({ state: 'in-progress' });
    const first = await slow;
    expect(await register({ lastName: 'Slowtest' }, key)).toMatchObject({ status: 200, body: first.body });
    expect(await counts(key)).toEqual({ key, received: 3, executed: 1, billed: 0 });
  });

  it('executes only one of many simultaneous identical calls', async () => {
    const key = newId();
    const replies = await Promise.all(Array.from({ length: 20 }, () => register({}, key)));
    const tokens = new Set(replies.filter(({ status }) => status === 200).map(({ body }) => body.UserToken));
    expect(tokens.size).toBe(1);
    expect(await counts(key)).toEqual({ key, received: 20, executed: 1, billed: 0 });
  });

  it('refuses a late call whose key was reported as "not executed"', async () => {
    const key = newId();
    expect(await outcome(key)).toEqual({ state: 'not-executed' });
    expect(await register({}, key)).toMatchObject({ status: 409, body: { error: { code: 'key_closed' } } });
    expect(await outcome(key)).toEqual({ state: 'not-executed' });
  });

  it('leaves the key unused after a fault', async () => {
    const key = newId();
    expect((await register({ lastName: 'Flakytest' }, key)).status).toBe(503);
    expect((await register({ lastName: 'Flakytest' }, key)).status).toBe(200);
    expect(await counts(key)).toEqual({ key, received: 2, executed: 1, billed: 0 });
  });
});

describe('reports of the sandbox', () => {
  const report = (session: string, key = newId(), at = sandbox): Promise<Reply> =>
    post('/credit/v1/reports', { session }, key, at);
  const tokenOf = async (more: object = {}, at = sandbox): Promise<string> => {
    const { UserToken, authSession } = (await register(more, newId(), at)).body;
    return UserToken ?? authSession;
  };

  it('are refused without credential, key, or a session that is a text', async () => {
    const session = await tokenOf();
    expect(
      (
        await ask(
          'POST',
          '/credit/v1/reports',
          { session },
          { authorization: 'Bearer wrong', 'idempotency-key': newId() },
        )
      ).status,
    ).toBe(401);
    expect((await ask('POST', '/credit/v1/reports', { session })).body.error.code).toBe('idempotency_key_required');
    expect((await post('/credit/v1/reports', { session: 7 })).body.error).toMatchObject({
      code: 708,
      field: 'session',
    });
    expect((await post('/credit/v1/reports', { session, more: true })).body.error).toMatchObject({
      code: 708,
      field: 'more',
    });
    expect((await ask('GET', '/credit/v1/reports')).status).toBe(404);
  });

  it.each([
    ['Frozentest', undefined, 422, 9132],
    ['Nohittest', undefined, 422, 9193],
    ['Smith', 'Upstream9001', 500, 9001],
    ['Smith', 'Upstream9010', 401, 9010],
    ['Smith', 'Upstream10404', 400, 10404],
    ['Smith', 'Upstream10945', 500, 10945],
    ['Frozentest', 'Upstream9193', 422, 9193],
    ['Smith', 'Upstream12345', 422, 12345],
  ])('%s, middle name %s: %i with %i', async (lastName, middleName, status, code) => {
    const reply = await report(await tokenOf({ lastName, ...(middleName && { middleName }) }));
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
  });

  it('require a session with a confirmed person', async () => {
    expect(await report('vs_unknown')).toMatchObject({ status: 504, body: { error: { code: 710 } } });
    expect(await report(await tokenOf({ lastName: 'Otptest' }))).toMatchObject({
      status: 401,
      body: { error: { code: 9010 } },
    });
  });

  it('are billed once for each key, repeated byte for byte, and never given to another session', async () => {
    const [session, other] = [await tokenOf(), await tokenOf({ ssn: '666443211' })];
    const key = newId();
    const first = await report(session, key);
    expect([first.status, first.body.score.value]).toEqual([200, 300 + (666_443_210 % 551)]);
    expect(await report(session, key)).toMatchObject({ status: 200, body: first.body });
    expect(await report(other, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    });
    expect(await counts(key)).toEqual({ key, received: 3, executed: 1, billed: 1 });
    await report(await tokenOf({ lastName: 'Frozentest' }));
    const totals = (await ask('GET', '/control/calls')).body;
    expect(totals.operations.report).toEqual({ received: 4, executed: 2, billed: 1 });
    // A report may be requested again.
    expect(totals.receivedTwice).toEqual([]);
  });

  it('are unavailable in an outage and lose their answers like other calls', async () => {
    const session = await tokenOf();
    const key = newId();
    await ask('POST', '/control/outage', { seconds: 60 });
    expect((await report(session, key)).status).toBe(503);
    await ask('POST', '/control/outage', { seconds: 0 });
    await ask('POST', '/control/lost-answers', { calls: 1 });
    await expect(report(session, key)).rejects.toThrow();
    expect(await report(session, key)).toMatchObject({ status: 200 });
    expect(await counts(key)).toEqual({ key, received: 3, executed: 1, billed: 1 });
  });

  it('count their dates back from the day of the pull', async () => {
    const other = await start(mkdtempSync(join(folder, 'other-')), { now: () => Date.parse('2026-03-01T00:00:00Z') });
    const { body } = await report(await tokenOf({}, other), newId(), other);
    expect(body.score.date).toBe('2026-03-01');
    const { searches, ...sections } = body.report;
    expect(new Set(searches.map(({ date }: { date: string }) => date))).toEqual(new Set(['2026-03-01']));
    const days = [...JSON.stringify(sections).matchAll(/"(\d{4}-\d\d-\d\d)"/g)].map(([, day]) => day!);
    expect(days.length).toBeGreaterThan(2);
    expect(days.every((day) => day < '2026-03-01' && day > '2010-01-01')).toBe(true);
  });
});

describe('an authentication', () => {
  it('is valid for the configured time from the confirmation or the last right answer', async () => {
    let now = Date.parse('2026-01-02T03:04:05.000Z');
    const other = await start(mkdtempSync(join(folder, 'other-')), { now: () => now, authenticationMs: 60_000 });
    const { UserToken: userToken } = (await register({ userType: 'AGENT' }, newId(), other)).body;
    const status = async (): Promise<unknown> =>
      (await ask('POST', '/identity/v1/authentications/status', { userToken }, {}, other)).body;
    const since = (from: string, to: string, authenticated: boolean): object => ({
      authenticated,
      authenticatedAt: `2026-01-02T03:${from}.000Z`,
      expiresAt: `2026-01-02T03:${to}.000Z`,
    });
    now += 59_999;
    expect(await status()).toEqual(since('04:05', '05:05', true));
    now += 1;
    expect(await status()).toEqual(since('04:05', '05:05', false));
    const device = { jsc: 'fingerprint' };
    const { authSession } = (await post('/identity/v1/authentications', { userToken, device }, newId(), other)).body;
    const code = { code: '123456' };
    expect((await post(`/identity/v1/sessions/${authSession}/otp`, code, newId(), other)).body).toMatchObject({
      userAuthenticated: true,
      UserToken: userToken,
    });
    expect(await status()).toEqual(since('05:05', '06:05', true));
  });

  it.each<[string, object, string]>([
    ['no device', {}, 'device.jsc'],
    ['no fingerprint', { device: {} }, 'device.jsc'],
    ['a fingerprint over 4,000 characters', { device: { jsc: 'x'.repeat(4_001) } }, 'device.jsc'],
    ['an invalid address', { device: { jsc: 'x' }, ipAddress: '1.2.3' }, 'ipAddress'],
  ])('cannot begin with %s: 400/1004', async (_name, more, field) => {
    const { UserToken: userToken } = (await register()).body;
    const reply = await post('/identity/v1/authentications', { userToken, ...more });
    expect([reply.status, reply.body.error.code, reply.body.error.field]).toEqual([400, 1004, field]);
  });

  it('may begin without a device for an organization, because an organization has no person with a device', async () => {
    const { UserToken: userToken } = (await register({ userType: 'PMC' })).body;
    const reply = await post('/identity/v1/authentications', { userToken, device: {} });
    expect([reply.status, reply.body.kiqEnabled]).toEqual([200, true]);
  });
});

describe('the controls of the sandbox', () => {
  it('count by operation and name keys that were received twice, without a credential', async () => {
    const repeated = newId();
    const { authSession } = (await register({ lastName: 'Choicetest' }, repeated)).body;
    await register({ lastName: 'Choicetest' }, repeated);
    await register({ lastName: 'Downtest' });
    await post(`/identity/v1/sessions/${authSession}/otp`, { code: '000000' });
    await post(`/identity/v1/sessions/${authSession}/otp/resend`, {});
    const reply = await fetch(`${sandbox.url}/control/calls`);
    expect(await reply.json()).toEqual({
      operations: {
        registration: { received: 3, executed: 1, billed: 0 },
        otp: { received: 1, executed: 1, billed: 0 },
        'otp-resend': { received: 1, executed: 1, billed: 0 },
        kba: { received: 0, executed: 0, billed: 0 },
        reauthentication: { received: 0, executed: 0, billed: 0 },
        expiry: { received: 0, executed: 0, billed: 0 },
        report: { received: 0, executed: 0, billed: 0 },
      },
      receivedTwice: [repeated],
      executedTwice: [],
    });
  });

  it('stop the vendor and start it again', async () => {
    const key = newId();
    expect((await ask('POST', '/control/outage', { seconds: 60 })).status).toBe(200);
    expect((await register({}, key)).status).toBe(503);
    expect((await ask('GET', `/identity/v1/outcomes/${key}`)).status).toBe(503);
    await ask('POST', '/control/outage', { seconds: 0 });
    expect((await register({}, key)).status).toBe(200);
    expect((await ask('POST', '/control/outage', { seconds: 'long' })).status).toBe(400);
  });

  it('make the vendor answer the next call with the requested fault, and execute nothing of this call', async () => {
    const key = newId();
    const fault = (name: string): Promise<Reply> => ask('POST', '/control/fault', { fault: name });
    await fault('down');
    expect((await register({}, key)).status).toBe(503);
    await fault('redirect');
    expect((await register({}, key)).status).toBe(302);
    await fault('reset');
    await expect(register({}, key)).rejects.toThrow();
    await fault('garbled');
    await expect(register({}, key)).rejects.toThrow(SyntaxError);
    expect((await fault('cheerful')).status).toBe(400);
    expect(await counts(key)).toEqual({ key, received: 0, executed: 0, billed: 0 });
    expect((await register({}, key)).status).toBe(200);
  });

  it('remove the freeze of confirmed persons with the SSN; a key keeps its answer, and a restart changes nothing', async () => {
    const frozen = (ssn: string, more: object = {}): Promise<string> =>
      register({ lastName: 'Frozentest', ssn, ...more }).then(({ body }) => body.UserToken);
    const pull = async (session: string, key = newId(), at?: RunningSandbox): Promise<number> =>
      (await post('/credit/v1/reports', { session }, key, at)).body.error?.code ?? 200;
    const [one, another, blocked, unknown, key] = [
      await frozen('666443211'),
      await frozen('666443212'),
      await frozen('666443212', { middleName: 'Upstream9116' }),
      await frozen('666443212', { lastName: 'Nohittest' }),
      newId(),
    ];
    expect([await pull(one, key), await pull(blocked), await pull(unknown)]).toEqual([9132, 9116, 9193]);
    const lift = async (body: object): Promise<Reply> => ask('POST', '/control/lift-freeze', body);
    expect(await lift({ ssn: '666443211' })).toMatchObject({ status: 200, body: { lifted: 1 } });
    expect(await lift({ ssn: '666443211' })).toMatchObject({ body: { lifted: 0 } });
    expect([await pull(one, key), await pull(one), await pull(another)]).toEqual([9132, 200, 9132]);
    const later = await frozen('666443211');
    expect(await pull(later)).toBe(9132);
    expect(await lift({})).toMatchObject({ body: { lifted: 3 } });
    expect([await pull(another), await pull(blocked), await pull(later), await pull(unknown)]).toEqual([
      200, 200, 200, 9193,
    ]);
    for (const body of [{ ssn: 'all' }, { ssn: 1 }, { who: 'all' }]) expect((await lift(body)).status).toBe(400);
    const killed = mkdtempSync(join(folder, 'killed-'));
    cpSync(join(folder, 'sandbox'), join(killed, 'sandbox'), { recursive: true });
    const again = await start(killed);
    expect([await pull(one, newId(), again), await pull(unknown, newId(), again)]).toEqual([200, 9193]);
  });

  it('lose the requested number of answers to executed calls', async () => {
    await ask('POST', '/control/lost-answers', { calls: 1 });
    const key = newId();
    await expect(register({}, key)).rejects.toThrow();
    expect(await outcome(key)).toMatchObject({
      state: 'executed',
      operation: 'registration',
      answer: { status: 200, body: expect.stringContaining('"userAuthenticated":true') },
    });
    expect((await register()).status).toBe(200);
  });
});

describe('locks after wrong answers', () => {
  it('begin after the configured number of wrong answers', async () => {
    const other = await start(mkdtempSync(join(folder, 'other-')), { attempts: 2 });
    const { authSession } = (await register({ lastName: 'Choicetest' }, newId(), other)).body;
    const answer = (): Promise<Reply> =>
      post(`/identity/v1/sessions/${authSession}/otp`, { code: '000000' }, newId(), other);
    expect(await answer()).toMatchObject({ status: 422, body: { userAuthenticated: false, attemptsRemaining: 1 } });
    const locked = await answer();
    expect(locked).toMatchObject({ status: 423, body: { userAuthenticated: false } });
    expect(locked.body).not.toHaveProperty('unblockAt');
  });

  it('end when the session ends', async () => {
    let now = Date.parse('2026-01-02T03:04:05.678Z');
    const other = await start(mkdtempSync(join(folder, 'other-')), { now: () => now });
    const { authSession } = (await register({ lastName: 'Lockedtest' }, newId(), other)).body;
    const answer = (code: string): Promise<Reply> =>
      post(`/identity/v1/sessions/${authSession}/otp`, { code }, newId(), other);
    const unblockAt = '2026-01-03T03:04:05.678Z';
    expect(await answer('000000')).toMatchObject({ status: 423, body: { userAuthenticated: false, unblockAt } });
    now = Date.parse(unblockAt) - 1;
    expect(await answer('123456')).toMatchObject({ status: 423, body: { userAuthenticated: false, unblockAt } });
    now += 1;
    expect(await answer('123456')).toMatchObject({ status: 504, body: { error: { code: 710 } } });
  });
});

describe('the memory of the sandbox', () => {
  let left: string;

  /** The files of a killed process, copied while the sandbox runs. */
  async function afterKill(tail = '', of = folder): Promise<RunningSandbox> {
    left = mkdtempSync(join(folder, 'left-'));
    cpSync(join(of, 'sandbox'), join(left, 'sandbox'), { recursive: true });
    if (tail !== '') appendFileSync(join(left, 'sandbox', 'identity-vendor.jsonl'), tail);
    return start(left);
  }

  it.each([
    ['killed', ''],
    ['killed while it wrote a line', '{"is":"executed","key":"torn","opera'],
  ])('survives when the process is %s', async (_name, tail) => {
    const keys = { report: newId(), step: newId(), refused: newId(), closed: newId(), flaky: newId(), wrong: newId() };
    const { body: step } = await register({ lastName: 'Choicetest' }, keys.step);
    await register({ lastName: 'Sanctiontest' }, keys.refused);
    await register({ lastName: 'Flakytest' }, keys.flaky);
    await post(`/identity/v1/sessions/${step.authSession}/otp`, { code: '000000' }, keys.wrong);
    await outcome(keys.closed);
    const session = (await register()).body.UserToken;
    const pulled = await post('/credit/v1/reports', { session }, keys.report);
    const before = (await ask('GET', '/control/calls')).body;

    const again = await afterKill(tail);
    expect((await ask('GET', '/control/calls', undefined, {}, again)).body).toEqual(before);
    expect(await register({ lastName: 'Choicetest' }, keys.step, again)).toMatchObject({ status: 200, body: step });
    expect(await register({ lastName: 'Jones' }, keys.step, again)).toMatchObject({ status: 409 });
    expect(await post('/credit/v1/reports', { session }, keys.report, again)).toMatchObject({
      status: 200,
      body: pulled.body,
    });
    expect(await counts(keys.report, again)).toEqual({ key: keys.report, received: 2, executed: 1, billed: 1 });
    expect(await post('/credit/v1/reports', { session }, newId(), again)).toMatchObject({
      status: 200,
      body: pulled.body,
    });
    expect(await outcome(keys.refused, again)).toMatchObject({
      state: 'executed',
      answer: { status: 422, body: expect.stringContaining('"code":2503') },
    });
    expect(await register({}, keys.closed, again)).toMatchObject({
      status: 409,
      body: { error: { code: 'key_closed' } },
    });
    expect((await register({ lastName: 'Flakytest' }, newId(), again)).status).toBe(200);
    const second = await post(`/identity/v1/sessions/${step.authSession}/otp`, { code: '000000' }, newId(), again);
    expect(second.body).toMatchObject({ userAuthenticated: false, attemptsRemaining: 1 });
    expect(await outcome('torn', again)).toEqual({ state: 'not-executed' });
    const third = await afterKill('', left);
    expect(await outcome(keys.wrong, third)).toMatchObject({ state: 'executed', operation: 'otp' });
    expect((await ask('GET', '/control/calls', undefined, {}, third)).body.operations.otp).toEqual({
      received: 2,
      executed: 2,
      billed: 0,
    });
  });

  it('has nothing of a call that was in progress when the process was killed', async () => {
    const key = newId();
    const slow = register({ lastName: 'Slowtest' }, key);
    await until('the call is received', async () => (await counts(key)).received === 1);
    const again = await afterKill();
    expect(await outcome(key, again)).toEqual({ state: 'not-executed' });
    expect(await counts(key, again)).toEqual({ key, received: 1, executed: 0, billed: 0 });
    expect((await slow).status).toBe(200);
  });

  it('knows after a kill which persons are authenticated, and accepts the code of an earlier challenge', async () => {
    const [one, other] = [(await register()).body.UserToken, (await register()).body.UserToken];
    await post('/identity/v1/authentications/expire', { userToken: one });
    const begun = { userToken: one, device: { jsc: 'fingerprint' } };
    const { authSession } = (await post('/identity/v1/authentications', begun)).body;
    const again = await afterKill();
    const holds = async (userToken: string): Promise<boolean> =>
      (await ask('POST', '/identity/v1/authentications/status', { userToken }, {}, again)).body.authenticated;
    expect([await holds(one), await holds(other)]).toEqual([false, true]);
    await post(`/identity/v1/sessions/${authSession}/otp`, { code: '123456' }, newId(), again);
    expect(await holds(one)).toBe(true);
  });

  it('has sessions of earlier versions, which use one token for challenge and person', async () => {
    const subject = { file: 7, score: 700, fileCode: null };
    const entry = (token: string, persona: string, verified: boolean): string =>
      `${JSON.stringify({
        is: 'executed',
        key: `key of ${token}`,
        operation: 'registration',
        digest: 'digest',
        effect: { session: { token, persona, wrongAnswers: 0, lockedUntil: null, over: verified, verified, subject } },
        answer: { status: 200, body: { outcome: verified ? 'confirmed' : 'step-up', sessionToken: token } },
      })}\n`;
    const again = await afterKill(entry('vs_confirmed', 'ordinary', true) + entry('vs_open', 'otptest', false));
    const report = (session: string): Promise<Reply> => post('/credit/v1/reports', { session }, newId(), again);
    expect(await report('vs_confirmed')).toMatchObject({ status: 200, body: { score: { value: 700 } } });
    expect(await report('vs_open')).toMatchObject({ status: 401, body: { error: { code: 9010 } } });
    expect(await post('/identity/v1/sessions/vs_open/otp', { code: '123456' }, newId(), again)).toMatchObject({
      status: 200,
      body: { userAuthenticated: true, UserToken: 'vs_open' },
    });
    expect(await report('vs_open')).toMatchObject({ status: 200 });
  });

  it('returns a report without the typed data for a token that is only a name, and refuses an altered token', async () => {
    const token: string = (await register()).body.UserToken;
    const [name = '', sealed = ''] = token.split('.');
    const other: string = (await register({ firstName: 'Other' })).body.UserToken;
    const report = (session: string, at = sandbox): Promise<Reply> =>
      post('/credit/v1/reports', { session }, newId(), at);
    const whole = await report(token);
    const bare = await report(name);
    expect([whole.status, bare.status]).toEqual([200, 200]);
    expect(JSON.stringify(bare.body)).not.toMatch(/Jocelyn|Smithsonian|Canary|3210/);
    expect(bare.body.score.value).toBe(whole.body.score.value);
    const flipped = `${name}.${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`;
    const wrong = [flipped, `${name}.`, `${name}.${sealed}.${sealed}`, `${name}.${other.split('.')[1]}`, `${token}A`];
    for (const userToken of wrong) {
      expect(await report(userToken)).toMatchObject({ status: 504, body: { error: { code: 710 } } });
      expect(await ask('POST', '/identity/v1/authentications/status', { userToken })).toMatchObject({
        status: 500,
        body: { error: { code: 1010 } },
      });
    }
    const again = await afterKill();
    expect((await report(token, again)).body).toEqual(whole.body);
  });

  it('returns only the name of a token after a kill, and the whole token when the caller sends the data again', async () => {
    const keys = { confirmed: newId(), repeated: newId() };
    const first = (await register({}, keys.confirmed)).body;
    const lost = (await register({ lastName: 'Otptest' })).body.authSession;
    const repeated = (await register({ lastName: 'Otptest' }, keys.repeated)).body.authSession;
    expect(JSON.parse((await outcome(keys.confirmed)).answer.body)).toEqual(first);
    const again = await afterKill();
    const told = JSON.parse((await outcome(keys.confirmed, again)).answer.body);
    expect(told).toEqual({ ...first, UserToken: first.UserToken.split('.')[0] });
    expect((await register({}, keys.confirmed, again)).body).toEqual(first);
    const answer = async (session: string): Promise<string> =>
      (await post(`/identity/v1/sessions/${session}/otp`, { code: '123456' }, newId(), again)).body.UserToken;
    expect(await answer(lost)).toMatch(/^ut_[0-9a-f]{32}$/);
    await register({ lastName: 'Otptest' }, keys.repeated, again);
    expect(await answer(repeated)).toMatch(/^ut_[0-9a-f]{32}\./);
  });

  it('prevents a start when another program has written a line in the middle', async () => {
    await expect(afterKill('scribble\n')).rejects.toThrow();
  });

  it('has no personal data, no codes and no answers', async () => {
    const { authSession } = (
      await register({ lastName: 'Choicetest', middleName: 'Quentin', email: 'jo@example.test' })
    ).body;
    await post(`/identity/v1/sessions/${authSession}/otp`, { code: '918273' });
    await register({ lastName: 'Flakytest' });
    const confirmed = (await register()).body.UserToken;
    const report = await post('/credit/v1/reports', { session: confirmed });
    expect(report.status).toBe(200);
    expect(JSON.stringify(report.body.report.consumer)).toMatch(/Jocelyn Smithsonian.*17 Canary Street/);
    const [name, sealed] = confirmed.split('.');
    expect(sealed.length).toBeGreaterThan(100);
    const files = readdirSync(join(folder, 'sandbox'))
      .map((file) => readFileSync(join(folder, 'sandbox', file), 'utf8'))
      .join('\n');
    expect(files).toContain(authSession);
    expect(files).toContain(name);
    for (const canary of [
      sealed,
      '62701',
      'Jocelyn',
      'Smithsonian',
      'Quentin',
      '666443210',
      '01311980',
      '2025550143',
      'Canary',
      'fingerprint-canary',
      'jo@example.test',
      '918273',
    ]) {
      expect(files).not.toContain(canary);
      expect(files).not.toContain(Buffer.from(canary).toString('base64').replace(/=+$/, ''));
    }
  });
});
