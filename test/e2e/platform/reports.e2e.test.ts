// Reports on the whole service (docs/contract/platform.md#reports). sharing.e2e.test.ts covers sharing.
// `test/unit/reports/surfaces.int.test.ts` tests sessions that requests over HTTP cannot make: live traffic outside
// production, a refusal without an id, and a block that has ended.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DirectCaller } from '../../support/direct.js';
import { Service, type PlatformCaller, type Reply } from '../../support/service.js';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let service: Service;
let demo: PlatformCaller;
let nopay: PlatformCaller;
let broke: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  [demo, nopay, broke] = await Promise.all([service.signIn('demo'), service.signIn('nopay'), service.signIn('broke')]);
});
afterAll(() => service.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const debits = async (): Promise<number> => {
  const { accountId } = (await service.credentials()).accounts.nopay;
  return (await service.ops('stream', 'show', `credit-${accountId}`)).stdout.split('CreditDebited').length - 1;
};
const control = async (path: string, body?: object): Promise<any> => {
  const headers = { 'content-type': 'application/json' };
  const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(`${service.sandboxUrl}/control/${path}`, init)).json();
};
const reportCalls = async (): Promise<number> => (await control('calls')).operations.report.executed;
const submitted = async (caller: PlatformCaller, person: object = {}): Promise<string> =>
  (await caller.submit(person)).body.id;

describe('GET /reports/{id}', () => {
  it('200 JSON: the report with its score, readable for 30 days', async () => {
    const id = await submitted(nopay);
    const reply = await nopay.get(`/reports/${id}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toContain('application/json');
    expect([reply.headers.get('cache-control'), reply.headers.get('vary')]).toEqual(['no-store', 'Accept, Origin']);
    expect(reply.body).toEqual({
      id: expect.stringMatching(ID),
      sessionId: id,
      score: expect.any(Object),
      report: expect.any(Object),
      generatedAt: expect.stringMatching(TIME),
      expiresAt: expect.stringMatching(TIME),
    });
    expect(reply.body.score.value).toBeGreaterThanOrEqual(300);
    expect(reply.body.score.value).toBeLessThanOrEqual(850);
    expect(Object.keys(reply.body.report)).toEqual(
      expect.arrayContaining(['consumer', 'tradeLines', 'publicRecords', 'inquiries', 'background', 'housingCourt']),
    );
    expect(Date.parse(reply.body.expiresAt) - Date.parse(reply.body.generatedAt)).toBe(30 * 86_400_000);
  });

  it('200 HTML: the same report as a page that loads no resources and runs no scripts', async () => {
    const id = await submitted(nopay);
    const { body } = await nopay.get(`/reports/${id}`);
    const page = await nopay.get(`/reports/${id}`, { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type'), page.headers.get('content-security-policy')]).toEqual([
      200,
      'text/html; charset=utf-8',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    ]);
    for (const text of [
      String(body.score.value),
      body.score.model,
      body.id,
      body.expiresAt,
      'Accounts',
      'Housing court',
      'Your rights',
    ])
      expect(page.text).toContain(text);
    expect(page.text).not.toMatch(/<script/i);
  });

  it('200: every request shows the same report, and only the first request is billed', async () => {
    const before = await debits();
    const id = await submitted(nopay);
    const replies = await Promise.all(Array.from({ length: 6 }, () => nopay.get(`/reports/${id}`)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect((await nopay.get(`/reports/${id}`)).text).toBe(replies[0]?.text);
    expect(await debits()).toBe(before + 1);
  });

  it('200 with the score null for Thinfiletest', async () => {
    const reply = await nopay.get(`/reports/${await submitted(nopay, { lastName: 'Thinfiletest' })}`);
    expect([reply.status, reply.body.score]).toEqual([200, null]);
  });

  it.each([
    [{ lastName: 'Frozentest' }, 'REPORT_FILE_FROZEN', 'FILE_FROZEN'],
    [{ middleName: 'Upstream9116' }, 'SCREENING_IDENTITY_NOT_FOUND', 'FILE_BLOCKED'],
    [{ lastName: 'Nohittest' }, 'SCREENING_IDENTITY_NOT_FOUND', 'NO_RECORD'],
  ])(
    '422 for %j: %s with the reason %s, the remedy, and the time of the next possible request',
    async (person, code, reasonCode) => {
      const id = await submitted(nopay, person);
      const [calls, debited] = [await reportCalls(), await debits()];
      const replies = [await nopay.get(`/reports/${id}`), await nopay.get(`/reports/${id}`, { accept: 'text/html' })];
      for (const { status, body, headers } of replies) {
        expect([status, body.error]).toEqual([
          422,
          expect.objectContaining({
            code,
            reasonCode,
            recoverable: true,
            message: expect.stringMatching(/credit bureau.*not charged again/),
          }),
        ]);
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(600);
      }
      expect([await reportCalls(), await debits()]).toEqual([calls + 1, debited]);
    },
  );

  it("503 (direct API: 502) with the vendor's Retry-After on every API surface", async () => {
    const id = await submitted(nopay);
    const { secretKey } = (await service.credentials()).accounts.nopay;
    const direct = await DirectCaller.of(service, 'nopay');
    expect((await direct.register('renters', 'renter-of-the-outage')).status).toBe(200);
    const said = ({ status, headers }: Reply): unknown[] => [status, headers.get('retry-after')];
    await control('outage', { seconds: 600, retryAfter: 37 });
    try {
      expect(said(await nopay.get(`/reports/${id}`))).toEqual([503, '37']);
      expect(said(await nopay.submit())).toEqual([503, '37']);
      const asServer = { headers: { 'x-secret-key': secretKey } };
      expect(said(await service.request('GET', `/v1/reports/${id}`, asServer))).toEqual([503, '37']);
      expect(said(await direct.get('/renters/renter-of-the-outage/report'))).toEqual([502, '37']);
    } finally {
      await control('outage', { seconds: 0 });
    }
    expect((await nopay.get(`/reports/${id}`)).status).toBe(200);
  });

  it('402 PAYMENT_REQUIRED, with one message for a consumer who has not paid and another for a credit balance of $0', async () => {
    const [unpaid, exhausted] = [
      await demo.get(`/reports/${await submitted(demo)}`),
      await broke.get(`/reports/${await submitted(broke)}`),
    ];
    expect([refused(unpaid), refused(exhausted)]).toEqual([
      [402, 'PAYMENT_REQUIRED'],
      [402, 'PAYMENT_REQUIRED'],
    ]);
    expect([unpaid.body.error.message, exhausted.body.error.message]).toEqual([
      expect.stringContaining('renter has not paid'),
      expect.stringContaining('$0'),
    ]);
    expect([unpaid.body.error.recoverable, exhausted.body.error.recoverable]).toEqual([false, false]);
  });

  it('400 SCREENING_SESSION_NOT_COMPLETED until the person is verified', async () => {
    expect(refused(await nopay.get(`/reports/${await submitted(nopay, { lastName: 'Otptest' })}`))).toEqual([
      400,
      'SCREENING_SESSION_NOT_COMPLETED',
    ]);
  });

  it('403 SCREENING_USER_BLOCKED while the person is blocked', async () => {
    const id = await submitted(nopay, { lastName: 'Lockedtest' });
    expect((await nopay.post(`/screening/${id}/otp`, { code: '000000' })).body.status).toBe('BLOCKED');
    expect(refused(await nopay.get(`/reports/${id}`))).toEqual([403, 'SCREENING_USER_BLOCKED']);
  });

  it.each(['AGENT', 'PMC'])('403 REPORT_ACCESS_DENIED for a session with userType %s', async (userType) => {
    expect(refused(await nopay.get(`/reports/${await submitted(nopay, { userType })}`))).toEqual([
      403,
      'REPORT_ACCESS_DENIED',
    ]);
  });

  it('404 SCREENING_NOT_FOUND for unknown and malformed ids, and in the other environment', async () => {
    for (const id of [randomUUID(), 'x', 'pdf', '..%2f..'])
      expect(refused(await nopay.get(`/reports/${id}`))).toEqual([404, 'SCREENING_NOT_FOUND']);
    const live = await service.signIn('demo', (await service.credentials()).accounts.demo.livePublishableKey);
    expect(refused(await live.get(`/reports/${await submitted(demo)}`))).toEqual([404, 'SCREENING_NOT_FOUND']);
  });

  it('401 AUTH_UNAUTHORIZED without a token', async () => {
    expect(refused(await service.request('GET', `/reports/${await submitted(nopay)}`))).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
    ]);
  });

  it('406 NOT_ACCEPTABLE, and nothing is billed', async () => {
    const id = await submitted(broke);
    expect(refused(await broke.get(`/reports/${id}`, { accept: 'application/pdf' }))).toEqual([406, 'NOT_ACCEPTABLE']);
  });
});

describe('POST /reports/{id}/pdf', () => {
  // embedded/journey.e2e.test.ts tests the 200 reply, which needs a browser.
  it('503 SERVICE_UNAVAILABLE when the service has no browser', async () => {
    const reply = await nopay.post(`/reports/${await submitted(nopay)}/pdf`, { html: '<h1>Report</h1>' });
    expect(refused(reply)).toEqual([503, 'SERVICE_UNAVAILABLE']);
  });

  it('400 VALIDATION_ERROR without a page in the body, 413 PAYLOAD_TOO_LARGE over 2 MB', async () => {
    const id = await submitted(nopay);
    expect(refused(await nopay.post(`/reports/${id}/pdf`, {}))).toEqual([400, 'VALIDATION_ERROR']);
    expect(refused(await nopay.post(`/reports/${id}/pdf`, { html: 'x'.repeat(2_000_001) }))).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
    ]);
  });

  it('402, 403 and 404 as for the report itself; 403 REPORT_ACCESS_DENIED when the printed link is invalid; 401 without a token', async () => {
    const id = await submitted(demo);
    expect(refused(await demo.post(`/reports/${id}/pdf`, { html: 'x' }))).toEqual([402, 'PAYMENT_REQUIRED']);
    expect(refused(await nopay.post(`/reports/${id}/pdf`, { html: 'x' }))).toEqual([403, 'REPORT_SHARING_NOT_FOUND']);
    expect(refused(await nopay.post(`/reports/${randomUUID()}/pdf`, { html: 'x' }))).toEqual([
      404,
      'SCREENING_NOT_FOUND',
    ]);
    expect(
      refused(await service.request('GET', `/reports/pdf/${randomUUID()}?expires=9999999999999&signature=x`)),
    ).toEqual([403, 'REPORT_ACCESS_DENIED']);
    expect(refused(await service.request('POST', `/reports/${id}/pdf`, { body: { html: 'x' } }))).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
    ]);
  });
});
