// Renters, agents and organizations on the built service: registration, answers, locks and re-authentication
// (docs/contract/direct.md#registration, #answers, #re-authentication).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aRegistration, DirectCaller, type PartyKind } from '../../support/direct.js';
import { until } from '../../support/eventually.js';
import { type Reply, Service } from '../../support/service.js';

let service: Service;
let caller: DirectCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  caller = await DirectCaller.of(service);
});
afterAll(() => service.stop());

const RIGHT_POSITIONS = { kbaAnswers: [1, 2, 3, 4].map((answer) => ({ answer })) };
const WRONG_POSITIONS = { kbaAnswers: [5, 5, 5, 5].map((answer) => ({ answer })) };
const RIGHT = { code: '123456' };
const WRONG = { code: '000000' };
const DEVICE = { jscPayload: 'fingerprint', ipAddress: '203.0.113.7' };
const KINDS: readonly PartyKind[] = ['renters', 'agents', 'organizations'];

/** The HTTP status, and the number and field of the first error. */
const told = ({ status, body }: Reply): unknown[] => {
  const [error] = body.errors;
  return error ? [status, error.errorCode, error.errorOnField] : [status];
};
const lockEndIn = ({ body }: Reply): number =>
  Date.parse(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(body.errors[0].errorMessage)?.[0] ?? '');

/** Registers a party and confirms it. The code is entered when the persona has one. */
async function aConfirmed(kind: PartyKind, lastName = 'Otptest', by = caller): Promise<string> {
  const id = randomUUID();
  const reply = await by.registered(kind, id, { lastName });
  const path = `/${kind}/${id}`;
  if (reply.body.payload.otpEnabled) expect(told(await by.post(`${path}/otp`, RIGHT))).toEqual([200]);
  else if (reply.body.payload.kiqEnabled) expect(told(await by.post(`${path}/kba`, RIGHT_POSITIONS))).toEqual([200]);
  return id;
}

async function control(name: string, body: object): Promise<void> {
  await fetch(`${service.sandboxUrl}/control/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
async function executed(operation: string): Promise<number> {
  const reply = await fetch(`${service.sandboxUrl}/control/calls`);
  return ((await reply.json()) as any).operations[operation].executed;
}

describe('POST /api/idv/{renters|agents|organizations}/{id}', () => {
  it.each(KINDS)("200: the %s are confirmed at once, with the vendor's payload", async (kind) => {
    const reply = await caller.register(kind, randomUUID());
    expect(told(reply)).toEqual([200]);
    expect(reply.body).toEqual({
      payload: expect.objectContaining({ success: true, userAuthenticated: true, UserToken: expect.any(String) }),
      errors: [],
    });
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('200: an id may be any text of 1 to 128 characters, and is decoded once', async () => {
    const run = randomUUID();
    for (const id of ['a/b', '...', '%2F', 'ü 🏠', run.padEnd(128, 'x'), '🏠'.repeat(128)])
      expect([id, ...told(await caller.register('agents', id))]).toEqual([id, 200]);
    // The service decodes an id only once, so these ids name another party.
    expect(told(await caller.get('/agents/a%252Fb/auth/status'))).toEqual([404, 293, null]);
    expect(told(await caller.get('/agents/a%2Fb/auth/status'))).toEqual([200]);
    expect(told(await caller.register('agents', 'x'.repeat(129)))).toEqual([404, 293, null]);
    expect(told(await caller.register('renters', '🏠'.repeat(129)))).toEqual([404, 278, null]);
  });

  it('400/138: the fingerprint is missing or malformed, or a field has the wrong JSON type; the vendor checks the rest', async () => {
    for (const jscPayload of [undefined, null, '', 7, 'ü', 'x'.repeat(4_001)])
      expect(told(await caller.register('renters', 'r', { jscPayload }))).toEqual([400, 138, 'jscPayload']);
    expect(told(await caller.register('renters', 'r', { ssn: 666123456 }))).toEqual([400, 138, 'ssn']);
    expect(told(await caller.register('organizations', 'r', { productId: '7' }))).toEqual([400, 138, 'productId']);
    // The vendor, not the service, refuses a missing name.
    const { status, body } = await caller.register('renters', 'r', { lastName: undefined });
    expect([status, body.errors[0]?.errorCode]).not.toEqual([400, 138]);
  });

  it('409/292: a confirmed party of the persona Alreadytest registers again; parties of other personas may', async () => {
    const [id, other] = [await aConfirmed('agents', 'Alreadytest'), await aConfirmed('agents')];
    expect(told(await caller.register('agents', id, { lastName: 'Alreadytest' }))).toEqual([409, 292, null]);
    expect(told(await caller.register('agents', other))).toEqual([200]);
  });

  it('409/121: another registration is sent while one is at the vendor; two equal registrations get one answer from one vendor call', async () => {
    const id = randomUUID();
    const before = await executed('registration');
    const body = aRegistration({ lastName: 'Slowtest' });
    const both = [caller.post(`/renters/${id}`, body), caller.post(`/renters/${id}`, body)];
    await until('it is with the vendor', async () => {
      const other = await caller.register('renters', id);
      if (other.status === 409) expect(other.headers.get('retry-after')).toBeTruthy();
      return other.status === 409;
    });
    const [one, other] = await Promise.all(both);
    expect([told(one!), one!.text]).toEqual([[200], other!.text]);
    expect((await executed('registration')) - before).toBe(1);
  });

  it('504, then 200 from the same attempt: the repeated request causes no second bill', async () => {
    const id = randomUUID();
    const body = aRegistration();
    const before = await executed('registration');
    await control('lost-answers', { calls: 1 });
    const first = await caller.post(`/renters/${id}`, body);
    expect([200, 504]).toContain(first.status);
    await until('the attempt is settled', async () => (await caller.post(`/renters/${id}`, body)).status === 200);
    expect((await executed('registration')) - before).toBe(1);
  });

  it.each([
    ['Downtest', [502, 131, null]],
    ['Redirecttest', [502, 131, null]],
    ['Garbledtest', [502, 131, null]],
    ['Timeouttest', [504, 131, null]],
    ['Fraudtest', [422, 2018, null]],
  ])("answers with the status and code of the vendor's fault or refusal: %s", async (lastName, expected) => {
    expect(told(await caller.register('renters', randomUUID(), { lastName }))).toEqual(expected);
  });
});

describe('answers to a registration', () => {
  it('422 without errors for two wrong answers to questions, then 423/300 with the end of the lock for every later call', async () => {
    const id = randomUUID();
    await caller.registered('organizations', id, { lastName: 'Kbatest' });
    const path = `/organizations/${id}`;
    for (let number = 0; number < 2; number++) {
      const reply = await caller.post(`${path}/kba`, WRONG_POSITIONS);
      expect([told(reply), reply.body.payload.userAuthenticated]).toEqual([[422], false]);
    }
    const third = await caller.post(`${path}/kba`, WRONG_POSITIONS);
    expect([told(third), third.body.payload.userAuthenticated]).toEqual([[423, 300, null], false]);
    expect(lockEndIn(third)).toBeGreaterThan(Date.now());
    for (const later of [
      await caller.post(`${path}/kba`, RIGHT_POSITIONS),
      await caller.register('organizations', id, { lastName: 'Kbatest' }),
      await caller.get(`${path}/auth`),
      await caller.get(`${path}/auth/status`),
    ])
      expect([told(later), lockEndIn(later)]).toEqual([[423, 300, null], lockEndIn(third)]);
  });

  it('200: the code may be a text or a number, and its field may be named `otp`; the field `code` has priority', async () => {
    for (const body of [RIGHT, { code: 123456 }, { otp: '123456' }, { code: '123456', otp: '000000' }]) {
      const id = randomUUID();
      await caller.registered('renters', id, { lastName: 'Otptest' });
      const reply = await caller.post(`/renters/${id}/otp`, body);
      expect([told(reply), reply.body.payload.userAuthenticated]).toEqual([[200], true]);
    }
  });

  it('400/138: the answer is malformed, or the service did not offer or expect it', async () => {
    const [otp, kba] = [randomUUID(), randomUUID()];
    await caller.registered('agents', otp, { lastName: 'Otptest' });
    await caller.registered('agents', kba, { lastName: 'Kbatest' });
    for (const body of [{}, { code: '12' }, { code: 'abcdef' }, { code: null, otp: [] }, 'text'])
      expect(told(await caller.post(`/agents/${otp}/otp`, body))).toEqual(
        body === 'text' ? [400, 121, null] : [400, 138, 'code'],
      );
    for (const kbaAnswers of [
      undefined,
      'x',
      [],
      [{ answer: 1 }],
      [0, 1, 2, 6].map((answer) => ({ answer })),
      [1, 2, 3, 4],
    ])
      expect(told(await caller.post(`/agents/${kba}/kba`, { kbaAnswers }))).toEqual([400, 138, 'kbaAnswers']);
    expect(told(await caller.post(`/agents/${kba}/otp`, RIGHT))).toEqual([400, 138, 'code']);
    expect(told(await caller.get(`/agents/${kba}/otp/resend`))).toEqual([400, 138, 'code']);
    expect(told(await caller.post(`/agents/${otp}/kba`, RIGHT_POSITIONS))).toEqual([400, 138, 'kbaAnswers']);
    // None of these requests has used up an attempt.
    expect(told(await caller.post(`/agents/${otp}/otp`, WRONG))).toEqual([422]);
    expect(told(await caller.post(`/agents/${otp}/otp`, RIGHT))).toEqual([200]);
    expect(told(await caller.post(`/agents/${otp}/otp`, RIGHT))).toEqual([400, 138, 'authSession']);
    expect(told(await caller.get(`/agents/${otp}/otp/resend`))).toEqual([400, 138, 'authSession']);
  });

  it('200: sends another code, once for one idempotency key', async () => {
    const id = randomUUID();
    await caller.registered('renters', id, { lastName: 'Otptest' });
    const before = await executed('otp-resend');
    const key = { 'idempotency-key': randomUUID() };
    const first = await caller.get(`/renters/${id}/otp/resend`, key);
    const again = await caller.get(`/renters/${id}/otp/resend`, key);
    expect([told(first), first.headers.get('cache-control'), again.text]).toEqual([[200], 'no-store', first.text]);
    expect((await executed('otp-resend')) - before).toBe(1);
  });
});

describe('re-authentication', () => {
  it('200: an agent enters a code after the caller has expired the confirmation, and is authenticated again', async () => {
    const id = await aConfirmed('agents');
    const path = `/agents/${id}`;
    expect((await caller.get(`${path}/auth/status`)).body.payload.authenticated).toBe(true);
    const expired = await caller.get(`${path}/auth/expire`);
    expect([told(expired), expired.headers.get('cache-control')]).toEqual([[200], 'no-store']);
    expect((await caller.get(`${path}/auth/status`)).body.payload.authenticated).toBe(false);
    expect(told(await caller.post(`${path}/auth/otp`, RIGHT))).toEqual([400, 138, 'authSession']);
    expect(told(await caller.post(`${path}/auth/kba`, RIGHT_POSITIONS))).toEqual([400, 138, 'authSession']);
    expect(told(await caller.post(`${path}/auth`, {}))).toEqual([400, 138, 'jscPayload']);
    expect((await caller.post(`${path}/auth`, DEVICE)).body.payload.otpEnabled).toBe(true);
    expect(told(await caller.post(`${path}/auth/kba`, RIGHT_POSITIONS))).toEqual([400, 138, 'kbaAnswers']);
    expect(told(await caller.get(`${path}/auth/otp/resend`))).toEqual([200]);
    expect(told(await caller.post(`${path}/auth/otp`, WRONG))).toEqual([422]);
    const right = await caller.post(`${path}/auth/otp`, { otp: 123456 });
    expect([told(right), right.body.payload.userAuthenticated]).toEqual([[200], true]);
    expect((await caller.get(`${path}/auth/status`)).body.payload.authenticated).toBe(true);
  });

  it('200: an organization answers questions and is authenticated', async () => {
    const id = await aConfirmed('organizations', 'Kbatest');
    const path = `/organizations/${id}`;
    const begun = await caller.get(`${path}/auth`);
    expect([told(begun), begun.body.payload.kiqEnabled, begun.headers.get('cache-control')]).toEqual([
      [200],
      true,
      'no-store',
    ]);
    expect(told(await caller.post(`${path}/auth/kba`, RIGHT_POSITIONS))).toEqual([200]);
    expect((await caller.get(`${path}/auth/status`)).body.payload.authenticated).toBe(true);
    expect(told(await caller.get(`${path}/auth/expire`))).toEqual([200]);
  });

  it('423/300: three wrong answers, even in parallel, lock the agent', async () => {
    const id = await aConfirmed('agents');
    const path = `/agents/${id}`;
    const before = await executed('otp');
    expect(told(await caller.post(`${path}/auth`, DEVICE))).toEqual([200]);
    const statuses: number[] = [];
    let last: Reply | undefined;
    while (last?.status !== 423) {
      const replies = await Promise.all([1, 2, 3, 4, 5, 6].map(() => caller.post(`${path}/auth/otp`, WRONG)));
      statuses.push(...replies.map(({ status }) => status));
      last = replies.find(({ status }) => status === 423) ?? replies[0];
    }
    expect(new Set(statuses)).toEqual(new Set([409, 422, 423].filter((status) => statuses.includes(status))));
    expect(statuses.filter((status) => status === 422)).toHaveLength(2);
    expect((await executed('otp')) - before).toBe(3);
    for (const locked of [await caller.post(`${path}/auth`, DEVICE), await caller.get(`${path}/auth/status`)])
      expect([told(locked), lockEndIn(locked)]).toEqual([[423, 300, null], lockEndIn(last)]);
  });

  it('400/138 `consumerToken`: the party has no token of the vendor', async () => {
    const [agent, organization] = [randomUUID(), randomUUID()];
    await caller.registered('agents', agent, { lastName: 'Otptest' });
    await caller.registered('organizations', organization, { lastName: 'Kbatest' });
    for (const reply of [
      await caller.post(`/agents/${agent}/auth`, DEVICE),
      await caller.get(`/agents/${agent}/auth/status`),
      await caller.get(`/agents/${agent}/auth/expire`),
      await caller.get(`/agents/${agent}/auth/otp/resend`),
      await caller.get(`/organizations/${organization}/auth`),
      await caller.get(`/organizations/${organization}/auth/status`),
      await caller.get(`/organizations/${organization}/auth/expire`),
    ])
      expect(told(reply)).toEqual([400, 138, 'consumerToken']);
  });

  it("502: the vendor cannot be reached, and the challenge stays open; 504: the vendor's answer is lost, and the service finds the challenge later", async () => {
    const id = await aConfirmed('agents');
    const path = `/agents/${id}`;
    await caller.post(`${path}/auth`, DEVICE);
    await control('outage', { seconds: 60 });
    for (const reply of [
      await caller.get(`${path}/auth/status`),
      await caller.get(`${path}/auth/expire`),
      await caller.post(`${path}/auth/otp`, WRONG),
      await caller.get(`${path}/auth/otp/resend`),
      await caller.registered('agents', randomUUID()),
    ])
      expect(told(reply)).toEqual([502, 131, null]);
    await control('outage', { seconds: 0 });
    // The outage has not ended the challenge. The test requests the next challenge and loses the vendor's answer to
    // this request.
    await control('lost-answers', { calls: 1 });
    expect([200, 504]).toContain((await caller.post(`${path}/auth`, DEVICE)).status);
    await until('the challenge is found', async () => (await caller.post(`${path}/auth/otp`, RIGHT)).status === 200);
  });
});

describe('PUT /api/idv/organizations/{id}?token=', () => {
  it('200 with the headers Deprecation and Sunset: creates the organization, and the vendor receives this token', async () => {
    const id = randomUUID();
    const token = (await caller.register('organizations', randomUUID())).body.payload.UserToken as string;
    expect(told(await caller.get(`/organizations/${id}/auth/status`))).toEqual([404, 293, null]);
    const stored = await caller.put(`/organizations/${id}?token=${encodeURIComponent(token)}`);
    expect([told(stored), stored.body.payload]).toEqual([[200], { success: true }]);
    expect([stored.headers.get('deprecation'), stored.headers.get('sunset')]).toEqual([
      '@1735689600',
      'Fri, 31 Dec 2027 23:59:59 GMT',
    ]);
    expect((await caller.get(`/organizations/${id}/auth/status`)).body.payload.authenticated).toBe(true);
    expect(service.program.output).not.toContain(token);
  });

  it('400/138 `token`: the token is missing or empty, or there are several', async () => {
    for (const query of ['', '?token=', '?token=a&token=b']) {
      const reply = await caller.put(`/organizations/x${query}`);
      expect([...told(reply), reply.headers.has('sunset')]).toEqual([400, 138, 'token', true]);
    }
  });
});

describe('a party of another account', () => {
  it('404: the account, environment or kind in the request has no such party', async () => {
    const id = await aConfirmed('agents');
    const { accountId } = (await service.credentials()).accounts.nopay;
    const issued = await service.ops('keys', 'issue', accountId, '--kind', 'api', '--environment', 'live');
    const live = new DirectCaller(service, { 'x-api-key': JSON.parse(issued.stdout).key });
    for (const other of [await DirectCaller.of(service, 'unrelated'), await DirectCaller.of(service, 'child'), live])
      for (const reply of [
        await other.get(`/agents/${id}/auth/status`),
        await other.post(`/agents/${id}/otp`, RIGHT),
        await other.post(`/agents/${id}/auth`, DEVICE),
      ])
        expect(told(reply)).toEqual([404, 293, null]);
    expect(told(await caller.get(`/organizations/${id}/auth/status`))).toEqual([404, 293, null]);
    expect(told(await caller.post(`/renters/${id}/otp`, RIGHT))).toEqual([404, 278, null]);
    expect(told(await live.register('agents', id))).toEqual([409, 341, null]);
    // The test proves that no log line and no metric holds the id.
    expect(service.program.output).not.toContain(id);
  });
});

describe('arbitrary input', () => {
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.constantFrom('', '\u0000', '\ud800', '__proto__', 'x'.repeat(5_000)),
  );
  const FIELDS = [
    ...Object.keys(aRegistration()),
    'hdimPayload',
    'companyName',
    'productId',
    'code',
    'otp',
    'kbaAnswers',
  ];
  const body = fc.oneof(
    anything,
    fc.dictionary(fc.constantFrom(...FIELDS), anything, { maxKeys: 4 }).map((spoiled) => aRegistration(spoiled)),
  );
  const id = fc.oneof(
    fc.constantFrom('one', 'two'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 130 }),
    fc.constantFrom('%', '..', ';', '?', '#', '\u0000', '__proto__'),
  );
  const ROUTES = [
    'POST renters',
    'POST agents',
    'POST organizations',
    'POST renters otp',
    'GET agents otp/resend',
    'POST organizations kba',
    'GET agents auth/status',
    'GET organizations auth/expire',
    'POST agents auth',
    'POST agents auth/otp',
    'POST agents auth/kba',
    'GET organizations auth',
    'PUT organizations',
  ];

  it('gets documented statuses in the envelope, and never causes a fault of the service', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ROUTES), id, body, async (route, name, sent) => {
        const [method = '', kind, rest] = route.split(' ');
        const path = `/idv/${[kind, encodeURIComponent(name), rest].filter(Boolean).join('/')}`;
        const reply = await caller.send(method, path, method === 'GET' ? undefined : JSON.stringify(sent));
        expect([200, 400, 401, 404, 409, 422, 423, 429, 502, 504]).toContain(reply.status);
        expect(Object.keys(reply.body)).toEqual(['payload', 'errors']);
        for (const error of reply.body.errors)
          expect(Object.keys(error)).toEqual(['errorCode', 'errorOnField', 'errorMessage']);
        expect(reply.text).not.toMatch(/\bat .+:\d+:\d+|node_modules/);
      }),
      { numRuns: 150 },
    );
  });
});
