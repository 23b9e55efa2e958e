// Sharing a report and revoking a share on the whole service. time-passes.e2e.test.ts tests the expiry of shares.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { childOf } from '../../support/child-account.js';
import { Service, type Credentials, type PlatformCaller, type Reply } from '../../support/service.js';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let service: Service;
let accounts: Credentials['accounts'];
let nopay: PlatformCaller;
let demo: PlatformCaller;
let unrelated: PlatformCaller;
let broke: PlatformCaller;
let child: { readonly accountId: string; readonly page: PlatformCaller };

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  [nopay, demo, unrelated, broke] = await Promise.all([
    service.signIn('nopay'),
    service.signIn('demo'),
    service.signIn('unrelated'),
    service.signIn('broke'),
  ]);
  const { accountId, key } = await childOf(service, 'nopay');
  child = { accountId, page: await service.signIn('nopay', key) };
});
afterAll(() => service.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const submitted = async (caller: PlatformCaller = nopay, person: object = {}): Promise<string> =>
  (await caller.submit(person)).body.id;
const consent = (id: string, body?: unknown, caller: PlatformCaller = nopay) =>
  caller.post(`/reports/${id}/consent-to-share`, body);
const revoke = (id: string, body?: unknown, caller: PlatformCaller = nopay) =>
  caller.post(`/reports/${id}/revoke-sharing`, body);

/** A page of the account nopay under a grant that names the recipient of the report. */
const underGrant = (recipientAccountId: string): Promise<PlatformCaller> =>
  service.signInUnderGrant('nopay', { recipient_account_id: recipientAccountId });

describe('sharing a report', () => {
  it('200: the account that the body names then sees the report; a repeated request gets the same 200', async () => {
    const [id, recipientAccountId] = [await submitted(), child.accountId];
    expect(refused(await child.page.get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_NOT_FOUND']);
    const reply = await consent(id, { recipientAccountId });
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        reportId: expect.any(String),
        sessionId: id,
        recipientAccountId,
        status: 'SHARED',
        sharedAt: expect.stringMatching(TIME),
        expiresAt: expect.stringMatching(TIME),
      },
    ]);
    expect((await consent(id, { recipientAccountId })).text).toBe(reply.text);
    const [own, shared] = [await nopay.get(`/reports/${id}`), await child.page.get(`/reports/${id}`)];
    expect([shared.status, shared.body]).toEqual([200, { ...own.body, expiresAt: reply.body.expiresAt }]);
  });

  it('200: with the account that the grant names, even if the body names another', async () => {
    const caller = await underGrant(accounts.unrelated.accountId);
    const id = await submitted(caller);
    expect(refused(await unrelated.get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_EXPIRED']);
    expect((await consent(id, { recipientAccountId: accounts.demo.accountId }, caller)).body.recipientAccountId).toBe(
      accounts.unrelated.accountId,
    );
    expect((await unrelated.get(`/reports/${id}`)).status).toBe(200);
    expect(refused(await demo.get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_NOT_FOUND']);
  });

  it('200: with the account that embeds the session, when neither the body nor the grant names a recipient', async () => {
    expect((await consent(await submitted())).body.recipientAccountId).toBe(accounts.nopay.accountId);
  });

  it('200 once under an idempotency key, and 409 IDEMPOTENCY_KEY_REUSED when the body differs', async () => {
    const [id, key] = [await submitted(), { 'idempotency-key': randomUUID() }];
    const first = await nopay.post(`/reports/${id}/consent-to-share`, { recipientAccountId: child.accountId }, key);
    const again = await nopay.post(`/reports/${id}/consent-to-share`, { recipientAccountId: child.accountId }, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(refused(await nopay.post(`/reports/${id}/consent-to-share`, {}, key))).toEqual([
      409,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
  });

  it("403 AUTH_FORBIDDEN for an account that is neither the session's account, nor its parent, nor its direct child", async () => {
    const id = await submitted();
    expect(refused(await consent(id, { recipientAccountId: accounts.unrelated.accountId }))).toEqual([
      403,
      'AUTH_FORBIDDEN',
    ]);
    const ofChild = await submitted(child.page);
    expect((await consent(ofChild, { recipientAccountId: accounts.nopay.accountId }, child.page)).status).toBe(402);
  });

  it('400 VALIDATION_ERROR for a recipient that is not an account', async () => {
    const id = await submitted();
    for (const recipientAccountId of [7, 'x', randomUUID()]) {
      const reply = await consent(id, { recipientAccountId });
      expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'recipientAccountId']);
    }
  });

  it('400, 402, 403 and 422 as for the report itself', async () => {
    expect(refused(await consent(await submitted(nopay, { lastName: 'Otptest' })))).toEqual([
      400,
      'SCREENING_SESSION_NOT_COMPLETED',
    ]);
    expect(refused(await consent(await submitted(demo), undefined, demo))).toEqual([402, 'PAYMENT_REQUIRED']);
    expect(refused(await consent(await submitted(broke), undefined, broke))).toEqual([402, 'PAYMENT_REQUIRED']);
    expect(refused(await consent(await submitted(nopay, { userType: 'AGENT' })))).toEqual([
      403,
      'REPORT_ACCESS_DENIED',
    ]);
    expect(refused(await consent(await submitted(nopay, { lastName: 'Frozentest' })))).toEqual([
      422,
      'REPORT_FILE_FROZEN',
    ]);
  });

  it('404 SCREENING_NOT_FOUND for the session of another account, 401 AUTH_UNAUTHORIZED without a token', async () => {
    const id = await submitted();
    for (const act of [consent, revoke])
      expect(refused(await act(id, undefined, unrelated))).toEqual([404, 'SCREENING_NOT_FOUND']);
    for (const act of ['consent-to-share', 'revoke-sharing'])
      expect(refused(await service.request('POST', `/reports/${id}/${act}`))).toEqual([401, 'AUTH_UNAUTHORIZED']);
  });
});

describe('revoking a share', () => {
  it('200 immediately and permanently: 403 REPORT_SHARING_REVOKED for the recipient, and 409 REPORT_SHARING_ALREADY_REVOKED when repeated', async () => {
    const [id, body] = [await submitted(), { recipientAccountId: child.accountId }];
    const { reportId } = (await consent(id, body)).body;
    const reply = await revoke(id, body);
    expect([reply.status, reply.body]).toEqual([
      200,
      { reportId, sessionId: id, ...body, status: 'REVOKED', revokedAt: expect.stringMatching(TIME) },
    ]);
    expect(refused(await child.page.get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_REVOKED']);
    for (const act of [revoke, consent])
      expect(refused(await act(id, body))).toEqual([409, 'REPORT_SHARING_ALREADY_REVOKED']);
  });

  it('403 REPORT_SHARING_NOT_FOUND when the report was never shared', async () => {
    expect(refused(await revoke(await submitted(), { recipientAccountId: accounts.unrelated.accountId }))).toEqual([
      403,
      'REPORT_SHARING_NOT_FOUND',
    ]);
  });

  it('200 for all recipients when the body names none, with one event for each; 409 when repeated', async () => {
    const id = await submitted();
    await consent(id, { recipientAccountId: child.accountId });
    await consent(id);
    const recipients = [child.accountId, accounts.nopay.accountId].sort();
    const { status, body } = await revoke(id);
    expect([status, body.status, [...body.recipientAccountIds].sort()]).toEqual([200, 'REVOKED', recipients]);
    expect(refused(await child.page.get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_REVOKED']);
    expect(refused(await revoke(id))).toEqual([409, 'REPORT_SHARING_ALREADY_REVOKED']);
    expect(refused(await revoke(await submitted()))).toEqual([403, 'REPORT_SHARING_NOT_FOUND']);
  });
});

describe('a session that was opened under a grant', () => {
  it('is 404 for every other page of the account: reading, answering, paying, sharing, revoking, printing', async () => {
    const [caller, other] = [
      await underGrant(accounts.unrelated.accountId),
      await underGrant(accounts.unrelated.accountId),
    ];
    const id = await submitted(caller);
    await consent(id, undefined, caller);
    for (const page of [nopay, other]) {
      for (const reply of [
        await page.status(id),
        await page.post(`/screening/${id}/otp`, { code: '123456' }),
        await page.post(`/screening/${id}/kba`, { answers: [] }),
        await page.post(`/screening/${id}/otp/resend`),
        await page.get(`/reports/${id}`),
        await consent(id, undefined, page),
        await revoke(id, undefined, page),
        await page.post(`/reports/${id}/pdf`, { html: '<p>x' }),
        await page.post('/payments/create-intent', { amount: 3_500, screeningId: id }),
      ]) {
        expect(reply.status).toBe(404);
      }
    }
    expect([
      (await caller.status(id)).status,
      (await caller.get(`/reports/${id}`)).status,
      (await revoke(id, undefined, caller)).status,
    ]).toEqual([200, 200, 200]);
    expect(
      (await service.request('GET', `/v1/reports/${id}`, { headers: { 'x-secret-key': accounts.nopay.secretKey } }))
        .status,
    ).toBe(200);
  });
});

describe('a session grant', () => {
  it('limits the page: another kind of user or another fee gets 400, and the grant opens one session', async () => {
    const page = await service.signInUnderGrant('demo', { user_type: 'CONSUMER', application_fee: 300 });
    const wrong = await page.submit({ userType: 'AGENT' });
    expect([...refused(wrong), wrong.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'userType']);
    expect(refused(await page.submit({ lastName: 'Notfound' }))).toEqual([404, 'IDENTITY_NOT_FOUND']);
    const id = await submitted(page);
    const another = await page.submit();
    expect([...refused(another), another.body.sessionId]).toEqual([403, 'AUTH_FORBIDDEN', id]);
    const intent = (fee?: number) =>
      page.post('/payments/create-intent', {
        amount: 3_500,
        screeningId: id,
        ...(fee !== undefined && { applicationFee: fee }),
      });
    expect([...refused(await intent(3_500)), (await intent(300)).status, (await intent()).status]).toEqual([
      400,
      'VALIDATION_ERROR',
      200,
      200,
    ]);
  });
});

describe('GET /reports/{id}/sharing', () => {
  const sharing = (id: string, caller: PlatformCaller = nopay): Promise<Reply> => caller.get(`/reports/${id}/sharing`);

  it('200: NOT_SHARED, SHARED and REVOKED with the account that embeds the session', async () => {
    const id = await submitted();
    const { accountId } = accounts.nopay;
    const before = await sharing(id);
    expect([before.status, before.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(before.body).toEqual({
      status: 'NOT_SHARED',
      reportId: null,
      recipientAccountId: accountId,
      recipientName: 'Test account nopay',
      expiresAt: null,
    });
    const { sessionId: _, ...consented } = (await consent(id)).body;
    const shared = { ...consented, recipientName: 'Test account nopay' };
    expect((await sharing(id)).body).toEqual(shared);
    const { revokedAt } = (await revoke(id)).body;
    expect((await sharing(id)).body).toEqual({ ...shared, status: 'REVOKED', revokedAt });
  });

  it("200: the share with the grant's recipient, whatever shares others have", async () => {
    const page = await underGrant(child.accountId);
    const id = await submitted(page);
    expect((await sharing(id, page)).body).toMatchObject({
      status: 'NOT_SHARED',
      recipientAccountId: child.accountId,
    });
    expect((await consent(id, undefined, page)).status).toBe(200);
    expect((await sharing(id, page)).body).toMatchObject({ status: 'SHARED', recipientAccountId: child.accountId });
  });

  it('200: NOT_SHARED while the report is shared only with accounts other than the default recipient', async () => {
    const id = await submitted();
    expect((await consent(id, { recipientAccountId: child.accountId })).status).toBe(200);
    expect((await sharing(id)).body).toMatchObject({
      status: 'NOT_SHARED',
      recipientAccountId: accounts.nopay.accountId,
    });
  });

  it('200: for a session that is not verified', async () => {
    const id = await submitted(nopay, { firstName: 'Otponly' });
    expect((await sharing(id)).body.status).toBe('NOT_SHARED');
  });

  it('401: without a token', async () => {
    const reply = await service.request('GET', `/reports/${randomUUID()}/sharing`);
    expect(refused(reply)).toEqual([401, 'AUTH_UNAUTHORIZED']);
  });

  it('404: for a session of another account, even for the recipient; for a session of another grant; for unknown and malformed ids', async () => {
    const id = await submitted();
    expect((await consent(id, { recipientAccountId: child.accountId })).status).toBe(200);
    const foreign = await underGrant(child.accountId);
    const granted = await submitted(foreign);
    const replies = await Promise.all([
      sharing(id, unrelated),
      sharing(id, child.page),
      sharing(granted),
      sharing(randomUUID()),
      sharing('nothing'),
    ]);
    for (const reply of replies) expect(refused(reply)).toEqual([404, 'SCREENING_NOT_FOUND']);
  });
});
