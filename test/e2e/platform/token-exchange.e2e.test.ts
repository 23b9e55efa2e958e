// POST /auth/token/exchange and the access that its tokens give, on the whole service (docs/contract/platform.md#token-exchange).
import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { Es256TokenKeys } from '../../../src/adapters/token-keys/es256.js';
import { aPerson, Service, type Credentials, type Reply } from '../../support/service.js';

// Operator commands and second processes need some time on a busy machine.
const ORIGIN = 'https://app.example.test';
const UNKNOWN_SESSION = '/screening/01900000-0000-7000-8000-000000000000/status';

describe('POST /auth/token/exchange', () => {
  let service: Service;
  let credentials: Credentials;
  /** Another process on the same data. The grants of this process expire at once. */
  let elsewhere: Service;

  beforeAll(async () => {
    service = await Service.shared('plain');
    credentials = await service.credentials();
    elsewhere = await service.startBeside({ ROLE: 'api', GRANT_TTL: '0', REPORT_READS_PER_MINUTE: '1' });
  });
  afterAll(async () => {
    await elsewhere?.program.end('SIGTERM');
    await service.stop();
  });

  function exchange(
    publishableKey?: string,
    origin: string | null = ORIGIN,
    {
      headers = {},
      body,
      at = service,
    }: { headers?: Record<string, string>; body?: unknown; at?: Pick<Service, 'request'> } = {},
  ): Promise<Reply> {
    const key = publishableKey === undefined ? {} : { 'x-publishable-key': publishableKey };
    return at.request('POST', '/auth/token/exchange', {
      headers: { ...key, ...(origin === null ? {} : { origin }), ...headers },
      body,
    });
  }

  /** Runs an operator command and returns its output. */
  async function ops(...args: string[]): Promise<Reply['body']> {
    const { exitCode, stdout } = await service.ops(...args);
    if (exitCode !== 0) throw new Error(`ops ${args.join(' ')} ended with ${exitCode}: ${stdout}`);
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  }

  /** Signs a token with the key of the service. */
  const signer = async (): Promise<Es256TokenKeys> =>
    Es256TokenKeys.from(
      await signingKeys(),
      decodeJwt((await exchange(credentials.accounts.demo.publishableKey)).body.token).iss!,
    );
  const signingKeys = (): Promise<string> => readFile(join(service.dataDir, 'keys', 'jwt-signing-keys.json'), 'utf8');

  const issueKey = (...args: string[]) =>
    ops('keys', 'issue', credentials.accounts.demo.accountId, '--kind', 'publishable', ...args);

  function refused(reply: Reply, status: number, code: string): void {
    expect([reply.status, reply.body?.error?.code]).toEqual([status, code]);
    expect(reply.body).toEqual({ error: { code, message: expect.any(String), recoverable: expect.any(Boolean) } });
    expect(reply.headers.get('ratelimit-limit')).toMatch(/^\d+$/);
    expect(reply.headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
    expect(Number(reply.headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(1);
    expect(Number(reply.headers.get('ratelimit-reset'))).toBeLessThanOrEqual(60);
  }

  describe('with a bearer token', () => {
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const key = () => credentials.accounts.demo.publishableKey;
    const grantFor = async (terms: object): Promise<string> =>
      (
        await service.request('POST', '/v1/sessions', {
          headers: { 'x-secret-key': credentials.accounts.demo.secretKey },
          body: terms,
        })
      ).body.token;

    it('200: renews the token with its account and its grant, so that the session of the grant stays readable', async () => {
      const child = credentials.accounts.child.accountId;
      const grant = await grantFor({ on_behalf_of: child });
      const first = await exchange(key(), ORIGIN, { headers: { 'x-session-token': grant } });
      expect(first.body.grant).toEqual({ consumed: true, reason: null, onBehalfOf: true });
      const { token } = first.body;
      const { body: session } = await service.request('POST', '/screening/submit', {
        headers: { authorization: `Bearer ${token}`, origin: ORIGIN },
        body: aPerson(),
      });
      const renewed = await exchange(key(), ORIGIN, bearer(token));
      expect([renewed.status, renewed.body.grant]).toEqual([200, undefined]);
      const [before, after] = [decodeJwt(token), decodeJwt(renewed.body.token)];
      expect(after).toMatchObject({ account_id: child, grant: before['grant'], sub: before.sub, origin: ORIGIN });
      expect(after['auth_time']).toBe(before.iat);
      const again = decodeJwt((await exchange(key(), ORIGIN, bearer(renewed.body.token))).body.token);
      expect([before['lineage'], after['lineage'], again['lineage']]).toEqual([undefined, before.jti, before.jti]);
      expect(after.jti).not.toBe(before.jti);
      const status = await service.request('GET', `/screening/${session.id}/status`, {
        headers: { authorization: `Bearer ${renewed.body.token}`, origin: ORIGIN },
      });
      expect(status.status).toBe(200);
    });

    it('401 AUTH_UNAUTHORIZED: twelve hours after the first exchange, even if the token was renewed in the meantime', async () => {
      const ours = await signer();
      const { token } = (await exchange(key(), ORIGIN, { headers: { 'x-session-token': await grantFor({}) } })).body;
      const claims = decodeJwt(token);
      const firstAt = claims.iat! - 12 * 3_600;
      const renewals = (auth_time: number) =>
        ours.sign({ ...claims, auth_time }).then((renewed) => exchange(key(), ORIGIN, bearer(renewed)));

      const inTime = await renewals(firstAt + 120);
      expect(inTime.status).toBe(200);
      expect(decodeJwt(inTime.body.token)).toMatchObject({ grant: claims['grant'], auth_time: firstAt + 120 });
      refused(await renewals(firstAt), 401, 'AUTH_UNAUTHORIZED');
      // In tokens of a first exchange, `iat` is the time of that exchange.
      refused(
        await exchange(key(), ORIGIN, bearer(await ours.sign({ ...claims, iat: firstAt }))),
        401,
        'AUTH_UNAUTHORIZED',
      );
    });

    it.each([true, false])(
      '429: reads of reports are counted together for all tokens that began with one exchange (under a grant: %s)',
      async (granted) => {
        const headers = granted ? { 'x-session-token': await grantFor({}) } : {};
        const first = (await exchange(key(), ORIGIN, { headers, at: elsewhere })).body;
        const second = (await exchange(key(), ORIGIN, { ...bearer(first.token), at: elsewhere })).body;
        const read = (token: string) =>
          elsewhere.request('GET', '/reports/01900000-0000-7000-8000-000000000000', {
            headers: { authorization: `Bearer ${token}`, origin: ORIGIN },
          });
        expect((await read(first.token)).status).toBe(404);
        expect((await read(second.token)).status).toBe(429);
      },
    );

    it('200: a renewal does not use up a session grant in the same request', async () => {
      const { token } = (await exchange(key())).body;
      const grant = await grantFor({});
      const renewed = await exchange(key(), ORIGIN, {
        headers: { authorization: `Bearer ${token}`, 'x-session-token': grant },
      });
      expect([renewed.status, renewed.body.grant]).toEqual([200, undefined]);
      const used = await exchange(key(), ORIGIN, { headers: { 'x-session-token': grant } });
      expect(used.body.grant).toEqual({ consumed: true, reason: null, onBehalfOf: false });
      const again = await exchange(key(), ORIGIN, { headers: { 'x-session-token': grant } });
      expect(again.body.grant).toEqual({ consumed: false, reason: 'ALREADY_CONSUMED', onBehalfOf: false });
    });

    it.each(['malformed', 'another key', 'another account', 'another origin', 'another environment'])(
      '401 AUTH_UNAUTHORIZED: the token is wrong: %s',
      async (what) => {
        const { demo, unrelated } = credentials.accounts;
        const [local] = demo.allowedOrigins as [string];
        const tokens: Record<string, () => Promise<string>> = {
          malformed: async () => 'a.b.c',
          'another key': async () => {
            const { key: other } = await issueKey('--environment', 'test', '--origins', ORIGIN);
            return (await exchange(other)).body.token;
          },
          'another account': async () => (await exchange(unrelated.publishableKey)).body.token,
          'another origin': async () => (await exchange(demo.publishableKey, local)).body.token,
          'another environment': async () => (await exchange(demo.livePublishableKey)).body.token,
        };
        const reply = await exchange(demo.publishableKey, ORIGIN, bearer(await tokens[what]!()));
        refused(reply, 401, 'AUTH_UNAUTHORIZED');
        expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      },
    );

    it('403 KEY_INACTIVE: a deactivated key cannot renew a token', async () => {
      const { key: text, keyId } = await issueKey('--environment', 'test', '--origins', ORIGIN);
      // The other process has never used the key.
      const { token } = (await exchange(text)).body;
      await ops('keys', 'deactivate', keyId);
      refused(await exchange(text, ORIGIN, { ...bearer(token), at: elsewhere }), 403, 'KEY_INACTIVE');
    });
  });

  it('200: returns a bearer token that is valid for one hour and bound to the account, environment and origin', async () => {
    const { publishableKey, accountId } = credentials.accounts.demo;
    const reply = await exchange(publishableKey);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3_600,
      flags: { consumerPays: true },
      featureFlags: {},
      accountFlags: { consumerPays: true },
    });
    const claims = decodeJwt(reply.body.token);
    expect(claims).toEqual({
      iss: expect.any(String),
      aud: 'platform',
      sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
      account_id: accountId,
      env: 'test',
      origin: ORIGIN,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: expect.any(Number),
      exp: claims.iat! + 3_600,
    });
    expect(decodeProtectedHeader(reply.body.token)).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.any(String) });
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('ratelimit-limit')).toBe('100000');
    expect(Number(reply.headers.get('ratelimit-remaining'))).toBeLessThan(100_000);
    expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  });

  it('200: with an empty JSON body, which browsers send', async () => {
    const reply = await exchange(credentials.accounts.demo.publishableKey, ORIGIN, {
      headers: { 'content-type': 'application/json' },
    });
    expect(reply.status).toBe(200);
  });

  it('200: a live key of a billed account gives a live token', async () => {
    const reply = await exchange(credentials.accounts.demo.livePublishableKey);
    expect([reply.status, decodeJwt(reply.body.token)['env']]).toEqual([200, 'live']);
  });

  it.each<[string, Record<string, string>, unknown]>([
    ['in the header', { 'x-session-token': 'sgt_unknown' }, undefined],
    ['in the body', {}, { session_token: 'sgt_unknown' }],
    ['of the wrong type', {}, { session_token: 7 }],
    ['in both places', { 'x-session-token': 'sgt_unknown' }, { session_token: 'other' }],
  ])(
    '200: an unknown session grant, %s, is reported in the reply and does not fail the exchange',
    async (_, headers, body) => {
      const reply = await exchange(credentials.accounts.demo.publishableKey, ORIGIN, { headers, body });
      expect([reply.status, reply.body.grant]).toEqual([
        200,
        { consumed: false, reason: 'NOT_FOUND', onBehalfOf: false },
      ]);
    },
  );

  it.each([[{}], [[]], [{ session_token: null }], ['"text"'], ['null']])(
    '200: the body %j names no grant',
    async (body) => {
      const reply = await exchange(credentials.accounts.demo.publishableKey, ORIGIN, { body });
      expect([reply.status, Object.hasOwn(reply.body, 'grant')]).toEqual([200, false]);
    },
  );

  it('400 VALIDATION_ERROR: a body that is not JSON', async () => {
    const reply = await exchange(credentials.accounts.demo.publishableKey, ORIGIN, { body: '{"session_token":' });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(Number(reply.headers.get('ratelimit-remaining'))).toBeGreaterThan(0);
  });

  it('401 MISSING_KEY: the key is missing; this is checked before everything else', async () => {
    refused(await exchange(undefined), 401, 'MISSING_KEY');
    refused(await exchange(undefined, null), 401, 'MISSING_KEY');
    refused(await exchange(''), 401, 'MISSING_KEY');
  });

  it('401 INVALID_KEY: malformed and unknown keys, before the check of the origin', async () => {
    const { publishableKey, secretKey, apiKey } = credentials.accounts.demo;
    const wrong = [
      'pk',
      'pk_test_short',
      'pk_prod_0123456789abcdef',
      'PK_TEST_0123456789abcdef',
      'pk_test_0123456789abcdef!',
      'pk_test_0123456789abcdefghij',
      `pk_test_${'A'.repeat(65)}`,
      secretKey,
      apiKey,
      publishableKey.replace('pk_test', 'pk_live'),
      publishableKey.slice(0, -1),
      `${publishableKey}A`,
      publishableKey.slice(0, -4) + (publishableKey.endsWith('AAAA') ? 'BBBB' : 'AAAA'),
      `${publishableKey}, ${publishableKey}`,
      'pk_test_' + 'x'.repeat(4_000),
    ];
    for (const key of wrong) refused(await exchange(key), 401, 'INVALID_KEY');
    refused(await exchange('pk_test_0123456789abcdef', null), 401, 'INVALID_KEY');
  });

  it('403 KEY_INACTIVE: a deactivated key, before the check of the origin', async () => {
    const { keyId, key } = await issueKey('--environment', 'test', '--origins', ORIGIN);
    await ops('keys', 'deactivate', keyId);
    refused(await exchange(key), 403, 'KEY_INACTIVE');
    refused(await exchange(key, null), 403, 'KEY_INACTIVE');
  });

  it('400 MISSING_ORIGIN', async () => {
    refused(await exchange(credentials.accounts.demo.publishableKey, null), 400, 'MISSING_ORIGIN');
  });

  it('200: accepts the demo key from each documented origin, and the credentials list the origins in the documented order', async () => {
    const { publishableKey, allowedOrigins } = credentials.accounts.demo;
    expect(allowedOrigins).toEqual(['http://localhost:5173', ORIGIN, service.baseUrl]);
    for (const origin of allowedOrigins) expect((await exchange(publishableKey, origin)).status).toBe(200);
  });

  it.each([
    'null',
    'http://app.example.test',
    'https://app.example.test:8443',
    'https://sub.app.example.test',
    'https://app.example.test.evil.test',
    'https://app.example.test/',
    'http://localhost',
    'http://localhost:5174',
    'https://localhost:5173',
    'http://127.0.0.1:5173',
    '*',
    'app.example.test',
  ])('403 ORIGIN_NOT_ALLOWED: %s', async (origin) => {
    const reply = await exchange(credentials.accounts.demo.publishableKey, origin);
    refused(reply, 403, 'ORIGIN_NOT_ALLOWED');
    expect([reply.headers.get('access-control-allow-origin'), reply.headers.get('vary')]).toEqual([origin, 'Origin']);
  });

  it('403 ORIGIN_NOT_ALLOWED: localhost with a live key, before the check of billing', async () => {
    refused(
      await exchange(credentials.accounts.demo.livePublishableKey, 'http://localhost:5173'),
      403,
      'ORIGIN_NOT_ALLOWED',
    );
    refused(
      await exchange(credentials.accounts.unbilled.livePublishableKey, 'http://localhost:5173'),
      403,
      'ORIGIN_NOT_ALLOWED',
    );
  });

  it('403 BILLING_NOT_CONFIGURED: a live key of an account without billing; the test key of the account is accepted', async () => {
    const { livePublishableKey, publishableKey } = credentials.accounts.unbilled;
    refused(await exchange(livePublishableKey), 403, 'BILLING_NOT_CONFIGURED');
    expect((await exchange(publishableKey)).status).toBe(200);
  });

  it('200: a connected payment account also counts as billing', async () => {
    const { accountId } = await ops('accounts', 'create', '--name', 'Connected', '--payment-account', 'acct_123');
    const { key } = await ops(
      'keys',
      'issue',
      accountId,
      '--kind',
      'publishable',
      '--environment',
      'live',
      '--origins',
      ORIGIN,
    );
    expect((await exchange(key)).status).toBe(200);
  });

  describe('the limit of exchanges with a key', () => {
    function limited(reply: Reply): void {
      refused(reply, 429, 'RATE_LIMITED');
      expect(reply.body.error.recoverable).toBe(true);
      expect(reply.headers.get('ratelimit-remaining')).toBe('0');
      expect(reply.headers.get('retry-after')).toBe(reply.headers.get('ratelimit-reset'));
    }
    const quota = ({ status, headers }: Reply) => [
      status,
      headers.get('ratelimit-limit'),
      headers.get('ratelimit-remaining'),
    ];

    it('429 RATE_LIMITED: counts exchanges that pass the checks of key and origin, and names the time of the next possible exchange', async () => {
      const { key } = await issueKey('--environment', 'test', '--origins', ORIGIN, '--per-minute', '3');
      for (const left of ['2', '1', '0']) expect(quota(await exchange(key))).toEqual([200, '3', left]);
      const fourth = await exchange(key);
      limited(fourth);
      expect(fourth.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    });

    it("429 RATE_LIMITED: refused exchanges count for the key and the caller's address together, and other exchanges continue", async () => {
      const { key } = await issueKey('--environment', 'test', '--origins', ORIGIN, '--per-minute', '3');
      refused(await exchange(key, 'https://evil.example.test'), 403, 'ORIGIN_NOT_ALLOWED');
      refused(await exchange(key, null), 400, 'MISSING_ORIGIN');
      expect(quota(await exchange(key, 'null'))).toEqual([403, '3', '0']);
      limited(await exchange(key, null));
      limited(await exchange(key, 'https://evil.example.test'));
      expect(quota(await exchange(key))).toEqual([200, '3', '2']);
    });

    it('is shared by all processes', async () => {
      const { key } = await issueKey('--environment', 'test', '--origins', ORIGIN, '--per-minute', '20');
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, index) => exchange(key, ORIGIN, { at: index % 2 === 0 ? service : elsewhere })),
      );
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
      expect(replies.filter(({ status }) => status === 429)).toHaveLength(30);
      const one = replies.find(({ status }) => status === 200)!;
      const headers = { origin: ORIGIN, authorization: `Bearer ${one.body.token}` };
      expect([
        (await service.request('GET', UNKNOWN_SESSION, { headers })).status,
        (await elsewhere.request('GET', UNKNOWN_SESSION, { headers })).status,
      ]).toEqual([404, 404]);
    });
  });

  describe('with a session grant', () => {
    type Minted = { readonly id: string; readonly token: string };
    type Site = Pick<Service, 'request'>;
    async function mint(
      body: object = {},
      { key = credentials.accounts.demo.secretKey, at = service }: { key?: string; at?: Site } = {},
    ): Promise<Minted> {
      const reply = await at.request('POST', '/v1/sessions', { headers: { 'x-secret-key': key }, body });
      if (reply.status !== 200) throw new Error(`Minting answered ${reply.status}: ${reply.text}`);
      return reply.body;
    }
    const redeem = (token: string, key = credentials.accounts.demo.publishableKey, at: Site = service) =>
      exchange(key, ORIGIN, { headers: { 'x-session-token': token }, at });
    /** The result for the grant in the reply, and the account of the token. */
    const outcome = ({ status, body }: Reply) => ({
      status,
      grant: { consumed: body.grant.consumed, reason: body.grant.reason },
      account: decodeJwt(body.token)['account_id'],
      claim: decodeJwt(body.token)['grant'],
    });
    const refusedFor = (reason: string, account: 'demo' | 'unrelated' | 'child' = 'demo') => ({
      status: 200,
      grant: { consumed: false, reason },
      account: credentials.accounts[account].accountId,
      claim: undefined,
    });
    const consumedBy = ({ id }: Minted, account: 'demo' | 'child' = 'demo') => ({
      status: 200,
      grant: { consumed: true, reason: null },
      account: credentials.accounts[account].accountId,
      claim: id,
    });

    it('200: redeems the grant, and the token names the grant', async () => {
      const grant = await mint();
      expect(outcome(await redeem(grant.token))).toEqual(consumedBy(grant));
      const inBody = await mint();
      expect(
        outcome(
          await exchange(credentials.accounts.demo.publishableKey, ORIGIN, { body: { session_token: inBody.token } }),
        ),
      ).toEqual(consumedBy(inBody));
    });

    it('200: the header has priority over the body, and the grant in the body stays unused', async () => {
      const [first, second] = [await mint(), await mint()];
      const both = await exchange(credentials.accounts.demo.publishableKey, ORIGIN, {
        headers: { 'x-session-token': first.token },
        body: { session_token: second.token },
      });
      expect(outcome(both)).toEqual(consumedBy(first));
      expect(outcome(await redeem(second.token))).toEqual(consumedBy(second));
    });

    it("200: on behalf of a child, the token belongs to the child, within the origins and the limit of the parent's key", async () => {
      const { accountId } = await ops(
        'accounts',
        'create',
        '--name',
        'Free child',
        '--parent',
        credentials.accounts.demo.accountId,
        '--payer',
        'account',
        '--prepaid',
        'yes',
      );
      const grant = await mint({ on_behalf_of: accountId });
      const { key } = await issueKey('--environment', 'test', '--origins', ORIGIN, '--per-minute', '7');
      const reply = await redeem(grant.token, key);
      expect(outcome(reply)).toEqual({
        status: 200,
        grant: { consumed: true, reason: null },
        account: accountId,
        claim: grant.id,
      });
      expect([
        reply.headers.get('ratelimit-limit'),
        decodeJwt(reply.body.token)['origin'],
        reply.body.accountFlags,
      ]).toEqual(['7', ORIGIN, { consumerPays: false }]);
    });

    it("200: a session under the child's token belongs to the child, and only that page may use it", async () => {
      const grant = await mint({ on_behalf_of: credentials.accounts.child.accountId });
      const { token } = (await redeem(grant.token)).body;
      const session = await service.request('POST', '/screening/submit', {
        headers: { authorization: `Bearer ${token}`, origin: ORIGIN },
        body: aPerson(),
      });
      expect(session.status).toBe(200);
      const own = await service.request('GET', `/screening/${session.body.id}/status`, {
        headers: { authorization: `Bearer ${token}`, origin: ORIGIN },
      });
      const asServer = (account: 'child' | 'unrelated') =>
        service.request('GET', `/v1/screenings/${session.body.id}/status`, {
          headers: { 'x-secret-key': credentials.accounts[account].secretKey },
        });
      const asPage = async (account: 'demo' | 'child') => (await service.signIn(account)).status(session.body.id);
      const replies = [
        own,
        ...(await Promise.all([asServer('child'), asServer('unrelated'), asPage('child'), asPage('demo')])),
      ];
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404]);
    });

    it('200: a key of the child redeems the grant too', async () => {
      const { child } = credentials.accounts;
      const grant = await mint({ on_behalf_of: child.accountId });
      expect(outcome(await redeem(grant.token, child.publishableKey))).toEqual(consumedBy(grant, 'child'));
    });

    it('200 ALREADY_CONSUMED: the grant is presented again, to any process', async () => {
      const grant = await mint({ on_behalf_of: credentials.accounts.child.accountId });
      expect(outcome(await redeem(grant.token))).toEqual(consumedBy(grant, 'child'));
      expect(outcome(await redeem(grant.token))).toEqual(refusedFor('ALREADY_CONSUMED'));
      expect(outcome(await redeem(grant.token, undefined, elsewhere))).toEqual(refusedFor('ALREADY_CONSUMED'));
    });

    it('200 EXPIRED: the grant has expired', async () => {
      const grant = await mint({}, { at: elsewhere });
      expect(outcome(await redeem(grant.token))).toEqual(refusedFor('EXPIRED'));
    });

    it('200 NOT_FOUND: the token of the grant is slightly wrong', async () => {
      const { token } = await mint();
      const { secretKey } = credentials.accounts.demo;
      for (const wrong of [
        token.slice(0, -1),
        `${token}A`,
        `${token.slice(0, -5)}AAAAA`,
        token.replace('sgt_test', 'sgt_live'),
        token.toUpperCase(),
        `sgt_test_${'A'.repeat(65)}`,
        'sgt_test_',
        secretKey,
        'x'.repeat(4_000),
      ]) {
        expect([wrong, outcome(await redeem(wrong))]).toEqual([wrong, refusedFor('NOT_FOUND')]);
      }
      expect(outcome(await redeem(token)).grant).toEqual({ consumed: true, reason: null });
    });

    it('200 ENVIRONMENT_MISMATCH: a test grant with a live key, or a live grant with a test key; the grant stays valid', async () => {
      const { livePublishableKey, liveSecretKey, publishableKey } = credentials.accounts.demo;
      const [test, live] = [await mint(), await mint({}, { key: liveSecretKey! })];
      expect(outcome(await redeem(test.token, livePublishableKey!))).toEqual(refusedFor('ENVIRONMENT_MISMATCH'));
      expect(outcome(await redeem(live.token, publishableKey))).toEqual(refusedFor('ENVIRONMENT_MISMATCH'));
      expect(outcome(await redeem(test.token))).toEqual(consumedBy(test));
      expect(outcome(await redeem(live.token, livePublishableKey!))).toEqual(consumedBy(live));
    });

    it('200: the reply for a grant that cannot be redeemed still says that it is on behalf of a child', async () => {
      const grant = await mint({ on_behalf_of: credentials.accounts.child.accountId });
      const reply = await redeem(grant.token, credentials.accounts.unrelated.publishableKey);
      expect(reply.body.grant).toEqual({ consumed: false, reason: 'ACCOUNT_MISMATCH', onBehalfOf: true });
    });

    it('200 ACCOUNT_MISMATCH: the key belongs to another account; the grant stays valid, and its state stays hidden', async () => {
      const { unrelated, child, grandchild } = credentials.accounts;
      const grant = await mint();
      expect(outcome(await redeem(grant.token, unrelated.publishableKey))).toEqual(
        refusedFor('ACCOUNT_MISMATCH', 'unrelated'),
      );
      expect(outcome(await redeem(grant.token, child.publishableKey))).toEqual(refusedFor('ACCOUNT_MISMATCH', 'child'));
      expect(outcome(await redeem(grant.token))).toEqual(consumedBy(grant));
      expect(outcome(await redeem(grant.token, unrelated.publishableKey))).toEqual(
        refusedFor('ACCOUNT_MISMATCH', 'unrelated'),
      );
      const below = await mint({ on_behalf_of: grandchild.accountId }, { key: child.secretKey });
      expect(outcome(await redeem(below.token))).toEqual(refusedFor('ACCOUNT_MISMATCH'));
    });

    it('403 and 400: a refused exchange does not use up the grant', async () => {
      const grant = await mint();
      refused(
        await exchange(credentials.accounts.demo.publishableKey, 'https://evil.example.test', {
          headers: { 'x-session-token': grant.token },
        }),
        403,
        'ORIGIN_NOT_ALLOWED',
      );
      refused(
        await exchange(credentials.accounts.demo.publishableKey, null, { headers: { 'x-session-token': grant.token } }),
        400,
        'MISSING_ORIGIN',
      );
      expect(outcome(await redeem(grant.token))).toEqual(consumedBy(grant));
    });

    it('200: when many exchanges run at once in two processes, one of them redeems the grant', async () => {
      for (const body of [{}, { on_behalf_of: credentials.accounts.child.accountId }]) {
        const grant = await mint(body);
        const replies = await Promise.all(
          Array.from({ length: 30 }, (_, index) =>
            redeem(grant.token, undefined, index % 2 === 0 ? service : elsewhere),
          ),
        );
        const outcomes = replies.map(outcome);
        expect(outcomes.filter(({ grant }) => grant.consumed)).toEqual([
          consumedBy(grant, 'on_behalf_of' in body ? 'child' : 'demo'),
        ]);
        expect(outcomes.filter(({ grant }) => !grant.consumed)).toEqual(
          Array.from({ length: 29 }, () => refusedFor('ALREADY_CONSUMED')),
        );
      }
    });
  });

  describe('the token from an exchange', () => {
    const open = (token: string, origin: string | null = ORIGIN) =>
      service.request('GET', UNKNOWN_SESSION, {
        headers: { authorization: `Bearer ${token}`, ...(origin === null ? {} : { origin }) },
      });

    it('is accepted by the platform from its own origin and from the embedded component (404, because the session is unknown)', async () => {
      const { token } = (await exchange(credentials.accounts.demo.publishableKey)).body;
      expect((await open(token)).status).toBe(404);
      expect((await open(token, new URL(credentials.embeddedUrl).origin)).status).toBe(404);
    });

    it('401 AUTH_UNAUTHORIZED: from other origins, even if the key allows them, and without an origin', async () => {
      const { token } = (await exchange(credentials.accounts.demo.publishableKey)).body;
      for (const origin of ['http://localhost:5173', 'https://evil.example.test', 'null', null]) {
        const reply = await open(token, origin);
        expect([origin, reply.status, reply.body.error.code]).toEqual([origin, 401, 'AUTH_UNAUTHORIZED']);
        expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
        expect(reply.headers.get('vary')).toBe('Origin');
      }
    });

    it('401 AUTH_UNAUTHORIZED: dashboard tokens, keys and forged tokens', async () => {
      const { publishableKey, secretKey, accountId, dashboardTokens } = credentials.accounts.demo;
      const { token } = (await exchange(publishableKey)).body;
      const signing = await signingKeys();
      const claims = decodeJwt(token);
      const ours = await Es256TokenKeys.from(signing, claims.iss!);
      const { kid } = decodeProtectedHeader(token);
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ format: 'pem', type: 'pkcs8' })
        .toString();
      const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const publicPem = createPublicKey(ours.verificationKey(kid!)!).export({ format: 'pem', type: 'spki' }).toString();
      const hs256 = `${encoded({ alg: 'HS256', typ: 'JWT', kid })}.${encoded(claims)}`;
      const [header, , signature] = token.split('.') as [string, string, string];
      // The service accepts a token that is signed in the same way. Each refusal below therefore has the named reason.
      expect((await open(await ours.sign({ ...claims, jti: 'other' }))).status).toBe(404);
      const forged = {
        'a dashboard token': dashboardTokens.owner,
        'a publishable key': publishableKey,
        'a secret key': secretKey,
        'alg none': `${encoded({ alg: 'none', typ: 'JWT', kid })}.${encoded(claims)}.`,
        'HS256 with the public key': `${hs256}.${createHmac('sha256', publicPem).update(hs256).digest('base64url')}`,
        'another signer': await (await Es256TokenKeys.from(stranger, claims.iss!)).sign(claims),
        'another account under the same signature': `${header}.${encoded({ ...claims, account_id: credentials.accounts.child.accountId })}.${signature}`,
        'another audience': await ours.sign({ ...claims, aud: 'dashboard' }),
        'another issuer': await (await Es256TokenKeys.from(signing, 'https://other.example.test')).sign(claims),
        'an expired one': await ours.sign({ ...claims, iat: claims.iat! - 7_200, exp: claims.iat! - 3_600 }),
        'another origin': await ours.sign({ ...claims, origin: 'https://evil.example.test' }),
        'no environment': await ours.sign({ ...claims, env: undefined }),
      };
      for (const [what, candidate] of Object.entries(forged)) {
        const reply = await open(candidate);
        expect([what, reply.status, reply.body?.error?.code]).toEqual([what, 401, 'AUTH_UNAUTHORIZED']);
      }
      expect(claims['account_id']).toBe(accountId);
    });

    it('can be verified with the published keys, which contain no private key', async () => {
      const reply = await service.request('GET', '/.well-known/jwks.json');
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
      expect(reply.body).toEqual({
        keys: [
          {
            kty: 'EC',
            crv: 'P-256',
            alg: 'ES256',
            use: 'sig',
            kid: expect.any(String),
            x: expect.any(String),
            y: expect.any(String),
          },
        ],
      });
      const { token } = (await exchange(credentials.accounts.demo.publishableKey)).body;
      const { payload } = await jwtVerify(token, createLocalJWKSet(reply.body as JSONWebKeySet), {
        audience: 'platform',
        algorithms: ['ES256'],
      });
      expect(payload['account_id']).toBe(credentials.accounts.demo.accountId);
    });
  });
});
