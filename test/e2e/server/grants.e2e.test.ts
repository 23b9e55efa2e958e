// POST /v1/sessions on the whole service (docs/contract/server.md#session-grants). test/e2e/platform/token-exchange.e2e.test.ts covers the
// tokens.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service, type Credentials, type Reply } from '../../support/service.js';

// Operator commands need some time on a busy machine.
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('POST /v1/sessions', () => {
  let service: Service;
  let accounts: Credentials['accounts'];

  beforeAll(async () => {
    service = await Service.shared('plain');
    ({ accounts } = await service.credentials());
  });
  afterAll(() => service.stop());

  function mint(
    body?: unknown,
    { key = accounts.demo.secretKey, headers = {} }: { key?: string | null; headers?: Record<string, string> } = {},
  ): Promise<Reply> {
    return service.request('POST', '/v1/sessions', {
      headers: { ...(key === null ? {} : { 'x-secret-key': key }), ...headers },
      body,
    });
  }

  async function ops(...args: string[]): Promise<Reply['body']> {
    const { exitCode, stdout } = await service.ops(...args);
    if (exitCode !== 0) throw new Error(`ops ${args.join(' ')} ended with ${exitCode}: ${stdout}`);
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  }

  it("200: mints a grant of fifteen minutes for the caller's account, and shows the grant's token", async () => {
    const before = Date.now();
    const reply = await mint({});
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: expect.stringMatching(ID),
      token: expect.stringMatching(/^sgt_test_[A-Za-z0-9_-]{65}$/),
      object: 'session_grant',
      environment: 'test',
      account_id: accounts.demo.accountId,
      on_behalf_of: null,
      expires_in: 900,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const lifetimeMs = new Date(reply.body.expires_at).getTime() - before;
    expect(lifetimeMs).toBeGreaterThanOrEqual(900_000);
    expect(lifetimeMs).toBeLessThan(930_000);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('x-request-id')).not.toBeNull();
    expect((await mint({})).body).not.toMatchObject({ id: reply.body.id });
  });

  it.each([
    [undefined],
    ['null'],
    [{ on_behalf_of: null, user_type: null, metadata: null, unknown_field: { deep: [1] } }],
    [{ metadata: { floor: 4, furnished: true } }],
  ])('200: every field is optional, and metadata may hold numbers and booleans: %j', async (body) => {
    expect((await mint(body)).status).toBe(200);
  });

  it('200: a grant on behalf of a direct child belongs to the child', async () => {
    const { child, demo, grandchild } = accounts;
    const reply = await mint({ on_behalf_of: child.accountId });
    expect([reply.status, reply.body.account_id, reply.body.on_behalf_of]).toEqual([
      200,
      child.accountId,
      child.accountId,
    ]);
    expect((await mint({ on_behalf_of: child.accountId }, { key: demo.liveSecretKey! })).body).toMatchObject({
      environment: 'live',
      token: expect.stringMatching(/^sgt_live_/),
    });
    expect((await mint({ on_behalf_of: grandchild.accountId }, { key: child.secretKey })).status).toBe(200);
  });

  it("200: accepts every documented field, and keeps the caller's text out of the log", async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [
        `field-${index}`.padEnd(40, '_'),
        index === 0 ? 'Ada Canary' : 'x'.repeat(500),
      ]),
    );
    const reply = await mint({
      user_type: 'CONSUMER',
      end_user_type: 'applicant-canary',
      recipient_account_id: accounts.unrelated.accountId,
      external_id: 'external-canary',
      metadata,
    });
    expect(reply.status).toBe(200);
    const { stdout } = await service.ops('stream', 'show', `session_grant-${reply.body.id}`);
    expect(stdout).toContain('GrantMinted');
    expect(stdout).toContain(accounts.unrelated.accountId);
    for (const secret of ['canary', 'Canary', 'field-0', reply.body.token, reply.body.token.slice(-43)])
      expect([secret, stdout.includes(secret)]).toEqual([secret, false]);
    expect(service.program.output).not.toContain(reply.body.token.slice(-43));
    expect(service.program.output).not.toContain('canary');
  });

  it.each<[string, unknown]>([
    ['on_behalf_of', 7],
    ['on_behalf_of', ['a']],
    ['user_type', 'RENTER'],
    ['user_type', 'consumer'],
    ['user_type', 1],
    ['end_user_type', 'x'.repeat(65)],
    ['end_user_type', {}],
    ['recipient_account_id', false],
    ['recipient_account_id', 'someone'],
    ['recipient_account_id', '01900000-0000-7000-8000-000000000000'],
    ['external_id', 'x'.repeat(256)],
    ['external_id', 12],
    ['metadata', 'text'],
    ['metadata', ['text']],
    ['metadata', { nothing: null }],
    ['metadata', { deep: { er: 'x' } }],
    ['metadata', { long: 'x'.repeat(501) }],
    ['metadata', { ['x'.repeat(41)]: 'long name' }],
    ['metadata', { '': 'no name' }],
    ['metadata', Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, 'x']))],
  ])('400 VALIDATION_ERROR: the field %s is %j', async (field, value) => {
    const reply = await mint({ [field]: value });
    expect([reply.status, reply.body.error.code, reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', field]);
  });

  it.each(['on_behalf_of', 'user_type', 'end_user_type', 'recipient_account_id', 'external_id'])(
    '200: an empty %s counts as missing',
    async (field) => {
      const [empty, absent] = [await mint({ [field]: '' }), await mint({})];
      expect([empty.status, Object.keys(empty.body)]).toEqual([200, Object.keys(absent.body)]);
    },
  );

  it.each([['[]'], ['"text"'], ['7'], ['{"metadata":']])('400 VALIDATION_ERROR: the body is %s', async (body) => {
    const reply = await mint(body);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('401 AUTH_UNAUTHORIZED: without a secret key, or with a key of another kind', async () => {
    const { publishableKey, apiKey, secretKey } = accounts.demo;
    for (const key of [
      null,
      '',
      'sk_test_0123456789abcdef',
      publishableKey,
      apiKey,
      secretKey.slice(0, -1),
      secretKey.replace('sk_test', 'sk_live'),
    ]) {
      const reply = await mint({}, { key });
      expect([key, reply.status, reply.body.error.code]).toEqual([key, 401, 'AUTH_UNAUTHORIZED']);
    }
    const { authorization } = (await service.signIn()).headers;
    expect((await mint({}, { key: null, headers: { authorization: authorization! } })).status).toBe(401);
  });

  it('401 AUTH_UNAUTHORIZED: as soon as the key is deactivated', async () => {
    const { keyId, key } = await ops(
      'keys',
      'issue',
      accounts.demo.accountId,
      '--kind',
      'secret',
      '--environment',
      'test',
    );
    expect((await mint({}, { key })).status).toBe(200);
    await ops('keys', 'deactivate', keyId);
    expect((await mint({}, { key })).status).toBe(401);
  });

  it('404 NOT_FOUND: an account that is not a direct child gets the reply of an unknown account', async () => {
    const { demo, child, grandchild, unrelated } = accounts;
    const sibling = await ops('accounts', 'create', '--name', 'Sibling', '--parent', demo.accountId);
    const unknown = await mint({ on_behalf_of: randomUUID() });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'NOT_FOUND']);
    const cases: [string, string, string][] = [
      ['grandchild', demo.secretKey, grandchild.accountId],
      ['unrelated', demo.secretKey, unrelated.accountId],
      ['itself', demo.secretKey, demo.accountId],
      ['parent', child.secretKey, demo.accountId],
      ['sibling', child.secretKey, sibling.accountId],
      ['child of another', unrelated.secretKey, child.accountId],
      ['malformed', demo.secretKey, 'someone'],
      ['in capitals', demo.secretKey, child.accountId.toUpperCase()],
      ['a path', demo.secretKey, '../account'],
    ];
    for (const [what, key, on_behalf_of] of cases) {
      const reply = await mint({ on_behalf_of }, { key });
      expect([what, reply.status, reply.text]).toEqual([what, 404, unknown.text]);
    }
    expect((await mint({ on_behalf_of: sibling.accountId })).status).toBe(200);
  });

  it('405: the route accepts no GET', async () => {
    expect(
      (await service.request('GET', '/v1/sessions', { headers: { 'x-secret-key': accounts.demo.secretKey } })).status,
    ).toBe(405);
  });

  describe('with an Idempotency-Key', () => {
    it('200: repeats the first reply with the same token', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await mint({ external_id: 'one' }, { headers });
      const again = await mint({ external_id: 'one' }, { headers });
      expect([
        again.status,
        again.text,
        again.headers.get('idempotent-replayed'),
        again.headers.get('cache-control'),
      ]).toEqual([200, first.text, 'true', 'no-store']);
      const kept = await service.redis.client().keys('idempotency:*');
      expect(kept.length).toBeGreaterThan(0);
      for (const record of kept)
        expect(
          JSON.stringify(
            await service.redis
              .client()
              .hgetall(record)
              .catch(() => null),
          ),
        ).not.toContain(first.body.token);
    });

    it('200: concurrent requests with one key mint one grant', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const replies = await Promise.all(Array.from({ length: 8 }, () => mint({}, { headers })));
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    });

    it('409 IDEMPOTENCY_KEY_REUSED: the body differs', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      await mint({ external_id: 'one' }, { headers });
      const other = await mint({ external_id: 'two' }, { headers });
      expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    });
  });

  it('200 without CORS headers, so that no page in a browser can read the answer', async () => {
    const reply = await mint({}, { headers: { origin: 'https://app.example.test' } });
    expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });

  it('is described in the document of its API surface', async () => {
    const { body } = await service.request('GET', '/openapi/server.json');
    expect(body.info.title).toBe('Secret-key server API');
    expect(body.components.securitySchemes['secret-key']).toEqual({
      type: 'apiKey',
      in: 'header',
      name: 'X-Secret-Key',
    });
    const { post } = body.paths['/v1/sessions'];
    expect(post.security).toEqual([{ 'secret-key': [] }]);
    expect(Object.keys(post.responses).join(' ')).toBe('200 400 401 403 404 408 409 410 413 414 415 417 431 500 503');
    expect(Object.keys(body.components.schemas.MintGrantBody.properties)).toEqual([
      'on_behalf_of',
      'user_type',
      'application_fee',
      'end_user_type',
      'purpose',
      'recipient_account_id',
      'external_id',
      'metadata',
    ]);
  });
});
