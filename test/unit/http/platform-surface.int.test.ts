// Guards and cross-origin rules over real HTTP. The embedded component has an origin of its own.
import 'reflect-metadata';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Global, HttpCode, Module, Post } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { type NestFastifyApplication, RouteConfig } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import { Es256TokenKeys } from '../../../src/adapters/token-keys/es256.js';
import { HttpSettings } from '../../../src/config/http.js';
import { Clock, SystemClock } from '../../../src/kernel/clock.js';
import { newId } from '../../../src/kernel/ids.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { AccountsModule } from '../../../src/modules/accounts/accounts.module.js';
import { ExchangeTokenHandler, TokenOptions } from '../../../src/modules/accounts/application/exchange-token.js';
import { GrantRedemption } from '../../../src/modules/accounts/application/grant-redemption.js';
import { TokenController } from '../../../src/modules/accounts/http/platform/token.controller.js';
import { BearerTokens } from '../../../src/platform/http/bearer-strategy.js';
import { LARGE_BODY_BYTES } from '../../../src/platform/http/json-limits.js';
import { NeedsPermission } from '../../../src/platform/http/authentication.js';
import { CurrentPrincipal, type Principal } from '../../../src/platform/http/principal.js';
import { serveSurfaces } from '../../../src/platform/http/serve-surfaces.js';
import { createServer } from '../../../src/platform/http/server.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { RateLimiter } from '../../../src/ports/rate-limiter.js';
import { TokenKeys } from '../../../src/ports/token-keys.js';
import { AccessKeys, type KeyHolder, type PublishableKey } from '../../../src/published/access-keys.js';
import { Accounts } from '../../../src/published/accounts.js';
import { IdempotencyRecords } from '../../../src/ports/idempotency-records.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import { SurfacesModule } from '../../../src/modules/surfaces.module.js';
import { PublishableKeys } from '../../../src/modules/accounts/http/platform/publishable-keys.js';
import { Renewals } from '../../../src/modules/accounts/http/platform/renewals.js';

const ORIGIN = 'https://app.example.test';
const EMBEDDED = 'https://embedded.example.test:8443';
const ACCOUNT = newId();
const UNKNOWN_KEY = 'pk_test_ffffffffffffffff';

@Controller('screening')
class PlatformRoute {
  @Get('whoami')
  whoami(@CurrentPrincipal() principal: Principal): Principal {
    return principal;
  }

  @Get(':id/status')
  status(): object {
    return {};
  }

  @Post('echo')
  @HttpCode(200)
  echo(): object {
    return {};
  }
}

@Controller('tsp')
class DashboardRoute {
  @Get('whoami')
  whoami(@CurrentPrincipal() principal: Principal): Principal {
    return principal;
  }

  @Get('webhooks')
  @NeedsPermission('webhooks:manage')
  webhooks(): object {
    return {};
  }

  @Post('webhooks')
  register(): object {
    return {};
  }
}

@Controller('v1')
class ServerRoute {
  @Get('whoami')
  whoami(@CurrentPrincipal() principal: Principal): Principal {
    return principal;
  }

  @Post('sessions')
  @HttpCode(200)
  open(@Body() body: object): object {
    return { fields: Object.keys(body).length };
  }

  @Post('lists')
  @HttpCode(200)
  @RouteConfig({ bodyLimit: LARGE_BODY_BYTES })
  list(@Body() body: object): object {
    return this.open(body);
  }
}

/**
 * Knows one secret key and counts the requests for it. A publishable key is unknown, or its check fails if the test
 * says so.
 */
class ScriptedKeys extends AccessKeys {
  override async isRevoked(): Promise<boolean> {
    return false;
  }
  fault: Error = new Error('a fault of ours');
  asked = 0;
  override async publishable(key: string): Promise<PublishableKey | null> {
    if (key === UNKNOWN_KEY) return null;
    throw this.fault;
  }
  override async authenticate(kind: 'secret' | 'api', key: string): Promise<KeyHolder | null> {
    this.asked += 1;
    return kind === 'secret' && key === 'sk_test_right'
      ? { keyId: 'the-key', accountId: ACCOUNT, environment: 'test' }
      : null;
  }
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: ReturnType<typeof JSON.parse>;
}

describe('the platform surface', () => {
  const keys = new ScriptedKeys();
  let app: NestFastifyApplication;
  let tokens: TokenKeys;
  let port: number;

  beforeAll(async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    tokens = await Es256TokenKeys.from(
      privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      'https://service.example.test',
    );

    @Global()
    @Module({
      imports: [CqrsModule.forRoot(), SurfacesModule],
      controllers: [PlatformRoute, DashboardRoute, ServerRoute, TokenController],
      providers: [
        BearerTokens,
        ExchangeTokenHandler,
        PublishableKeys,
        Renewals,
        { provide: IdempotencyRecords, useValue: {} },
        { provide: Clock, useClass: SystemClock },
        { provide: TokenKeys, useValue: tokens },
        { provide: HttpSettings, useValue: { embeddedUrl: `${EMBEDDED}/component` } },
        { provide: AccessKeys, useValue: keys },
        { provide: Accounts, useValue: {} },
        { provide: RateLimiter, useValue: {} },
        { provide: GrantRedemption, useValue: {} },
        { provide: TokenOptions, useValue: { ttlSeconds: 60, exchangesPerMinute: 60 } },
      ],
      exports: [BearerTokens, AccessKeys, HttpSettings],
    })
    class Platform {}
    @Module({})
    class Nothing {}

    const log = pino({ level: 'silent' });
    const server = createServer({
      surfaces: SURFACES,
      trustedProxies: [],
      requireTls: false,
      tls: null,
      log,
      metrics: new Metrics(),
    });
    // The surfaces need the accounts module. The providers above stand in for it.
    const testing = await Test.createTestingModule({ imports: [Platform] })
      .overrideModule(AccountsModule)
      .useModule(Nothing)
      .compile();
    app = testing.createNestApplication<NestFastifyApplication>(server, {
      logger: false,
      bodyParser: false,
      abortOnError: false,
    });
    serveSurfaces(app, SURFACES, log);
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as AddressInfo).port;
  });

  afterAll(() => app.close());

  /** Uses node:http, because fetch does not let a caller set Host and the Sec-Fetch headers. */
  function call(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: text === '' ? undefined : JSON.parse(text),
          }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  const now = (): number => Math.floor(Date.now() / 1_000);
  const token = (claims: object = {}) =>
    tokens.sign({
      aud: 'platform',
      sub: 'the-key',
      account_id: ACCOUNT,
      env: 'test',
      origin: ORIGIN,
      jti: newId(),
      iat: now(),
      exp: now() + 60,
      ...claims,
    });
  const bearer = async (claims: object = {}) => ({ authorization: `Bearer ${await token(claims)}` });

  describe('a platform token', () => {
    it('answers 200 with its account as the caller, on the page that received the token', async () => {
      const reply = await call('GET', '/screening/whoami', { ...(await bearer()), origin: ORIGIN });
      expect(reply).toMatchObject({
        status: 200,
        body: { actor: { kind: 'platform-token', id: 'the-key' }, accountId: ACCOUNT, environment: 'test' },
      });
    });

    it('answers 200 in the embedded component, for a token of any page', async () => {
      expect((await call('GET', '/screening/whoami', { ...(await bearer()), origin: EMBEDDED })).status).toBe(200);
      const sameOrigin = { ...(await bearer()), 'sec-fetch-site': 'same-origin', host: 'embedded.example.test:8443' };
      expect((await call('GET', '/screening/whoami', sameOrigin)).status).toBe(200);
    });

    it.each<[string, Record<string, string>]>([
      ['another page', { origin: 'https://evil.example.test' }],
      ['the same host over plain HTTP', { origin: 'http://app.example.test' }],
      ['another port', { origin: 'https://app.example.test:8443' }],
      ['a subdomain', { origin: 'https://sub.app.example.test' }],
      ["the component's host on another port", { origin: 'https://embedded.example.test' }],
      ['a sandboxed frame', { origin: 'null' }],
      ['an unknown page', {}],
      ["the same origin, which is not the component's", { 'sec-fetch-site': 'same-origin', host: 'app.example.test' }],
      ["a navigation to the component's host", { 'sec-fetch-site': 'none', host: 'embedded.example.test:8443' }],
      ["another site to the component's host", { 'sec-fetch-site': 'cross-site', host: 'embedded.example.test:8443' }],
      [
        'another page that claims to be same-origin',
        { origin: 'https://evil.example.test', 'sec-fetch-site': 'same-origin', host: 'embedded.example.test:8443' },
      ],
    ])('answers 401 when it is sent from %s', async (_, headers) => {
      const reply = await call('GET', '/screening/whoami', { ...(await bearer()), ...headers });
      expect(reply).toMatchObject({ status: 401, body: { error: { code: 'AUTH_UNAUTHORIZED', recoverable: false } } });
    });

    it.each([{ account_id: 7 }, { sub: undefined }, { env: 'staging' }, { origin: undefined }, { aud: 'dashboard' }])(
      'answers 401 with the claims %j',
      async (claims) => {
        expect((await call('GET', '/screening/whoami', { ...(await bearer(claims)), origin: ORIGIN })).status).toBe(
          401,
        );
      },
    );

    it('answers 401 when it is missing', async () => {
      expect((await call('GET', '/screening/whoami', { origin: ORIGIN })).status).toBe(401);
    });
  });

  describe('a dashboard token', () => {
    const dashboard = (role: string, permissions: string[], more: object = {}) =>
      bearer({ aud: 'dashboard', sub: 'user', role, permissions, ...more });

    it('answers 200 with the user as the caller, with role and permissions', async () => {
      const reply = await call('GET', '/tsp/whoami', await dashboard('OWNER', ['webhooks:manage']));
      expect(reply).toMatchObject({
        status: 200,
        body: {
          actor: { kind: 'dashboard-user', id: 'user' },
          accountId: ACCOUNT,
          role: 'OWNER',
          permissions: ['webhooks:manage'],
        },
      });
    });

    it('answers 200 with the permission that the route needs, and 403 AUTH_FORBIDDEN without it', async () => {
      expect((await call('GET', '/tsp/webhooks', await dashboard('ADMINISTRATOR', ['webhooks:manage']))).status).toBe(
        200,
      );
      expect(await call('GET', '/tsp/webhooks', await dashboard('DEVELOPER', []))).toMatchObject({
        status: 403,
        body: { error: { code: 'AUTH_FORBIDDEN' } },
      });
    });

    it('answers 401 for a platform token, an unknown role and no token', async () => {
      expect((await call('GET', '/tsp/webhooks', { ...(await bearer()), origin: ORIGIN })).status).toBe(401);
      expect((await call('GET', '/tsp/webhooks', await dashboard('ROOT', ['webhooks:manage']))).status).toBe(401);
      expect((await call('GET', '/tsp/webhooks')).status).toBe(401);
    });
  });

  describe('a secret key', () => {
    it('answers 200 with its account as the caller', async () => {
      expect(await call('GET', '/v1/whoami', { 'x-secret-key': 'sk_test_right' })).toMatchObject({
        status: 200,
        body: { actor: { kind: 'secret-key', id: 'the-key' }, accountId: ACCOUNT, environment: 'test' },
      });
    });

    it.each<[string, Record<string, string>]>([
      ['missing', {}],
      ['empty', { 'x-secret-key': '' }],
      ['wrong', { 'x-secret-key': 'sk_test_wrong' }],
      ['in the wrong header', { authorization: 'Bearer sk_test_right' }],
    ])('answers 401 AUTH_UNAUTHORIZED when it is %s', async (_, headers) => {
      expect(await call('GET', '/v1/whoami', headers)).toMatchObject({
        status: 401,
        body: { error: { code: 'AUTH_UNAUTHORIZED' } },
      });
    });
  });

  describe('the token exchange', () => {
    const headers = { origin: ORIGIN, 'x-publishable-key': 'pk_test_0123456789abcdef' };

    it('answers 500 INTERNAL_ERROR without details when it fails, and the page can read the error', async () => {
      keys.fault = new Error('a fault of ours');
      const reply = await call('POST', '/auth/token/exchange', headers);
      expect(reply).toMatchObject({ status: 500, body: { error: { code: 'INTERNAL_ERROR', recoverable: false } } });
      expect(JSON.stringify(reply.body)).not.toContain('a fault of ours');
      expect(reply.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: 'Origin' });
    });

    it('answers 503 SERVICE_UNAVAILABLE, recoverable, when the store is unavailable', async () => {
      keys.fault = new Unavailable('away');
      expect(await call('POST', '/auth/token/exchange', headers)).toMatchObject({
        status: 503,
        body: { error: { code: 'SERVICE_UNAVAILABLE', recoverable: true } },
      });
    });
  });

  describe('the body of a request', () => {
    const NEVER_SENT = 3_000_000;
    const sockets: Socket[] = [];
    afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

    /**
     * Announces three megabytes of JSON and sends a thousand bytes. Returns the answer and how the connection ended.
     */
    function begin(
      path: string,
      headers: Record<string, string> = {},
    ): { readonly answer: Promise<string>; readonly closed: Promise<unknown> } {
      const socket = connect({ host: '127.0.0.1', port });
      sockets.push(socket);
      const head = Object.entries({
        host: 'x',
        'content-type': 'application/json',
        'content-length': String(NEVER_SENT),
        ...headers,
      }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.on('error', () => undefined).write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${'['.repeat(1_000)}`);
      const answer = new Promise<string>((resolve) =>
        socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
      );
      return { answer, closed: new Promise((resolve) => socket.on('close', resolve)) };
    }

    it.each<[string, number, string, Record<string, string>]>([
      ['/screening/echo', 401, 'AUTH_UNAUTHORIZED', { authorization: 'Bearer a.b.c' }],
      ['/v1/sessions', 401, 'AUTH_UNAUTHORIZED', { 'x-secret-key': 'sk_test_wrong' }],
      ['/tsp/webhooks', 401, 'AUTH_UNAUTHORIZED', {}],
      ['/auth/token/exchange', 401, 'MISSING_KEY', {}],
      ['/auth/token/exchange', 401, 'INVALID_KEY', { 'x-publishable-key': UNKNOWN_KEY }],
      ['/no/such/route', 404, 'NOT_FOUND', {}],
    ])(
      'is not read when the caller is unauthenticated; the answer comes immediately: %s %d %s',
      async (path, status, code, headers) => {
        const answer = await begin(path, { origin: ORIGIN, 'x-request-id': 'the-request', ...headers }).answer;
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(answer).toContain(`"code":"${code}"`);
        expect(answer.toLowerCase()).toContain('\r\nx-request-id: the-request\r\n');
        if (/^\/(screening|auth)\//.test(path))
          expect(answer.toLowerCase()).toContain(`\r\naccess-control-allow-origin: ${ORIGIN}\r\n`);
        if (path.startsWith('/auth/')) expect(answer.toLowerCase()).toContain('\r\nratelimit-remaining: 60\r\n');
      },
    );

    it('is not awaited when the caller is unauthenticated; the service closes the connection', async () => {
      const { answer, closed } = begin('/screening/echo');
      expect(await answer).toMatch(/^HTTP\/1\.1 401 /);
      await closed;
    });

    it('is read after a single check of the credentials', async () => {
      keys.asked = 0;
      expect(
        await call(
          'POST',
          '/v1/sessions',
          { 'x-secret-key': 'sk_test_right', 'content-type': 'application/json' },
          '{"one":1}',
        ),
      ).toMatchObject({ status: 200, body: { fields: 1 } });
      expect(keys.asked).toBe(1);
    });

    it('leaves the connection open when an unauthenticated caller has sent the whole body', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        const reused: boolean[] = [];
        for (const _ of [1, 2]) {
          const request = httpRequest({
            host: '127.0.0.1',
            port,
            method: 'POST',
            path: '/v1/sessions',
            agent,
            headers: { 'content-type': 'application/json' },
          });
          request.end(JSON.stringify({ text: 'x'.repeat(100_000) }));
          const [response] = (await once(request, 'response')) as [IncomingMessage];
          expect(response.statusCode).toBe(401);
          await once(response.resume(), 'end');
          reused.push(request.reusedSocket);
        }
        expect(reused).toEqual([false, true]);
      } finally {
        agent.destroy();
      }
    });

    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    const long = (values: number): string => `[${Array.from({ length: values }, () => '0').join(' , ')}]`;

    const textOf = (bytes: number): string => JSON.stringify({ text: 'x'.repeat(bytes - 11) });

    it.each<[string, string, number, string]>([
      ['32 levels', 'sessions', 200, nested(32)],
      ['33 levels', 'sessions', 400, nested(33)],
      ['500 values', 'sessions', 200, long(500)],
      ['501 values', 'sessions', 400, long(501)],
      ['16,000 levels', 'sessions', 400, `${'['.repeat(16_000)}${']'.repeat(16_000)}`],
      ['32 kB', 'sessions', 200, textOf(32_000)],
      ['a byte more than 32 kB', 'sessions', 413, textOf(32_001)],
      ['10,000 values on a route for lists', 'lists', 200, long(10_000)],
      ['10,001 values on a route for lists', 'lists', 400, long(10_001)],
      ['64 kB on a route for lists', 'lists', 200, textOf(64_000)],
      ['a byte more than 64 kB on a route for lists', 'lists', 413, textOf(64_001)],
    ])('is limited in depth, values and bytes: %s (%s), %d', async (_, route, status, body) => {
      const reply = await call(
        'POST',
        `/v1/${route}`,
        { 'x-secret-key': 'sk_test_right', 'content-type': 'application/json' },
        body,
      );
      expect([reply.status, reply.body.error?.code]).toEqual([
        status,
        { 400: 'VALIDATION_ERROR', 413: 'PAYLOAD_TOO_LARGE' }[status],
      ]);
      const limit = { sessions: '32,000', lists: '64,000' }[route];
      if (status === 413) expect(reply.body.error.message).toBe(`The request body may have ${limit} bytes at most.`);
    });

    it('must arrive within 30 seconds, the headers within 10, and the number of connections is limited', () => {
      const { headersTimeout, requestTimeout, maxConnections } = app.getHttpServer() as Server;
      expect({ headersTimeout, requestTimeout, maxConnections }).toEqual({
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        maxConnections: 10_000,
      });
    });
  });

  describe('a page of another origin', () => {
    const readable = { 'access-control-allow-origin': ORIGIN, vary: 'Origin' };

    it('may read success and every error', async () => {
      const auth = await bearer();
      const big = JSON.stringify({ text: 'x'.repeat(300_000) });
      const json = { ...auth, origin: ORIGIN, 'content-type': 'application/json' };
      const replies = {
        200: await call('GET', '/screening/whoami', { ...auth, origin: ORIGIN }),
        401: await call('GET', '/screening/whoami', { origin: ORIGIN }),
        404: await call('GET', '/screening/no/such/route', { origin: ORIGIN }),
        400: await call('POST', '/screening/echo', json, '{"broken'),
        '404 ': await call('GET', '/screening/%zz/status', { origin: ORIGIN }),
        413: await call('POST', '/screening/echo', json, big),
      };
      for (const [status, reply] of Object.entries(replies)) {
        expect(reply).toMatchObject({ status: Number(status), headers: readable });
        expect(reply.headers['access-control-expose-headers']).toBe(
          'Retry-After, Service-Request-Id, Service-Warnings, X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Idempotent-Replayed, Idempotency-Kept',
        );
        expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
      }
    });

    it.each([
      '/auth/token/exchange',
      '/screening/submit',
      '/payments/create-intent',
      '/reports/x',
      '/voie/sessions/x/status',
    ])('gets 204 for the preflight of %s', async (path) => {
      const reply = await call('OPTIONS', path, {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers':
          'authorization,content-type,x-publishable-key,x-session-token,idempotency-key,x-request-id',
      });
      expect(reply).toMatchObject({
        status: 204,
        headers: { ...readable, 'access-control-allow-methods': 'GET, POST' },
      });
      const allowed = String(reply.headers['access-control-allow-headers']).toLowerCase().split(', ');
      expect(allowed).toEqual(
        expect.arrayContaining([
          'authorization',
          'content-type',
          'x-publishable-key',
          'x-session-token',
          'idempotency-key',
          'x-request-id',
        ]),
      );
    });

    it('may not read the surfaces for servers', async () => {
      for (const path of ['/v1/whoami', '/tsp/whoami', '/authentic']) {
        expect((await call('GET', path, { origin: ORIGIN })).headers['access-control-allow-origin']).toBeUndefined();
        const preflight = await call('OPTIONS', path, { origin: ORIGIN, 'access-control-request-method': 'GET' });
        expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([404, undefined]);
      }
    });

    it('is named in Vary even when a request has no origin', async () => {
      expect((await call('GET', '/screening/whoami')).headers).toMatchObject({ vary: 'Origin' });
    });
  });
});
