import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

let service: Service;
let accounts: Credentials['accounts'];
/** The completed session of each account, keyed by the account's name. */
const sessions = new Map<string, { readonly id: string; readonly caller: PlatformCaller }>();

const OWNERS = ['demo', 'child', 'grandchild', 'unrelated'] as const;
const PATHS = ['status', 'report'] as const;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const refused = (reply: Reply): [number, string] => [reply.status, reply.body?.error?.code];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  await Promise.all(
    OWNERS.map(async (owner) => {
      const caller = await service.signIn(owner);
      const { body } = await caller.post('/voie/sessions');
      const id: string = body.income_session_id;
      sessions.set(owner, { id, caller });
      await until(
        'the income session is completed',
        async () => (await caller.get(`/voie/sessions/${id}/status`)).body.status === 'COMPLETED',
      );
    }),
  );
});
afterAll(() => service.stop());

const read = (path: (typeof PATHS)[number], id: string, secretKey?: string): Promise<Reply> =>
  service.request('GET', `/v1/income-sessions/${id}/${path}`, {
    headers: secretKey === undefined ? {} : { 'x-secret-key': secretKey },
  });
const sessionOf = (owner: string): { readonly id: string; readonly caller: PlatformCaller } => sessions.get(owner)!;

describe('GET /v1/income-sessions/{id}/status and /report', () => {
  it.each([
    ['demo', 'demo'],
    ['demo', 'child'],
    ['child', 'child'],
    ['child', 'grandchild'],
    ['unrelated', 'unrelated'],
  ] as const)('answer 200 to %s for a session of %s, like the platform', async (reader, owner) => {
    const { id, caller } = sessionOf(owner);
    for (const path of PATHS) {
      const reply = await read(path, id, accounts[reader].secretKey);
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual((await caller.get(`/voie/sessions/${id}/${path}`)).body);
    }
  });

  it.each([
    ['demo', 'grandchild'],
    ['demo', 'unrelated'],
    ['child', 'demo'],
    ['grandchild', 'child'],
    ['unrelated', 'child'],
    ['nopay', 'demo'],
  ] as const)('answer %s for a session of %s with the 404 NOT_FOUND of an unknown session', async (reader, owner) => {
    for (const path of PATHS) {
      const replies = await Promise.all(
        [sessionOf(owner).id, UNKNOWN, 'nonsense'].map((id) => read(path, id, accounts[reader].secretKey)),
      );
      expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND']));
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    }
  });

  it('answer 404 NOT_FOUND to a live key for a test session', async () => {
    for (const path of PATHS)
      expect(refused(await read(path, sessionOf('demo').id, accounts.demo.liveSecretKey))).toEqual([404, 'NOT_FOUND']);
  });

  it('answer 401 AUTH_UNAUTHORIZED without a secret key, with a wrong one and with another kind of key', async () => {
    for (const key of [undefined, 'sk_test_nonsense', accounts.demo.publishableKey, accounts.demo.apiKey]) {
      for (const path of PATHS)
        expect(refused(await read(path, sessionOf('demo').id, key))).toEqual([401, 'AUTH_UNAUTHORIZED']);
    }
  });

  it('answer 400 INCOME_REPORT_NOT_READY for the report of a session that is not completed', async () => {
    const { caller } = sessionOf('child');
    const screening = (await caller.submit({ lastName: 'Slowincometest' })).body;
    const { body } = await caller.post('/voie/sessions', { screening_session_id: screening.id });
    const { secretKey } = accounts.demo;
    expect((await read('status', body.income_session_id, secretKey)).body).toMatchObject({
      screening_session_id: screening.id,
      route: 'PAYROLL',
    });
    expect(refused(await read('report', body.income_session_id, secretKey))).toEqual([400, 'INCOME_REPORT_NOT_READY']);
  });

  it('answer a report_url that is the address of the report', async () => {
    const { secretKey } = accounts.demo;
    const { body } = await read('status', sessionOf('demo').id, secretKey);
    const reply = await fetch(body.report_url, { headers: { 'x-secret-key': secretKey } });
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await reply.json()).toMatchObject({ income_session_id: sessionOf('demo').id });
  });
});
