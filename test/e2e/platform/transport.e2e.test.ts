// The transport of requests: over TLS, through trusted proxies, many at once. The suite also tests the documents with
// which the service describes itself.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../support/eventually.js';
import { eventAbout, intentIn, Processor, signatureOf } from '../../support/processor.js';
import { exchange } from '../../support/raw-http.js';
import { freePort } from '../../support/redis.js';
import { aPerson, type Reply, Service } from '../../support/service.js';

describe('plain HTTP when TLS is required', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ REQUIRE_TLS: 'true', TRUSTED_PROXIES: '127.0.0.2' });
  });
  afterAll(() => service.stop());

  it('is refused with 403 and never redirected', async () => {
    const { status, body, headers } = await service.request('POST', '/auth/token/exchange');
    expect([status, body.error.code, headers.get('location')]).toEqual([403, 'AUTH_FORBIDDEN', null]);
  });

  it('is accepted from a trusted proxy that reports TLS, and from no other sender', async () => {
    const port = Number(new URL(service.baseUrl).port);
    const from = async (localAddress: string): Promise<[number | undefined, string]> => {
      const { replies } = await exchange(
        port,
        'POST /auth/token/exchange HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nContent-Length: 0\r\n\r\n',
        { localAddress },
      );
      return [replies[0]?.status, replies[0]?.body.error.code];
    };
    expect([await from('127.0.0.2'), await from('127.0.0.1')]).toEqual([
      [401, 'MISSING_KEY'],
      [403, 'AUTH_FORBIDDEN'],
    ]);
  });
});

describe('a service with separate ports for internal requests', () => {
  let ports: { readonly INTERNAL_PORT: string; readonly METRICS_PORT: string };
  let service: Service;
  beforeAll(async () => {
    ports = { INTERNAL_PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    service = await Service.start({ ...ports, SERVE_DOCS: 'false' });
  });
  afterAll(() => service.stop());

  it('answers many simultaneous submits of one person within the time limit of production', async () => {
    const [nopay, person] = [await service.signIn('nopay'), aPerson()];
    const replies = await Promise.all(Array.from({ length: 30 }, () => nopay.submit(person)));
    expect(replies.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  });

  it('answers 400 in the envelope to a request target that is not a path, on every port, and keeps running', async () => {
    const { baseUrl, sandboxUrl } = await service.credentials();
    const all = [...Object.values(ports), ...[baseUrl, sandboxUrl].map((url) => new URL(url).port)].map(Number);
    for (const port of all)
      for (const target of ['http://', 'https://x/%', 'http://x/health/live', '*', 'x', '/\xe9']) {
        const { replies, rest } = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
        expect([port, target, replies.length, rest]).toEqual([port, target, 1, '']);
        expect([replies[0]?.status, Object.keys(replies[0]?.body)]).toEqual([400, ['error']]);
        expect(replies[0]?.headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'x-request-id': expect.any(String),
        });
      }
    expect((await service.request('GET', '/health/live')).status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${ports.METRICS_PORT}/metrics`)).status).toBe(200);
  });

  it('does not publish its API description when SERVE_DOCS is off, which is the default in production', async () => {
    for (const path of [
      '/docs',
      '/docs/quick-start.md',
      '/llms.txt',
      '/openapi.json',
      '/openapi.yaml',
      '/openapi/direct.json',
    ])
      expect([path, (await service.request('GET', path)).status]).toEqual([path, 404]);
  });

  it("accepts the processor's events only at INTERNAL_PORT, which serves nothing else", async () => {
    const PATH = '/internal/processor/events';
    const post = (url: string, headers: Record<string, string>, event: string) =>
      fetch(url, { method: 'POST', headers, body: event });
    const away = new Processor(service.sandboxUrl);
    const caller = await service.signIn('demo');
    const { body: session } = await caller.submit();
    const { body } = await caller.post('/payments/create-intent', { amount: 3_500, screeningId: session.id });
    await away.confirm(body.client_secret, 'pm_card_visa');
    await until(
      'the processor has sent the event to the internal port',
      async () => (await caller.status(session.id)).body.overallStatus === 'COMPLETED',
    );
    const event = eventAbout(intentIn(body.client_secret));
    const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(event) };
    const [main, elsewhere] = [
      await service.request('POST', PATH, { headers, body: event }),
      await service.request('POST', '/internal/nothing', { headers, body: event }),
    ];
    expect([main.status, main.text]).toEqual([404, elsewhere.text.replace('/internal/nothing', PATH)]);
    const internal = `http://127.0.0.1:${ports.INTERNAL_PORT}`;
    expect((await post(internal + PATH, headers, event)).status).toBe(200);
    // In the private network, a load balancer may forward the request.
    expect((await post(internal + PATH, { ...headers, 'x-forwarded-for': '10.0.0.7' }, event)).status).toBe(200);
    expect((await post(internal + PATH, { 'content-type': 'application/json' }, event)).status).toBe(400);
    for (const path of ['/health/live', '/metrics', '/openapi.json', '/payments/webhook', '/'])
      expect((await fetch(internal + path)).status).toBe(404);
  });
});

describe("the service's information about itself", () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.shared('plain');
  });
  afterAll(() => service.stop());

  it('gives metrics to this machine, but not through a proxy', async () => {
    const demo = await service.signIn('demo');
    const counted = async (): Promise<{ status: number; text: string; counts: number[] }> => {
      const { status, text } = await service.request('GET', '/metrics');
      const counts = [
        'http_request_duration_seconds_count{method="POST",route="/screening/submit",status="200"} ',
        'vendor_calls_total{vendor="identity-vendor",operation="register",outcome="confirmed",environment="test"} ',
      ].map((name) => Number(text.split(name)[1]?.split('\n')[0] ?? 0));
      return { status, text, counts };
    };
    const before = await counted();
    await demo.submit();
    const { status, text, counts } = await counted();
    expect([status, counts]).toEqual([200, before.counts.map((count) => count + 1)]);
    for (const name of [
      'queue_jobs_waiting{queue="identity-vendor-test"} 0',
      'queue_oldest_job_seconds',
      'projection_lag_seconds{projection="screening_status"}',
      'event_handler_lag_seconds',
      'reaction_lag_seconds',
      'event_append_conflicts_total',
      'event_store_used_ratio',
      'event_store_max_bytes 17179869184',
      'vault_used_bytes',
      'vault_used_ratio',
    ]) {
      expect(text).toContain(name);
    }
    expect((await service.request('GET', '/metrics', { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(
      404,
    );
  });

  it('describes the API in one document for everything, in one for each API surface, and on one page for people', async () => {
    const whole = (await service.request('GET', '/openapi.json')).body;
    expect(Object.keys(whole.paths)).toEqual(
      expect.arrayContaining([
        '/auth/token/exchange',
        '/screening/submit',
        '/screening/{id}/otp',
        '/screening/{id}/otp/resend',
        '/screening/{id}/kba',
        '/screening/{id}/status',
      ]),
    );
    expect(whole.paths['/screening/submit'].post.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/SubmitBody',
    });
    expect((await service.request('GET', '/openapi/platform.json')).body.info.title).toBe('Platform API');
    expect((await service.request('GET', '/docs')).text).toContain('Platform API');
  });

  it('describes the body of each route, even if routes of two API surfaces do the same work', async () => {
    const { paths, components } = (await service.request('GET', '/openapi.json')).body;
    const fieldsOf = (path: string): string[] => {
      const { $ref } = paths[path].post.requestBody.content['application/json'].schema;
      return Object.keys(components.schemas[$ref.slice('#/components/schemas/'.length)].properties).sort();
    };
    expect(fieldsOf('/screening/{id}/otp')).toEqual(['code']);
    expect(fieldsOf('/screening/{id}/kba')).toEqual(['answers']);
    expect(fieldsOf('/api/idv/renters/{renterId}/otp')).toEqual(['code', 'otp']);
    expect(fieldsOf('/api/idv/renters/{renterId}/kba')).toEqual(['kbaAnswers']);
  });

  it('describes numbers as integers, because every number is whole', async () => {
    const whole = (await service.request('GET', '/openapi.json')).body;
    expect(
      placesOf(whole, (value) => (value as { type?: unknown } | null)?.type === 'number').filter(
        (place) => !FOREIGN.test(place),
      ),
    ).toEqual([]);
    for (const [schema, field] of [
      ['SessionResult', 'attemptsRemaining'],
      ['IntentResult', 'amount'],
      ['CreateIntentBody', 'applicationFee'],
      ['TokenBody', 'expires_in'],
      ['GrantResult', 'expires_in'],
    ] as const) {
      expect(whole.components.schemas[schema].properties[field]).toMatchObject({ type: 'integer' });
    }
    expect(whole.paths['/tsp/webhooks/{id}/deliveries'].get.parameters).toContainEqual(
      expect.objectContaining({ name: 'limit', schema: expect.objectContaining({ type: 'integer' }) }),
    );
  });

  it('matches the replies, whose numbers are all whole', async () => {
    const [demo, nopay] = await Promise.all([service.signIn('demo'), service.signIn('nopay')]);
    const { accounts } = await service.credentials();
    const { id } = (await demo.submit({ lastName: 'Kbatest' })).body;
    const verified = (await nopay.submit()).body.id;
    const replies = await Promise.all([
      service.request('POST', '/auth/token/exchange', {
        headers: {
          'x-publishable-key': accounts.demo.publishableKey,
          origin: accounts.demo.allowedOrigins[0] as string,
        },
      }),
      service.request('POST', '/v1/sessions', { headers: { 'x-secret-key': accounts.demo.secretKey } }),
      demo.post(`/screening/${id}/kba`, { answers: [1, 2, 3, 4].map((questionId) => ({ questionId, answerId: 5 })) }),
      demo.post('/payments/create-intent', { amount: 3_500, screeningId: id }),
      nopay.get(`/reports/${verified}`),
    ]);
    expect(replies.map(({ status }: Reply) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const { body } of replies) {
      expect(placesOf(body, (value) => typeof value === 'number').length).toBeGreaterThan(0);
      expect(placesOf(body, (value) => typeof value === 'number' && !Number.isInteger(value))).toEqual([]);
    }
  });
});

/** The part of the API description in which callers choose the names and values. */
const FOREIGN = /\.MintGrantBody\.properties\.metadata/;

function placesOf(value: unknown, holds: (value: unknown) => boolean, place = ''): string[] {
  const here = holds(value) ? [place] : [];
  if (typeof value !== 'object' || value === null) return here;
  return [...here, ...Object.entries(value).flatMap(([name, inner]) => placesOf(inner, holds, `${place}.${name}`))];
}
