// The service decides from the log, and only shows read models from Redis. The tests change documents and lists in Redis by hand, or delete some
// documents and lists. Guarantee: docs/architecture.md#decisions-rest-on-the-log.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, type Credentials, type PlatformCaller, type Reply, Service } from '../support/service.js';

let service: Service;
let accounts: Credentials['accounts'];
let demo: PlatformCaller;
let nopay: PlatformCaller;
let unrelated: PlatformCaller;

beforeAll(async () => {
  service = await Service.start();
  ({ accounts } = await service.credentials());
  [demo, nopay, unrelated] = await Promise.all([
    service.signIn('demo'),
    service.signIn('nopay'),
    service.signIn('unrelated'),
  ]);
});
afterAll(() => service.stop());

const refused = ({ status, body }: Reply): unknown[] => [status, body?.error?.code];
const submitted = async (caller: PlatformCaller, person: object = {}): Promise<string> =>
  (await caller.submit(person)).body.id;
const onServer = (account: 'demo' | 'unrelated' | 'child', path: string): Promise<Reply> =>
  service.request('GET', path, { headers: { 'x-secret-key': accounts[account].secretKey } });

/**
 * Writes the document of a stream to Redis like an intruder. An existing document is changed. `older` gives the
 * document an earlier revision.
 */
async function forge(projection: string, id: string, fields: object, { older = false } = {}): Promise<void> {
  const redis = service.redis.client();
  const key = await documentKey(projection, id);
  const { revision = 9, doc = {} } = JSON.parse((await redis.get(key)) ?? '{}');
  await redis.set(key, JSON.stringify({ id, revision: older ? 0 : revision, doc: { ...doc, ...fields } }));
}

describe('the owner of a session', () => {
  it('404 NOT_FOUND for the status of a session whose document names the account of the caller', async () => {
    const id = await submitted(demo);
    await forge('screening_status', id, { accountId: accounts.unrelated.accountId });
    expect(refused(await unrelated.status(id))).toEqual([404, 'NOT_FOUND']);
    expect((await onServer('unrelated', `/v1/screenings/${id}/status`)).status).toBe(404);
    expect((await demo.status(id)).status).toBe(200);
    expect((await onServer('demo', `/v1/screenings/${id}/status`)).status).toBe(200);
  });

  it('404 for a session of a child account whose document and list entry name another parent', async () => {
    const id = await submitted(unrelated);
    const redis = service.redis.client();
    const { accountId } = accounts.unrelated;
    const [lines = ''] = await redis.keys('{account:v*}:live:lines');
    const entry = (await redis.hget(lines, accounts.child.accountId))?.split('\t').at(-1) ?? '';
    await redis.zadd(lines.replace('lines', 'entries'), 0, `${entry} ${accountId}`);
    await forge('account', accounts.unrelated.accountId, { parentId: accounts.demo.accountId });
    expect((await onServer('demo', `/v1/screenings/${id}/status`)).status).toBe(404);
    expect((await onServer('demo', `/v1/reports/${id}`)).status).toBe(404);
  });

  it('404 NOT_FOUND without the grant of a session whose document names no grant', async () => {
    const underGrant = await service.signInUnderGrant('nopay');
    const id = await submitted(underGrant);
    const { session } = await storedDocument('screening_status', id);
    await forge('screening_status', id, { session: { ...session, grantId: undefined } });
    expect(refused(await nopay.status(id))).toEqual([404, 'NOT_FOUND']);
    expect((await underGrant.status(id)).status).toBe(200);
  });

  it('404 for an income session whose document names the account of the caller', async () => {
    const id = (await demo.post('/voie/sessions', {})).body.income_session_id;
    await forge('income_status', id, { accountId: accounts.unrelated.accountId, status: 'COMPLETED' });
    expect((await unrelated.get(`/voie/sessions/${id}/status`)).status).toBe(404);
    expect((await unrelated.get(`/voie/sessions/${id}/report`)).status).toBe(404);
    expect((await demo.get(`/voie/sessions/${id}/status`)).status).toBe(200);
  });
});

describe('the state of a session', () => {
  it('stays unpaid when its document says that it is paid', async () => {
    const id = await submitted(demo);
    await forge('screening_status', id, { overallStatus: 'COMPLETED', paymentStatus: 'SUCCEEDED' });
    expect(refused(await demo.get(`/reports/${id}`))).toEqual([402, 'PAYMENT_REQUIRED']);
    expect((await demo.status(id)).body).toMatchObject({ overallStatus: 'PAYMENT_PENDING', paymentStatus: 'PENDING' });
    expect((await demo.post('/payments/create-intent', { amount: 3_500, screeningId: id })).status).toBe(200);
  });

  it('stays verified when its document is of an earlier revision', async () => {
    const id = await submitted(nopay, { lastName: 'Otptest' });
    const { session } = await storedDocument('screening_status', id);
    expect((await nopay.post(`/screening/${id}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    await forge('screening_status', id, { session }, { older: true });
    expect((await nopay.status(id)).body.status).toBe('VERIFIED');
    expect((await nopay.get(`/reports/${id}`)).status).toBe(200);
  });

  it('409 ALREADY_REGISTERED while the report is valid, although its document says that it has expired', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    const id = await submitted(nopay, person);
    expect((await nopay.get(`/reports/${id}`)).status).toBe(200);
    await forge('report_status', id, { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect(refused(await nopay.submit(person))).toEqual([409, 'ALREADY_REGISTERED']);
  });
});

describe('the recipients of a report', () => {
  it('are all removed by a revocation when Redis has lost the shares', async () => {
    const id = await submitted(nopay);
    const { accountId } = accounts.nopay;
    expect((await nopay.post(`/reports/${id}/consent-to-share`)).body.recipientAccountId).toBe(accountId);
    const redis = service.redis.client();
    for (const part of ['lines', 'entries'])
      for (const key of await redis.keys(`{report_share:v*}:live:${part}`)) await redis.del(key);
    const revoked = await nopay.post(`/reports/${id}/revoke-sharing`);
    expect([revoked.status, revoked.body.recipientAccountIds]).toEqual([200, [accountId]]);
    expect((await nopay.get(`/reports/${id}/sharing`)).body.status).toBe('REVOKED');
  });
});

describe('the rights of an API key', () => {
  it('401 for a deactivated key whose document says that it is active', async () => {
    const issued = await service.ops(
      ...['keys', 'issue', accounts.nopay.accountId, '--kind', 'secret', '--environment', 'test'],
    );
    const { keyId, key } = JSON.parse(issued.stdout);
    await service.ops('keys', 'deactivate', keyId);
    await forge('access_key', keyId, { status: 'active' });
    const reply = await service.request('POST', '/v1/sessions', { headers: { 'x-secret-key': key }, body: {} });
    expect(reply.status).toBe(401);
  });
});

async function documentKey(projection: string, id: string): Promise<string> {
  const [state = ''] = await service.redis.client().keys(`{${projection}:v*}:live:state`);
  return state.replace('live:state', `document:${id}`);
}

/** The document as Redis stores it. */
async function storedDocument(projection: string, id: string): Promise<any> {
  const key = await documentKey(projection, id);
  return JSON.parse((await service.redis.client().get(key)) ?? '').doc;
}
