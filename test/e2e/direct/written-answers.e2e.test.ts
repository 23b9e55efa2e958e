// The direct API of an account with acme, which speaks another form, answers later and lets people decide
// (docs/contract/direct.md#answers-in-the-services-words).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aRegistration, DirectCaller, type PartyKind } from '../../support/direct.js';
import { until } from '../../support/eventually.js';
import { type Credentials, type Person, type Reply, Service } from '../../support/service.js';

let service: Service;
let caller: DirectCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  caller = await withAcme('nopay');
});
afterAll(() => service.stop());

/** The caller of an account that has chosen acme. In test, an account has a breaker of its own. */
async function withAcme(account: keyof Credentials['accounts']): Promise<DirectCaller> {
  const { accountId } = (await service.credentials()).accounts[account];
  const chosen = await service.ops(
    'accounts',
    'set',
    accountId,
    '--identity-vendor',
    'acme',
    '--credit-vendor',
    'acme',
  );
  if (chosen.exitCode !== 0) throw new Error(chosen.stdout);
  return DirectCaller.of(service, account);
}

async function control(path: string, body?: object): Promise<any> {
  const headers = { 'content-type': 'application/json' };
  const post = body && { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(`${service.sandboxUrl}/vendors/acme/control/${path}`, post)).json();
}
const reviewed = async (): Promise<string[]> =>
  (await control('verifications')).verifications.flatMap((one: any) => (one.state === 'manual_review' ? [one.id] : []));

/** The HTTP status, and the number and field of the first error. */
const told = ({ status, body }: Reply): unknown[] => {
  const [error] = body.errors;
  return error ? [status, error.errorCode, error.errorOnField] : [status];
};

const isLate = ({ status }: Reply): boolean => status === 504 || status === 409;

/** Repeats the request while the verdict is late, as the contract asks for. A repeated request is not billed again. */
async function answered(send: () => Promise<Reply>): Promise<Reply> {
  let reply = await send();
  await until('the verdict is known', async () => {
    if (isLate(reply)) reply = await send();
    return !isLate(reply);
  });
  return reply;
}

async function register(kind: PartyKind, person: Person = {}): Promise<{ path: string; body: object; reply: Reply }> {
  const path = `/${kind}/${randomUUID()}`;
  const body = aRegistration(person);
  return { path, body, reply: await answered(() => caller.post(path, body)) };
}

describe('an integrator whose account has chosen acme', () => {
  it('is told that a person is confirmed, and gets the report in the form of the service', async () => {
    const { path, reply } = await register('renters');
    expect(told(reply)).toEqual([200]);
    const { payload } = reply.body;
    expect(payload).toEqual({
      success: true,
      userAuthenticated: true,
      UserToken: expect.any(String),
      authSession: expect.any(String),
      otpEnabled: false,
      kiqEnabled: false,
      clientReferenceId: payload.authSession,
      kba: null,
      crossCoreFullResponse: null,
    });
    const report = await answered(() => caller.get(`${path}/report`, { accept: 'application/json' }));
    expect([told(report), report.body.payload.score.model]).toEqual([[200], 'Acme Rent Score 4']);
  });

  it('is told 400/121 for an operation that acme has not got', async () => {
    const { path } = await register('agents');
    expect(told(await caller.get(`${path}/auth/status`))).toEqual([400, 121, null]);
  });

  it('has a person confirmed by a code', async () => {
    const { path, reply } = await register('agents', { lastName: 'Otptest' });
    expect([told(reply), reply.body.payload]).toEqual([
      [200],
      expect.objectContaining({
        success: true,
        userAuthenticated: false,
        otpEnabled: true,
        kiqEnabled: false,
        kba: null,
      }),
    ]);
    const wrong = await answered(() => caller.post(`${path}/otp`, { code: '000000' }));
    expect([told(wrong), wrong.body.payload]).toEqual([
      [422],
      expect.objectContaining({ success: false, userAuthenticated: false, otpEnabled: true, attemptsRemaining: 2 }),
    ]);
    const right = await answered(() => caller.post(`${path}/otp`, { code: '123456' }));
    expect([told(right), right.body.payload]).toEqual([
      [200],
      expect.objectContaining({ success: true, userAuthenticated: true, UserToken: expect.any(String) }),
    ]);
  });

  it('has a person confirmed by questions, whose ids are places', async () => {
    const { path, reply } = await register('organizations', { lastName: 'Kbatest' });
    const { authSession, kba } = reply.body.payload;
    expect([kba.sessionId, kba.questions.map(({ id }: { id: number }) => id)]).toEqual([authSession, [1, 2, 3]]);
    const kbaAnswers = [1, 2, 3].map((answer) => ({ answer }));
    const right = await answered(() => caller.post(`${path}/kba`, { kbaAnswers }));
    expect([told(right), right.body.payload.userAuthenticated]).toEqual([[200], true]);
  });

  it.each<[Person, unknown[]]>([
    [{ lastName: 'Notfound' }, [422, 3014, null]],
    [{ lastName: 'Fraudtest' }, [422, 2018, null]],
    [{ lastName: 'Alerttest' }, [422, 1999, null]],
    [{ lastName: 'Sanctiontest' }, [422, 2503, null]],
    [{ lastName: 'Deceasedtest' }, [422, 3901, null]],
    [{ lastName: 'Minortest' }, [422, 2010, null]],
    [{ lastName: 'Addresstest' }, [400, 2407, 'currentAddress']],
    [{ lastName: 'Moredatatest' }, [400, 2092, null]],
    [{ ssn: '12' }, [400, 2013, 'ssn']],
    [{ ssn: undefined }, [400, 2403, 'ssn']],
    [{ currentZip: 'no zip' }, [400, 2049, 'currentZip']],
    [{ dob: '99999999' }, [400, 2405, 'dob']],
  ])('is told a decision as a decision, and never as a failure of the vendor: %j', async (person, expected) => {
    const { reply } = await register('renters', person);
    expect([told(reply), reply.body.payload]).toEqual([expected, null]);
  });

  it('is told the end of the lock by every later reply', async () => {
    const { path } = await register('renters', { lastName: 'Lockedtest' });
    const locked = await answered(() => caller.post(`${path}/otp`, { code: '000000' }));
    expect([told(locked), locked.body.errors[0].errorMessage]).toEqual([
      [423, 300, null],
      expect.stringMatching(/blocked until \d{4}-/),
    ]);
    expect(told(await caller.register('renters', path.split('/')[2]!, { lastName: 'Lockedtest' }))).toEqual([
      423,
      300,
      null,
    ]);
  });

  it.each([
    ['approved', [200]],
    ['declined', [422, 3014, null]],
  ])('waits while people check a person, and is told when they have %s', async (decision, expected) => {
    const before = await reviewed();
    const { path, body, reply } = await register('renters', { lastName: 'Reviewtest' });
    expect([told(reply), reply.body.payload]).toEqual([
      [200],
      expect.objectContaining({
        success: true,
        userAuthenticated: false,
        otpEnabled: false,
        underReview: true,
        reviewUntil: expect.any(String),
      }),
    ]);
    expect(told(await caller.post(path, aRegistration()))).toEqual([409, 121, null]);
    expect(told(await caller.post(`${path}/otp`, { code: '123456' }))).toEqual([409, 121, null]);
    const [id] = (await reviewed()).filter((one) => !before.includes(one));
    await control(`verifications/${id}/decision`, { decision });
    await until('the decision is told', async () => {
      const again = await caller.post(path, body);
      if (again.body.payload?.underReview) return false;
      expect(told(again)).toEqual(expected);
      return true;
    });
  });
});

describe('a pause that acme demands', () => {
  it.each<[keyof Credentials['accounts'], string]>([
    ['broke', 'Busytest'],
    ['unrelated', 'Downtest'],
  ])('is passed on with 502 of the direct API and 503 of the platform: %s, %s', async (account, lastName) => {
    const other = await withAcme(account);
    const platform = await service.signIn(account);
    const said = ({ status, headers }: Reply): unknown[] => [status, headers.get('retry-after')];
    const direct = await other.register('renters', randomUUID(), { lastName });
    expect([told(direct), ...said(direct)]).toEqual([[502, 131, null], 502, '7']);
    const [status, seconds] = said(await platform.submit({ lastName }));
    expect(status).toBe(503);
    // A 429 has opened the breaker, which counts the rest of the pause.
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThanOrEqual(7);
  });
});
