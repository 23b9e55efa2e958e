// Mistakes that integrators make first, and the replies that name the mistake
// (docs/contract/general.md#first-mistakes).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';

const NO_SESSION = '018f0000-0000-7000-8000-000000000000';

let service: Service;
let demo: PlatformCaller;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  demo = await service.signIn('demo');
  ({ accounts } = await service.credentials());
});
afterAll(() => service.stop());

const told = ({ status, body }: Reply): unknown[] => [status, body.error.code, body.error.message];

describe('AUTH_UNAUTHORIZED', () => {
  const status = (headers: Record<string, string>): Promise<Reply> =>
    service.request('GET', `/screening/${NO_SESSION}/status`, { headers });
  const MISSING = 'The Authorization header is missing. This API takes a bearer token in it.';
  const NOT_OURS = 'The Authorization header holds no bearer token that this service has issued.';
  const otherKind = (prefix: string): string =>
    `The Authorization header holds a credential that begins with ${prefix}. This API takes a bearer token.`;

  it.each([
    ['no credential', () => ({}), MISSING],
    ['an empty header', () => ({ authorization: '' }), MISSING],
    ['an unreadable one', () => ({ authorization: 'Bearer abc' }), NOT_OURS],
    ['a forged one', () => ({ authorization: 'Bearer e30.e30.e30' }), NOT_OURS],
    ['a secret key', () => ({ authorization: `Bearer ${accounts.demo.secretKey}` }), otherKind('sk_test_')],
    ['a secret key without a scheme', () => ({ authorization: accounts.demo.secretKey }), otherKind('sk_test_')],
    ['an API key', () => ({ authorization: `Bearer ${accounts.demo.apiKey}` }), otherKind('ak_test_')],
    ['a publishable key', () => ({ authorization: `Token ${accounts.demo.publishableKey}` }), otherKind('pk_test_')],
    ['an unknown key', () => ({ authorization: 'Bearer sk_live_x' }), otherKind('sk_live_')],
    [
      'a dashboard token',
      () => ({ authorization: `Bearer ${accounts.demo.dashboardTokens.owner}` }),
      'The token is for another API of this service.',
    ],
  ])('given %s, names the mistake in the message and in WWW-Authenticate', async (_, headers, message) => {
    const reply = await status(headers());
    expect(told(reply)).toEqual([401, 'AUTH_UNAUTHORIZED', message]);
    expect(reply.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", error_description="${message}"`);
  });

  it('given a token of another origin, names the origin of the request and not the origin of the token', async () => {
    const { authorization } = demo.headers;
    const reply = await status({ authorization: String(authorization), origin: 'https://other.example.test' });
    expect(told(reply)).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
      'The token is for another origin than https://other.example.test. Exchange the publishable key from the page that calls.',
    ]);
    expect(told(await status({ authorization: String(authorization), origin: 'x"y' }))[2]).toBe(
      'The token is for another origin. Exchange the publishable key from the page that calls.',
    );
    expect(told(await status({ authorization: String(authorization) }))[2]).toBe(
      'The request has no Origin header, and the token is for the pages of one origin.',
    );
  });

  it.each([
    [
      'no key',
      () => ({}),
      'The X-Secret-Key header is missing. This API takes a secret key in it, and no other credential.',
    ],
    ['an unknown key', () => ({ 'x-secret-key': 'sk_test_x' }), 'The X-Secret-Key header holds no valid secret key.'],
    [
      'an API key',
      () => ({ 'x-secret-key': accounts.demo.apiKey }),
      'The X-Secret-Key header holds a credential that begins with ak_test_. This API takes a secret key.',
    ],
  ])('given %s on the server API, names the mistake', async (_, headers, message) => {
    const reply = await service.request('GET', `/v1/screenings/${NO_SESSION}/status`, { headers: headers() });
    expect(told(reply)).toEqual([401, 'AUTH_UNAUTHORIZED', message]);
    expect(reply.headers.get('www-authenticate')).toBe(
      `SecretKey error="invalid_token", error_description="${message}"`,
    );
  });

  it("does not change the direct API's own reply to a wrong API key", async () => {
    const reply = await service.request('GET', '/api/idv/renters/x/report-expiry');
    expect([reply.status, reply.body.errors[0].errorCode, reply.headers.get('www-authenticate')]).toEqual([
      403,
      324,
      null,
    ]);
  });
});

describe('NOT_FOUND', () => {
  it.each([
    ['POST', '/nowhere?name=secret'],
    ['GET', '/screening'],
    ['DELETE', '/v1/nowhere'],
    ['GET', '/%zz'],
  ])('names the unknown path and the documents: %s %s', async (method, path) => {
    const reply = await service.request(method, path);
    const route = `${method} ${path.split('?')[0]}`;
    expect(told(reply)).toEqual([404, 'NOT_FOUND', `No route ${route}; documents: ${service.baseUrl}/docs`]);
  });

  it('repeats only the beginning of a long path', async () => {
    const { message } = (await service.request('GET', `/${'x'.repeat(9_000)}`)).body.error;
    expect(message.length).toBeLessThan(300);
  });

  it('names the kind of the missing object, and is the same for unknown, malformed and foreign ids', async () => {
    const { id } = (await demo.submit()).body;
    const unrelated = await service.signIn('unrelated');
    const things = [
      ['screening session', (name: string) => unrelated.status(name)],
      ['screening session', (name: string) => unrelated.post(`/screening/${name}/otp`, { code: '123456' })],
      ['screening session', (name: string) => unrelated.get(`/reports/${name}/sharing`)],
      ['payment', (name: string) => unrelated.post(`/payments/${name}/confirm`)],
      ['income session', (name: string) => unrelated.get(`/voie/sessions/${name}/status`)],
    ] as const;
    for (const [thing, ask] of things) {
      const expected = [404, `No ${thing} with this id exists for this credential.`];
      for (const name of [id, NO_SESSION, 'nope', '%00', '%zz', '%E0%A4%A', 'x'.repeat(2_000)]) {
        const { status, body } = await ask(name);
        expect([thing, name, status, body.error.message]).toEqual([thing, name, ...expected]);
      }
    }
  });
});

describe('METHOD_NOT_ALLOWED', () => {
  it.each([
    ['PUT', '/auth/token/exchange', 'POST'],
    ['GET', '/screening/submit', 'POST'],
    ['DELETE', `/screening/${NO_SESSION}/status`, 'GET'],
    ['POST', '/screening/options', 'GET, HEAD'],
    ['PATCH', '/v1/sessions', 'POST'],
    ['DELETE', '/tsp/webhooks', 'GET, HEAD, POST'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ])('405 for %s %s, with Allow: %s', async (method, path, allow) => {
    const reply = await service.request(method, path);
    expect([...told(reply), reply.headers.get('allow')]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      `No route ${method} ${path}: this path takes ${allow}; documents: ${service.baseUrl}/docs`,
      allow,
    ]);
  });

  it('does not reveal routes that must stay hidden from strangers', async () => {
    for (const path of ['/metrics', '/internal/processor/events'])
      expect((await service.request('PUT', path, { headers: { forwarded: 'for=x' } })).status).toBe(404);
  });

  it('is not used by the direct API, which answers 404/121', async () => {
    const reply = await service.request('PATCH', '/api/idv/renters/x/report-expiry');
    expect([reply.status, reply.body.errors[0].errorCode, reply.headers.get('allow')]).toEqual([404, 121, null]);
  });
});

describe('HEAD', () => {
  it('is answered like GET without the body, on routes without side effects', async () => {
    for (const path of [
      '/screening/options',
      '/.well-known/jwks.json',
      '/health/live',
      '/docs',
      '/openapi.json',
      '/',
    ]) {
      const [head, get] = [await service.request('HEAD', path, { headers: demo.headers }), await demo.get(path)];
      expect([path, head.status, head.text]).toEqual([path, 200, '']);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    }
  });

  it('is answered with 405 for reports, for PDFs and for a GET that may record an event', async () => {
    const { id } = (await demo.submit()).body;
    for (const path of [
      `/reports/${id}`,
      `/reports/pdf/${id}`,
      `/voie/sessions/${id}/report`,
      `/v1/reports/${id}`,
      `/screening/${id}/status`,
      `/v1/screenings/${id}/status`,
    ]) {
      const reply = await service.request('HEAD', path, { headers: demo.headers });
      expect([path, reply.status, reply.headers.get('allow')]).toEqual([path, 405, 'GET']);
    }
  });
});

describe('UNSUPPORTED_MEDIA_TYPE', () => {
  it.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain', 'text'])(
    '415 for a body of the type %s, with the right type in the message',
    async (type) => {
      const replies = [
        await service.request('POST', '/screening/submit', {
          headers: { ...demo.headers, 'content-type': type },
          body: 'firstName=Robin',
        }),
        await service.request('POST', '/v1/sessions', {
          headers: { 'x-secret-key': accounts.demo.secretKey, 'content-type': type },
          body: 'user_type=RENTER',
        }),
      ];
      for (const reply of replies)
        expect(told(reply)).toEqual([
          415,
          'UNSUPPORTED_MEDIA_TYPE',
          'The body must be JSON. Send it with Content-Type: application/json.',
        ]);
    },
  );

  it('is not used by the direct API, which answers 400/121', async () => {
    const headers = { 'x-api-key': accounts.demo.apiKey, 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await service.request('POST', '/api/idv/renters/x', { headers, body: 'firstName=Robin' });
    expect([reply.status, reply.body.errors[0].errorCode]).toEqual([400, 121]);
  });
});

describe('the documents of the API', () => {
  it('are linked from GET / and from every error', async () => {
    const start = await service.request('GET', '/');
    expect([start.status, start.body.documents, start.headers.get('link')]).toEqual([
      200,
      `${service.baseUrl}/docs`,
      `<${service.baseUrl}/docs>; rel="service-doc"`,
    ]);
    const reply = (await (await fetch(`${service.baseUrl}/nowhere`)).json()) as { error: { doc_url: string } };
    expect(reply.error.doc_url).toBe(`${service.baseUrl}/docs/errors#NOT_FOUND`);
    const page = await service.request('GET', '/docs/errors');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const code of ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'AUTH_UNAUTHORIZED'])
      expect(page.text.split(` id="${code}"`)).toHaveLength(2);
  });
});

describe('Service-Warnings', () => {
  const warningsOf = (reply: Reply): string | null => reply.headers.get('service-warnings');

  it('names the fields of a body that the service ignores, in the test environment', async () => {
    expect(warningsOf(await demo.submit({ phonetype: 'mobile', nickname: 'R' } as object))).toBe(
      'unknown fields: phonetype, nickname',
    );
    expect(warningsOf(await demo.submit())).toBeNull();
  });

  it('lists at most ten plain names, and counts the others', async () => {
    const fields = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`field${at}`, 1]));
    const reply = await demo.post('/screening/submit', { 'with\r\nbreak': 1, ['x'.repeat(65)]: 1, ...fields });
    expect(warningsOf(reply)).toBe(
      `unknown fields: ${Array.from({ length: 10 }, (_, at) => `field${at}`).join(', ')}, 4 more`,
    );
  });

  it('names the query parameters of a list that the service ignores, in the test environment', async () => {
    const listed = (query: string, secretKey: string | undefined): Promise<Reply> =>
      service.request('GET', `/v1/screenings?${query}`, { headers: { 'x-secret-key': secretKey ?? '' } });
    const { secretKey, liveSecretKey } = accounts.demo;
    expect(warningsOf(await listed('statuss=BLOCKED&limit=1&__proto__=1', secretKey))).toBe(
      'unknown query parameters: statuss',
    );
    expect(warningsOf(await listed('status=BLOCKED', secretKey))).toBeNull();
    expect(warningsOf(await listed('statuss=BLOCKED', liveSecretKey))).toBeNull();
  });

  it('is empty in the live environment', async () => {
    const reply = await service.request('POST', '/v1/sessions', {
      headers: { 'x-secret-key': accounts.demo.liveSecretKey ?? '' },
      body: { phonetype: 'mobile' },
    });
    expect([reply.status, warningsOf(reply)]).toEqual([200, null]);
  });
});
