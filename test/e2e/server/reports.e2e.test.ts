// GET /v1/reports/{session_id} on the whole service (docs/contract/server.md#readable-sessions).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service, type Credentials, type PlatformCaller, type Reply } from '../../support/service.js';

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  // Sessions of these accounts need no payment for their reports.
  for (const name of ['demo', 'child', 'grandchild', 'unrelated'] as const) {
    const { exitCode, stdout } = await service.ops('accounts', 'set', accounts[name].accountId, '--payer', 'account');
    if (exitCode !== 0) throw new Error(stdout);
  }
});
afterAll(() => service.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const read = (id: string, key: string = accounts.demo.secretKey, headers: Record<string, string> = {}) =>
  service.request('GET', `/v1/reports/${id}`, { headers: { 'x-secret-key': key, ...headers } });
async function sessionOf(name: keyof typeof accounts, person: object = {}): Promise<[string, PlatformCaller]> {
  const caller = await service.signIn(name);
  return [(await caller.submit(person)).body.id, caller];
}

describe('GET /v1/reports/{session_id}', () => {
  it("200: the account's own report, the same as on the platform, as JSON and as a page", async () => {
    const [id, demo] = await sessionOf('demo');
    const reply = await read(id);
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.body)).toEqual(['id', 'sessionId', 'score', 'report', 'generatedAt', 'expiresAt']);
    expect((await demo.get(`/reports/${id}`)).body).toEqual(reply.body);
    const page = await read(id, accounts.demo.secretKey, { accept: 'text/html' });
    expect([
      page.headers.get('content-type'),
      page.headers.get('cache-control'),
      page.text.includes(reply.body.id),
    ]).toEqual(['text/html; charset=utf-8', 'no-store', true]);
  });

  it('200: the report of a direct child whose account pays', async () => {
    const [id] = await sessionOf('child');
    expect((await read(id)).body).toMatchObject({ sessionId: id });
    expect((await service.ops('stream', 'show', `credit-${accounts.child.accountId}`)).stdout).toContain(
      'CreditDebited',
    );
  });

  it('404 NOT_FOUND for sessions of a grandchild, a parent, an unrelated account or the other environment, and for unknown ids', async () => {
    const [[grandchild], [demo], [unrelated]] = await Promise.all([
      sessionOf('grandchild'),
      sessionOf('demo'),
      sessionOf('unrelated'),
    ]);
    const replies = [
      await read(grandchild),
      await read(unrelated),
      await read(demo, accounts.child.secretKey),
      await read(demo, accounts.demo.liveSecretKey),
      await read(randomUUID()),
      await read('x'),
    ];
    expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND']));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  });

  it('404 NOT_FOUND for the recipient of a share too, because shares are read on the platform', async () => {
    const [id, demo] = await sessionOf('demo');
    expect(
      (await demo.post(`/reports/${id}/consent-to-share`, { recipientAccountId: accounts.child.accountId })).status,
    ).toBe(200);
    expect(refused(await read(id, accounts.child.secretKey))).toEqual([404, 'NOT_FOUND']);
  });

  it('400, 402, 403 and 422 as on the platform', async () => {
    expect(refused(await read((await sessionOf('demo', { lastName: 'Otptest' }))[0]))).toEqual([
      400,
      'SCREENING_SESSION_NOT_COMPLETED',
    ]);
    expect(refused(await read((await sessionOf('broke'))[0], accounts.broke.secretKey))).toEqual([
      402,
      'PAYMENT_REQUIRED',
    ]);
    expect(refused(await read((await sessionOf('demo', { userType: 'PMC' }))[0]))).toEqual([
      403,
      'REPORT_ACCESS_DENIED',
    ]);
    expect(refused(await read((await sessionOf('demo', { lastName: 'Frozentest' }))[0]))).toEqual([
      422,
      'REPORT_FILE_FROZEN',
    ]);
  });

  it('401 AUTH_UNAUTHORIZED without a key or with another kind of key, 406 NOT_ACCEPTABLE for another type', async () => {
    const [id] = await sessionOf('demo');
    expect(refused(await service.request('GET', `/v1/reports/${id}`))).toEqual([401, 'AUTH_UNAUTHORIZED']);
    expect(refused(await read(id, accounts.demo.apiKey))).toEqual([401, 'AUTH_UNAUTHORIZED']);
    expect(refused(await read(id, accounts.demo.secretKey, { accept: 'image/png' }))).toEqual([406, 'NOT_ACCEPTABLE']);
  });
});
