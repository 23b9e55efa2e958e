// GET /v1/requests on the whole service (docs/contract/server.md#request-log).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson, type Credentials, type Reply, Service } from '../../support/service.js';
import { DirectCaller } from '../../support/direct.js';
import { until } from '../../support/eventually.js';

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service.stop());

const requests = (query = '', secretKey: string | undefined = accounts.unrelated.secretKey): Promise<Reply> =>
  service.request('GET', `/v1/requests${query}`, { headers: { 'x-secret-key': secretKey } });
/** The log's entries of a route, when there are enough of them. The service writes the log after the reply. */
const entriesOf = async (route: string, count: number, account: 'demo' | 'unrelated' = 'unrelated'): Promise<any[]> => {
  let found: any[] = [];
  await until('the requests are in the log', async () => {
    const { body } = await requests(`?route=${encodeURIComponent(route)}`, accounts[account].secretKey);
    found = body.data;
    return found.length >= count;
  });
  return found;
};

describe('GET /v1/requests', () => {
  it('200: shows the route and the outcome of a request, without its data', async () => {
    const caller = await service.signIn('unrelated');
    const missing = randomUUID();
    const reply = await caller.get(`/screening/${missing}/status`);
    expect(reply.status).toBe(404);
    const [entry] = await entriesOf('/screening/:id/status', 1);
    expect(entry).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      request_id: reply.headers.get('service-request-id'),
      method: 'GET',
      route: '/screening/:id/status',
      status: 404,
      code: reply.body.error.code,
      duration_ms: expect.any(Number),
      key_id: expect.any(String),
      idempotency: null,
    });
    expect(JSON.stringify(await entriesOf('/screening/:id/status', 1))).not.toContain(missing);
  });

  it('200: distinguishes a first request with an idempotency key from a repeated one', async () => {
    const caller = await service.signIn('unrelated');
    const headers = { 'idempotency-key': randomUUID() };
    const body = { unknown: true };
    for (let time = 0; time < 2; time++) await caller.post('/voie/sessions', body, headers);
    expect((await entriesOf('/voie/sessions', 2)).map(({ idempotency }) => idempotency)).toEqual([
      'executed',
      'replayed',
    ]);
  });

  it('200: a replayed refusal keeps its code, and a key for another body is shown as refused', async () => {
    const caller = await service.signIn('broke');
    const headers = { 'idempotency-key': randomUUID() };
    const person = aPerson({ lastName: 'Fraudtest' });
    const replies = [];
    for (const body of [person, person, aPerson()]) replies.push(await caller.post('/screening/submit', body, headers));
    const { code } = replies[0]!.body.error;
    await until('the requests are in the log', async () => (await ofBroke()).length === 3);
    expect((await ofBroke()).map(({ status, code, idempotency }) => [status, code, idempotency])).toEqual([
      [replies[0]!.status, code, 'executed'],
      [replies[0]!.status, code, 'replayed'],
      [409, 'IDEMPOTENCY_KEY_REUSED', 'refused'],
    ]);
    async function ofBroke(): Promise<any[]> {
      return (await requests('?route=/screening/submit', accounts.broke.secretKey)).body.data;
    }
  });

  it("200: the log of a child shows the child's own key, and not the key of its parent", async () => {
    const { accountId: on_behalf_of } = accounts.child;
    const own = await service.signIn('child');
    const parents = await service.signInUnderGrant('demo', { on_behalf_of });
    for (const caller of [own, parents]) await caller.get('/screening/options');
    const found = async (): Promise<any[]> =>
      (await requests('?route=/screening/options', accounts.child.secretKey)).body.data;
    await until('the requests are in the log', async () => (await found()).length === 2);
    expect((await found()).map(({ key_id }) => key_id)).toEqual([expect.any(String), null]);
  });

  it('an operator sees the requests of an account, and of all accounts', async () => {
    const caller = await service.signIn('unbilled');
    for (let time = 0; time < 3; time++) await caller.get(`/screening/${randomUUID()}/status`);
    const tail = async (...args: string[]): Promise<any[]> => {
      const { exitCode, stdout } = await service.ops('requests', 'tail', '--json', ...args);
      if (exitCode !== 0) throw new Error(stdout);
      return stdout === ''
        ? []
        : stdout
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
    };
    const of = ['--account', accounts.unbilled.accountId];
    await until('the requests are in the log', async () => (await tail(...of, '--status', '404')).length === 3);
    expect((await tail(...of, '--limit', '1'))[0]).toEqual({
      at: expect.any(String),
      method: 'GET',
      route: '/screening/:id/status',
      status: 404,
      code: 'NOT_FOUND',
      durationMs: expect.any(Number),
      accountId: accounts.unbilled.accountId,
      environment: 'test',
      requestId: expect.any(String),
      keyId: expect.any(String),
      idempotency: null,
    });
    expect(await tail(...of, '--environment', 'live')).toEqual([]);
    const all = await tail('--limit', '1000');
    expect(all.filter(({ accountId }) => accountId === accounts.unbilled.accountId).length).toBeGreaterThanOrEqual(3);
    expect((await service.ops('requests', 'tail', '--status', '20')).stdout).toContain(
      '--status must be an HTTP status',
    );
  });

  it('200: shows the numeric code of the direct API', async () => {
    const direct = await DirectCaller.of(service, 'demo');
    const reply = await direct.register('renters', randomUUID(), { dob: 'unknown' });
    const code = String(reply.body.errors[0].errorCode);
    await until('the request is in the log', async () =>
      (await requests('', accounts.demo.secretKey)).body.data.some((entry: any) => entry.code === code),
    );
  });

  it('200: filters by status, and continues at the end of a page', async () => {
    const caller = await service.signIn('unrelated');
    for (let time = 0; time < 3; time++) await caller.get(`/screening/${randomUUID()}/status`);
    await entriesOf('/screening/:id/status', 4);
    const first = (await requests('?status=404&limit=2&after=0-0')).body;
    expect([first.object, first.data.length, first.has_more]).toEqual(['list', 2, true]);
    expect((await requests('?after=1000-0&limit=1')).body).toMatchObject({ data: [{}], has_more: true });
    const second = (await requests(`?status=404&limit=2&after=${first.next_after}`)).body;
    expect(second.data).toHaveLength(2);
    expect(second.data[0].request_id).not.toBe(first.data[1].request_id);
    expect([...first.data, ...second.data].every(({ status }: any) => status === 404)).toBe(true);
  });

  it('200: shows no request of another account, of the other environment, or of a stranger', async () => {
    const caller = await service.signIn('unrelated');
    await service.request('GET', '/screening/options', { headers: { authorization: 'Bearer none' } });
    await caller.get('/screening/options');
    const routes = (await entriesOf('/screening/options', 1)).map(({ status }) => status);
    expect(routes).not.toContain(401);
    const ofLive = await requests('?route=/screening/options', accounts.demo.liveSecretKey!);
    expect([ofLive.status, ofLive.body.data]).toEqual([200, []]);
    expect((await requests('?route=/voie/sessions', accounts.child.secretKey)).body.data).toEqual([]);
  });

  it('200: shows a read of the log itself only if it was refused, because others would push all requests out of it', async () => {
    const caller = await service.signIn('unrelated');
    for (let time = 0; time < 3; time++) await requests();
    await requests('?limit=0');
    await caller.get('/screening/options');
    await entriesOf('/screening/options', 2);
    const ofLog = await entriesOf('/v1/requests', 1);
    expect(ofLog.map(({ status }: any) => status)).toEqual([400]);
  });

  it.each(['/v1/events', '/v1/events/heads'])(
    '200: shows a read of %s only if it was refused, because long polls repeat',
    async (route) => {
      const headers = { 'x-secret-key': accounts.unrelated.secretKey };
      for (const query of ['', '?limit=100', '?after=']) await service.request('GET', route + query, { headers });
      expect((await entriesOf(route, 1)).map(({ status }) => status)).toEqual([400]);
    },
  );

  it.each([
    ['?status=20', 'status'],
    ['?status=abc', 'status'],
    ['?status=200&status=404', 'status'],
    ['?limit=0', 'limit'],
    ['?after=yesterday', 'after'],
    ['?after=1-0.', 'after'],
    [`?route=${'x'.repeat(201)}`, 'route'],
  ])('400: %s names the field', async (query, field) => {
    const reply = await requests(query);
    expect([reply.status, reply.body.error.field]).toEqual([400, field]);
  });

  it('401: a call without a key reads nothing', async () => {
    expect((await service.request('GET', '/v1/requests')).status).toBe(401);
  });
});
