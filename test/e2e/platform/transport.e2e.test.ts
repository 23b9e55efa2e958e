// How requests may arrive: over TLS, from trusted proxies; and what is told about the service itself.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { selfSignedCertificate } from '../../support/eventstoredb-double/certificate.js';
import { exchange } from '../../support/raw-http.js';
import { freePort } from '../../support/redis.js';
import { Program, type Reply, Service } from '../../support/service.js';

describe('plain HTTP where TLS is required', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ REQUIRE_TLS: 'true', TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => service.stop());

  it('is refused with 403 and never redirected', async () => {
    const { status, body, headers } = await service.request('POST', '/auth/token/exchange');
    expect([status, body.error.code, headers.get('location')]).toEqual([403, 'AUTH_FORBIDDEN', null]);
  });

  it('is taken from a trusted proxy that says it was TLS', async () => {
    const reply = await service.request('POST', '/auth/token/exchange', { headers: { 'x-forwarded-proto': 'https' } });
    expect([reply.status, reply.body.error.code]).toEqual([401, 'MISSING_KEY']);
  });
});

describe('a proxy that is not trusted', () => {
  it('cannot say that it was TLS', async () => {
    const service = await Service.start({ REQUIRE_TLS: 'true' });
    try {
      expect(
        (await service.request('POST', '/auth/token/exchange', { headers: { 'x-forwarded-proto': 'https' } })).status,
      ).toBe(403);
    } finally {
      await service.stop();
    }
  });
});

describe("the service's own TLS", () => {
  it('serves with the configured certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tls-'));
    const { certificate, key } = selfSignedCertificate();
    writeFileSync(join(folder, 'cert.pem'), certificate);
    writeFileSync(join(folder, 'key.pem'), key);
    const service = await Service.start({ ROLE: 'all' });
    const secure = new Program('dist/src/main.js', {
      ...service.env,
      PORT: '0',
      TLS_CERT: join(folder, 'cert.pem'),
      TLS_KEY: join(folder, 'key.pem'),
      REQUIRE_TLS: 'true',
    });
    try {
      secure.spawn();
      let port = 0;
      while (port === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        port = Number(/"address":".*?:(\d+)"[^\n]*"msg":"listening"/.exec(secure.output)?.[1] ?? 0);
        if (!secure.running) throw new Error(secure.output);
      }
      const status = await new Promise<number | undefined>((resolve, reject) => {
        httpsRequest({ host: '127.0.0.1', port, path: '/health/live', rejectUnauthorized: false }, (response) =>
          resolve(response.resume().statusCode),
        )
          .on('error', reject)
          .end();
      });
      expect(status).toBe(200);
    } finally {
      await secure.end('SIGTERM');
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a request target that is no path', () => {
  it('is 400 in the envelope on every port, and the service stays', async () => {
    const ports = { INTERNAL_PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
    const service = await Service.start(ports);
    try {
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
    } finally {
      await service.stop();
    }
  });
});

describe('what the service tells about itself', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start();
    await (await service.signIn('demo')).submit();
  });
  afterAll(() => service.stop());

  it('serves metrics to this machine, and to nobody behind a proxy', async () => {
    const { status, text } = await service.request('GET', '/metrics');
    expect(status).toBe(200);
    for (const name of [
      'http_request_duration_seconds_count{method="POST",route="/screening/submit",status="200"} 1',
      'vendor_calls_total{vendor="identity-vendor",operation="register",outcome="confirmed"} 1',
      'queue_jobs_waiting{queue="identity-vendor-test"} 0',
      'queue_oldest_job_seconds',
      'projection_lag_seconds{projection="screening_status"}',
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

  it('describes the API: one document for everything, one for the door, one page for people', async () => {
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
    expect((await service.request('GET', '/docs')).text).toContain('swagger-ui');
  });

  it('is not described to strangers where SERVE_DOCS says so, which is the default in production', async () => {
    const closed = await Service.start({ SERVE_DOCS: 'false' });
    try {
      for (const path of ['/docs', '/docs/swagger-ui.css', '/openapi.json', '/openapi.yaml', '/openapi/direct.json'])
        expect([path, (await closed.request('GET', path)).status]).toEqual([path, 404]);
    } finally {
      await closed.stop();
    }
  });

  it('describes of each door what that door takes, also where two take bodies for the same purpose', async () => {
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

  it('describes numbers as integers, because all of them are whole', async () => {
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

  it('sends whole numbers only', async () => {
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

/** Where somebody else's names and values are described. */
const FOREIGN = /\.MintGrantBody\.properties\.metadata/;

function placesOf(value: unknown, holds: (value: unknown) => boolean, place = ''): string[] {
  const here = holds(value) ? [place] : [];
  if (typeof value !== 'object' || value === null) return here;
  return [...here, ...Object.entries(value).flatMap(([name, inner]) => placesOf(inner, holds, `${place}.${name}`))];
}

describe('a start with a wrong configuration', () => {
  it('ends with one message that names every wrong variable', async () => {
    const program = new Program('dist/src/main.js', { NODE_ENV: 'production', PORT: 'http', STEP_UP_TTL: '-1' });
    program.spawn();
    expect(await program.ended()).toBe(2);
    const [message = '', ...rest] = program.output.trim().split('\n');
    expect(rest).toEqual([]);
    for (const name of [
      'PORT',
      'STEP_UP_TTL',
      'REDIS_URL',
      'VAULT_MASTER_KEY',
      'JWT_SIGNING_KEY',
      'IDENTITY_VENDOR_URL',
      'IDENTITY_VENDOR_KEY',
      'PUBLIC_URL',
    ])
      expect(message).toContain(name);
  });
});
