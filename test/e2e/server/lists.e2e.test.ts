// The lists of the server API, and the timeline of a session (docs/contract/server.md#lists).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { childOf } from '../../support/child-account.js';
import { EndpointOwner } from '../../support/endpoint-owner.js';
import { until } from '../../support/eventually.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const EXTERNAL_ID = 'Lease 7, Ada Lovelace';
const LISTS = ['screenings', 'payments', 'reports', 'income-sessions', 'webhook-deliveries'] as const;

type Account = keyof Credentials['accounts'];

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service.stop());

const get = (path: string, query: Readonly<Record<string, string>> = {}, key = accounts.nopay.secretKey) => {
  const shared = path === 'reports' ? { shared: 'true' } : {};
  return service.request('GET', `/v1/${path}?${new URLSearchParams({ ...shared, ...query })}`, {
    headers: { 'x-secret-key': key },
  });
};
const as = (account: Account): string => accounts[account].secretKey;
const refused = ({ status, body }: Reply) => [status, body?.error?.code, body?.error?.field];

/** The entries of each page, until the list ends. */
async function walk(path: string, query: Readonly<Record<string, string>>, key?: string): Promise<any[][]> {
  const pages: any[][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body }: Reply = await get(path, cursor === '' ? query : { ...query, cursor }, key);
    pages.push(body.data);
    cursor = body.next_cursor;
  }
  return pages;
}

describe('GET /v1/screenings', () => {
  /** The sessions by what is special about each of them, the oldest first. */
  const made: Record<string, { readonly id: string; readonly at: string }> = {};
  const named = (sessions: readonly any[]): string[] =>
    sessions.map(({ session_id }) => Object.keys(made).find((name) => made[name]?.id === session_id) ?? session_id);
  const statusOf = async (id: string): Promise<any> => (await get(`screenings/${id}/status`)).body;

  beforeAll(async () => {
    const page = await service.signIn('nopay');
    const opened = async (name: string, person: object, caller: PlatformCaller = page): Promise<void> => {
      const { body } = await caller.submit(person);
      const id = body.id ?? body.error.sessionId;
      made[name] = { id, at: (await statusOf(id)).created_at };
    };
    const underGrant = await service.signInUnderGrant('nopay', { external_id: EXTERNAL_ID });
    await opened('waiting', { lastName: 'Otptest', unitAddress: '12 Elm Street, Apt 4' });
    await opened('completed', {});
    await opened('agent', { userType: 'AGENT' });
    await opened('refused', { lastName: 'Fraudtest' });
    await opened('lease refused', { lastName: 'Fraudtest' }, underGrant);
    await opened('lease', {}, underGrant);
    await (await service.signInUnderGrant('demo', { external_id: EXTERNAL_ID })).submit();
  });

  it('200: answers the sessions as their status does, the newest first', async () => {
    const { status, body } = await get('screenings');
    expect([status, body.object, body.total, body.next_cursor]).toEqual([200, 'list', 6, null]);
    expect(named(body.data)).toEqual(['lease', 'lease refused', 'refused', 'agent', 'completed', 'waiting']);
    expect(body.data).toEqual(await Promise.all(body.data.map((one: any) => statusOf(one.session_id))));
    expect(body.data.at(-1).unit_address).toBe('12 Elm Street, Apt 4');
  });

  it.each([
    [{ status: 'VERIFIED' }, ['lease', 'agent', 'completed']],
    [{ overall_status: 'COMPLETED' }, ['lease', 'agent', 'completed']],
    [{ status: 'BLOCKED', overall_status: 'COMPLETED' }, []],
    [{ overall_status: 'VERIFIED' }, []],
    [{ user_type: 'AGENT' }, ['agent']],
    [{ user_type: 'CONSUMER', status: 'STEP_UP_REQUIRED' }, ['waiting']],
    [{ external_id: EXTERNAL_ID }, ['lease', 'lease refused']],
    [{ external_id: EXTERNAL_ID, status: 'VERIFIED' }, ['lease']],
    [{ external_id: EXTERNAL_ID, user_type: 'CONSUMER', overall_status: 'BLOCKED' }, ['lease refused']],
    [{ external_id: EXTERNAL_ID, user_type: 'AGENT' }, []],
    [{ external_id: EXTERNAL_ID.toLowerCase() }, []],
  ])('200: %j leaves the sessions that it names, and counts them', async (query, expected) => {
    const { body } = await get('screenings', query as Record<string, string>);
    expect([named(body.data), body.total]).toEqual([expected, expected.length]);
  });

  it('200: two times leave the sessions between them', async () => {
    const between = { created_after: made['completed']!.at, created_before: made['refused']!.at };
    const { body } = await get('screenings', between);
    expect([named(body.data), body.total]).toEqual([['agent'], 1]);
    const offset = made['agent']!.at.replace('Z', '+00:00');
    expect(named((await get('screenings', { created_before: offset })).body.data)).toEqual(['completed', 'waiting']);
    const never = { created_after: between.created_before, created_before: between.created_after };
    expect((await get('screenings', never)).body).toEqual({ object: 'list', data: [], next_cursor: null, total: 0 });
  });

  it('200: the cursor of a page leads to the next one, to the end', async () => {
    const pages = await walk('screenings', { limit: '4' });
    expect(pages.map(named)).toEqual([
      ['lease', 'lease refused', 'refused', 'agent'],
      ['completed', 'waiting'],
    ]);
    const verified = await walk('screenings', { limit: '1', status: 'VERIFIED' });
    expect(verified.map(named)).toEqual([['lease'], ['agent'], ['completed']]);
    expect((await get('screenings', { limit: '5000' })).body.data).toHaveLength(6);
  });

  it('200: lists nothing of another account or environment', async () => {
    const empty = { object: 'list', data: [], next_cursor: null, total: 0 };
    expect((await get('screenings', {}, as('unrelated'))).body).toEqual(empty);
    expect((await get('screenings', {}, accounts.demo.liveSecretKey)).body).toEqual(empty);
    expect((await get('screenings', { external_id: EXTERNAL_ID }, as('demo'))).body.total).toBe(1);
  });

  it('200: a parent reads the list of a direct child, without the homes', async () => {
    const { accountId, key } = await childOf(service, 'nopay');
    const page = await service.signIn('nopay', key);
    const { id } = (await page.submit({ unitAddress: '1 Elm Street' })).body;
    const { body } = await get('screenings', { account_id: accountId });
    expect(body.data).toEqual([await statusOf(id)]);
    expect(body.data[0].unit_address).toBeUndefined();
  });

  it('400: refuses a cursor that was changed, or that belongs to another list, caller or filter', async () => {
    const { next_cursor: cursor } = (await get('screenings', { limit: '1' })).body;
    const changed = `${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`;
    const later = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`;
    const bytes = Buffer.from(cursor, 'base64url');
    const forged = Buffer.from(bytes.toString('latin1').replace(/2\d\d\d-/, '2099-'), 'latin1').toString('base64url');
    const of = 'screenings';
    const replies = await Promise.all([
      ...[changed, later, forged, `${cursor}A`, 'A', cursor.slice(1)].map((one) => get(of, { cursor: one })),
      get(of, { cursor, status: 'VERIFIED' }),
      get(of, { cursor, external_id: EXTERNAL_ID }),
      get(of, { cursor, created_after: '2020-01-01T00:00:00Z' }),
      get(of, { cursor }, as('demo')),
      get('payments', { cursor }),
      get(`screenings/${made['lease']!.id}/timeline`, { cursor }),
    ]);
    expect(replies.map(refused)).toEqual(replies.map(() => [400, 'VALIDATION_ERROR', 'cursor']));
    expect((await get(of, { cursor, limit: '3' })).body.data).toHaveLength(3);
  });

  it('the external id of a request is in no log of the service', async () => {
    await get('screenings', { external_id: EXTERNAL_ID });
    await get('screenings', { external_id: EXTERNAL_ID, status: 'DONE' });
    const { body } = await get('requests', { route: '/v1/screenings' });
    expect(body.data.length).toBeGreaterThan(0);
    expect(JSON.stringify(body) + service.program.output).not.toMatch(/Lease|Lovelace/);
  });

  describe('GET /v1/screenings/{id}/timeline', () => {
    const timeline = (id: string, query = {}, key?: string) => get(`screenings/${id}/timeline`, query, key);
    const steps = async (id: string) =>
      (await timeline(id)).body.data.map(({ sequence, type }: any) => [sequence, type]).reverse();

    it('200: answers the steps of the session and its report, numbered and without personal data', async () => {
      const page = await service.signIn('nopay');
      const { id } = (await page.submit({ lastName: 'Otptest' })).body;
      await page.post(`/screening/${id}/otp`, { code: '000000' });
      await page.post(`/screening/${id}/otp`, { code: '123456' });
      await page.get(`/reports/${id}`);
      await page.post(`/reports/${id}/consent-to-share`);
      await page.post(`/reports/${id}/revoke-sharing`);
      const types = [
        'screening.submitted',
        'verification.requested',
        'step_up.required',
        'otp.answered',
        'otp.rejected',
        'otp.answered',
        'identity.verified',
        'screening.completed',
        'report.requested',
        'report.released',
        'report.shared',
        'report.revoked',
      ];
      expect(await steps(id)).toEqual(types.map((type, place) => [place + 1, type]));
      const { body, text } = await timeline(id);
      expect([body.object, body.next_cursor, body.total]).toEqual(['list', null, undefined]);
      expect(body.data.at(-1)).toEqual({
        sequence: 1,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        type: 'screening.submitted',
        actor: { kind: 'platform_token' },
        detail: { user_type: 'CONSUMER' },
      });
      expect(body.data.find(({ type }: any) => type === 'otp.rejected').detail).toEqual({ attempts_remaining: 2 });
      expect(body.data.find(({ type }: any) => type === 'otp.answered')).not.toHaveProperty('detail');
      expect(text).not.toMatch(/Ada|Otptest|Main Street|subject|person|attempt_id/i);
      expect((await walk(`screenings/${id}/timeline`, { limit: '5' })).flat()).toEqual(body.data);
      expect((await timeline(id, { limit: '500' })).body.data).toHaveLength(types.length);
    });

    it('200: names the reason of a block', async () => {
      const { data } = (await timeline(made['refused']!.id)).body;
      expect(data[0]).toMatchObject({ type: 'screening.blocked', detail: { reason_code: expect.any(String) } });
    });

    it('404 NOT_FOUND: for an unknown session, and for one of another account or environment', async () => {
      const { id } = made['lease']!;
      const replies = await Promise.all([
        timeline(UNKNOWN),
        timeline('nonsense'),
        timeline(id, {}, as('demo')),
        timeline(id, {}, accounts.demo.liveSecretKey),
      ]);
      expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND', undefined]));
    });
  });
});

describe('GET /v1/payments', () => {
  let sessions: string[];
  let transactions: string[];

  beforeAll(async () => {
    const page = await service.signIn('child');
    [sessions, transactions] = [[], []];
    for (const amount of [3_500, 4_000]) {
      const { id } = (await page.submit()).body;
      const intent = await page.post('/payments/create-intent', { amount, screeningId: id });
      sessions.push(id);
      transactions.push(intent.body.transaction_id);
    }
  });

  it('200: answers the payments, the newest first, and page by page', async () => {
    const { body } = await get('payments', {}, as('child'));
    expect(body.data.map(({ transaction_id }: any) => transaction_id)).toEqual([...transactions].reverse());
    expect([body.total, body.data[0]]).toEqual([
      2,
      {
        transaction_id: transactions[1],
        session_id: sessions[1],
        status: 'PENDING',
        amount: 4_000,
        amount_refunded: 0,
        currency: 'usd',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect((await walk('payments', { limit: '1' }, as('child'))).flat()).toEqual(body.data);
    expect((await get('payments', { account_id: accounts.child.accountId }, as('demo'))).body).toEqual(body);
  });

  it('200: a filter leaves the payments that it names, and counts them', async () => {
    const listed = async (query: Record<string, string>): Promise<unknown[]> => {
      const { data, total } = (await get('payments', query, as('child'))).body;
      return [data.map(({ transaction_id }: any) => transaction_id), total];
    };
    const [session_id = ''] = sessions;
    expect(await listed({ status: 'FAILED' })).toEqual([[], 0]);
    expect(await listed({ session_id })).toEqual([[transactions[0]], 1]);
    expect(await listed({ session_id, status: 'PENDING' })).toEqual([[transactions[0]], 1]);
    expect(await listed({ session_id, status: 'FAILED' })).toEqual([[], 0]);
    expect(await listed({ session_id: UNKNOWN })).toEqual([[], 0]);
    expect((await get('payments', { session_id }, as('demo'))).body.total).toBe(0);
  });
});

describe('GET /v1/reports?shared=true', () => {
  it('200: answers the reports that were shared with the account, also after a revocation', async () => {
    const recipient = accounts.unrelated.accountId;
    const page = await service.signInUnderGrant('nopay', { recipient_account_id: recipient });
    const { id } = (await page.submit()).body;
    const shared = (await page.post(`/reports/${id}/consent-to-share`)).body;
    const { body } = await get('reports', {}, as('unrelated'));
    const entry = {
      report_id: shared.reportId,
      session_id: id,
      account_id: accounts.nopay.accountId,
      recipient_account_id: recipient,
      status: 'SHARED',
      shared_at: shared.sharedAt,
      expires_at: shared.expiresAt,
    };
    expect(body).toEqual({ object: 'list', data: [entry], next_cursor: null, total: 1 });
    expect((await get('reports', {}, as('broke'))).body.total).toBe(0);
    const revoked = (await page.post(`/reports/${id}/revoke-sharing`)).body;
    const after = (await get('reports', {}, as('unrelated'))).body;
    expect(after.data).toEqual([{ ...entry, status: 'REVOKED', revoked_at: revoked.revokedAt }]);
  });

  it.each(['', 'false', '1'])('400: shared=%j names the field', async (shared) => {
    expect(refused(await get('reports', { shared }))).toEqual([400, 'VALIDATION_ERROR', 'shared']);
  });
});

describe('GET /v1/income-sessions', () => {
  it('200: answers the sessions as their status does, filtered and page by page', async () => {
    const page = await service.signIn('broke');
    for (let made = 0; made < 3; made++) await page.post('/voie/sessions');
    await until(
      'all are completed',
      async () => (await get('income-sessions', { status: 'COMPLETED' }, as('broke'))).body.total === 3,
    );
    const { body } = await get('income-sessions', {}, as('broke'));
    const statuses = body.data.map((one: any) =>
      get(`income-sessions/${one.income_session_id}/status`, {}, as('broke')),
    );
    expect(body.data).toEqual((await Promise.all(statuses)).map((reply: Reply) => reply.body));
    const times: string[] = body.data.map(({ created_at }: any) => created_at);
    expect([body.total, times]).toEqual([3, [...times].sort().reverse()]);
    expect((await walk('income-sessions', { limit: '2' }, as('broke'))).map(({ length }) => length)).toEqual([2, 1]);
    expect((await get('income-sessions', { status: 'FAILED' }, as('broke'))).body.total).toBe(0);
    const underGrant = await service.signInUnderGrant('broke', { external_id: EXTERNAL_ID });
    const { income_session_id: id } = (await underGrant.post('/voie/sessions')).body;
    const leased = (await get('income-sessions', { external_id: EXTERNAL_ID }, as('broke'))).body;
    expect([leased.data.map((one: any) => one.income_session_id), leased.total]).toEqual([[id], 1]);
    expect((await get('income-sessions', { external_id: 'another' }, as('broke'))).body.total).toBe(0);
    expect((await get('income-sessions', {}, as('grandchild'))).body.total).toBe(0);
  });
});

describe('GET /v1/webhook-deliveries', () => {
  let owner: EndpointOwner;

  beforeAll(async () => {
    owner = new EndpointOwner(service, accounts.unbilled);
    await owner.register('https://127.0.0.1:1/closed');
    const page = await service.signIn('unbilled');
    for (let made = 0; made < 2; made++) await page.submit({ lastName: 'Otptest' });
    await until('each event has a delivery', async () => (await owner.deliveries({ status: 'retrying' })).length === 2);
  });
  afterAll(() => owner.remove());

  it('200: answers the deliveries as the delivery log does, filtered and page by page', async () => {
    const key = as('unbilled');
    const { body } = await get('webhook-deliveries', {}, key);
    expect([body.data, body.total, body.next_cursor]).toEqual([await owner.deliveries(), 2, null]);
    expect((await walk('webhook-deliveries', { limit: '1' }, key)).flat()).toEqual(body.data);
    const count = async (query: Record<string, string>) => (await get('webhook-deliveries', query, key)).body.total;
    expect(await count({ status: 'retrying', event_type: 'screening.step_up_required' })).toBe(2);
    expect(await count({ status: 'succeeded' })).toBe(0);
    expect(await count({ event_type: 'ping' })).toBe(0);
    expect((await get('webhook-deliveries', {}, as('nopay'))).body.total).toBe(0);
  });
});

describe('every list', () => {
  it.each(LISTS)('%s answers 400 with the field to a parameter that breaks a rule', async (list) => {
    const filters = list === 'reports' ? [] : [['status', 'DONE'] as const, ['status', ''] as const];
    const times = list === 'webhook-deliveries' ? [] : (['created_after', 'created_before'] as const);
    const broken = [
      ...filters,
      ...times.flatMap((name) =>
        ['yesterday', '2026-01-31', '2026-01-31T12:00:00', '2026-02-30T12:00:00Z', '2026-01-31T12:00:00+99:99'].map(
          (time) => [name, time] as const,
        ),
      ),
      ...['0', '-1', 'ten', '1.5', ''].map((limit) => ['limit', limit] as const),
      ...['nonsense', '', 'a b'].map((cursor) => ['cursor', cursor] as const),
      ['account_id', ''] as const,
    ];
    for (const [name, value] of broken)
      expect([name, value, ...refused(await get(list, { [name]: value }))]).toEqual([
        name,
        value,
        400,
        'VALIDATION_ERROR',
        name,
      ]);
    const twice = await service.request('GET', `/v1/${list}?shared=true&limit=1&limit=2`, {
      headers: { 'x-secret-key': as('nopay') },
    });
    expect(refused(twice)).toEqual([400, 'VALIDATION_ERROR', 'limit']);
  });

  it.each(LISTS)('%s answers 404 NOT_FOUND to an account that is not a direct child', async (list) => {
    for (const account of ['demo', 'grandchild', 'unrelated'] as const)
      expect(refused(await get(list, { account_id: accounts[account].accountId }, as('nopay')))[0]).toBe(404);
    const replies = await Promise.all(
      [accounts.grandchild.accountId, UNKNOWN, 'nonsense'].map((account_id) => get(list, { account_id }, as('demo'))),
    );
    expect(replies.map(refused)).toEqual(replies.map(() => [404, 'NOT_FOUND', undefined]));
    expect((await get(list, { account_id: accounts.child.accountId }, as('demo'))).status).toBe(200);
  });

  it.each(LISTS)('%s answers 401 AUTH_UNAUTHORIZED without a secret key', async (list) => {
    expect(refused(await get(list, {}, ''))).toEqual([401, 'AUTH_UNAUTHORIZED', undefined]);
  });
});
