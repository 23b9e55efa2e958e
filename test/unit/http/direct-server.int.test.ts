// The API surface of the direct API on a real server, with routes that the test controls
// (docs/contract/direct.md#envelope, #errors).
import 'reflect-metadata';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, ForbiddenException, Get, HttpCode, Module, Param, Post, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { Clock, SystemClock } from '../../../src/kernel/clock.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { serveSurfaces } from '../../../src/platform/http/serve-surfaces.js';
import { createServer } from '../../../src/platform/http/server.js';
import { createLog } from '../../../src/platform/observability/log.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { type Beginning, IdempotencyRecords } from '../../../src/ports/idempotency-records.js';
import { AccessKeys } from '../../../src/published/access-keys.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import { ApiKeys } from '../../../src/surfaces/direct.js';
import { passOn, success } from '../../../src/surfaces/direct/envelope.js';
import { PlatformTokens } from '../../../src/surfaces/platform.js';
import { DashboardTokens } from '../../../src/surfaces/dashboard.js';
import { SecretKeys } from '../../../src/surfaces/server.js';

const KEY = 'sesame-7Zx4';
const RENTER = 'jane.roe@example.test';

let act: (reply: FastifyReply, id: string) => unknown;

@Controller('api/idv/renters')
class Renters {
  @Get(':renterId')
  read(@Param('renterId') id: string, @Res({ passthrough: true }) reply: FastifyReply): unknown {
    return act(reply, id);
  }

  @Post(':renterId')
  @HttpCode(200)
  register(
    @Param('renterId') id: string,
    @Body() _body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): unknown {
    return act(reply, id);
  }
}

@Controller('api/pay/payment')
class Payments {
  @Post('checkout-session')
  @HttpCode(200)
  pay(@Body() _body: unknown, @Res({ passthrough: true }) reply: FastifyReply): unknown {
    return act(reply, '');
  }
}

interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: { readonly payload: unknown; readonly errors: readonly Record<string, unknown>[] };
}

describe('the direct surface', () => {
  const apps: NestFastifyApplication[] = [];
  const logged: string[] = [];
  const metrics = new Metrics();
  let beginning: Beginning;
  let port: number;
  let tlsOnlyPort: number;

  async function serve(requireTls: boolean): Promise<number> {
    const keys = {
      authenticate: async (kind: string, key: string) =>
        kind === 'api' && key === KEY ? { keyId: 'key', accountId: 'account', environment: 'test' } : null,
    };
    const others = [PlatformTokens, SecretKeys, DashboardTokens].map((provide) => ({ provide, useValue: {} }));
    const providers = [
      ApiKeys,
      ...others,
      { provide: AccessKeys, useValue: keys },
      { provide: Clock, useClass: SystemClock },
      { provide: IdempotencyRecords, useValue: { begin: async () => beginning } },
    ];
    @Module({ controllers: [Renters, Payments], providers })
    class App {}
    const log = createLog('debug', 'api', { write: (line: string) => void logged.push(line) });
    const server = createServer({ surfaces: SURFACES, trustedProxies: [], requireTls, tls: null, log, metrics });
    const app = await NestFactory.create<NestFastifyApplication>(App, server, { logger: false, bodyParser: false });
    serveSurfaces(app, SURFACES, log);
    await app.listen(0, '127.0.0.1');
    apps.push(app);
    return (app.getHttpServer().address() as AddressInfo).port;
  }

  beforeAll(async () => {
    port = await serve(false);
    tlsOnlyPort = await serve(true);
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
  });
  beforeEach(() => {
    act = () => success({ done: true });
    beginning = { kind: 'reused' };
    logged.length = 0;
  });

  async function send(method: string, path: string, body?: string, headers = {}, at = port): Promise<Told> {
    const reply = await fetch(`http://127.0.0.1:${at}${path}`, {
      method,
      headers: { 'x-api-key': KEY, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, body: JSON.parse(text) };
  }
  const isEnvelope = ({ body, text, headers }: Told, path: string): void => {
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(Object.keys(body)).toEqual(path.startsWith('/api/pay') ? ['errors', 'payload'] : ['payload', 'errors']);
    expect(body.payload).toBeNull();
    expect(body.errors).toEqual([
      { errorCode: expect.any(Number), errorOnField: null, errorMessage: expect.any(String) },
    ]);
    expect(text).not.toContain(KEY);
  };

  it('has an empty list of errors on success', async () => {
    expect((await send('POST', '/api/idv/renters/r-1', '{}')).text).toBe('{"payload":{"done":true},"errors":[]}');
  });

  it("passes on a vendor's JSON byte for byte, even for wrong answers", async () => {
    const json = '{ "score": 7.50, "big": 12345678901234567890, "text": "\\u00e9" }';
    act = (reply) => passOn(reply, json);
    const right = await send('GET', '/api/idv/renters/r-1');
    expect([right.status, right.text]).toEqual([200, `{"payload":${json},"errors":[]}`]);
    expect(right.headers.get('content-type')).toBe('application/json; charset=utf-8');
    act = (reply) => passOn(reply, json, 422);
    const wrong = await send('POST', '/api/idv/renters/r-1', '{}');
    expect([wrong.status, wrong.text]).toEqual([422, `{"payload":${json},"errors":[]}`]);
  });

  const renter = '/api/idv/renters/r-1';
  const checkout = '/api/pay/payment/checkout-session';
  const tooLarge = JSON.stringify('x'.repeat(300_000));
  it.each<[string, string, string, string | undefined, object, number, number]>([
    ['no key', 'POST', renter, '{}', { 'x-api-key': '' }, 403, 324],
    ['a wrong key', 'POST', checkout, '{}', { 'x-api-key': 'wrong' }, 403, 324],
    ['a body that is not JSON', 'POST', renter, '{"broken', {}, 400, 121],
    ['a body that is not JSON', 'POST', checkout, '{"broken', {}, 400, 121],
    [
      'a body of another type',
      'POST',
      renter,
      'a=b',
      { 'content-type': 'application/x-www-form-urlencoded' },
      400,
      121,
    ],
    ['a body that is nested too deep', 'POST', renter, '['.repeat(40) + ']'.repeat(40), {}, 400, 121],
    ['a body that is too large', 'POST', renter, tooLarge, {}, 413, 121],
    ['a body that is too large', 'POST', checkout, tooLarge, {}, 413, 413],
    ['an unknown path', 'GET', '/api/idv/no/such', undefined, {}, 404, 121],
    ['an unknown path', 'POST', '/api/pay/none', '{}', {}, 404, 404],
    ['an unknown path', 'GET', '/api/none', undefined, {}, 404, 121],
    ['another method', 'DELETE', renter, undefined, {}, 404, 121],
    ['a path that cannot be decoded', 'GET', '/api/idv/renters/%zz', undefined, {}, 404, 121],
    ['a path that cannot be decoded', 'POST', '/api/pay/%ff', '{}', {}, 404, 404],
    ['an unknown id', 'GET', `/api/idv/renters/${'x'.repeat(2_000)}`, undefined, {}, 404, 121],
    ['an idempotency key that was used with another body', 'POST', renter, '{}', { 'idempotency-key': 'k' }, 409, 121],
    [
      'an idempotency key that was used with another body',
      'POST',
      checkout,
      '{}',
      { 'idempotency-key': 'k' },
      409,
      409,
    ],
  ])('answers in its envelope to %s (%s)', async (_, method, path, body, headers, status, code) => {
    const told = await send(method, path, body, headers);
    expect([told.status, told.body.errors[0]?.['errorCode']]).toEqual([status, code]);
    isEnvelope(told, path);
    if (status === 413) expect(told.text).toContain('"The request body may have 32,000 bytes at most."');
  });

  it.each<[string, string, Error, number, number, string | null]>([
    ['an internal error', renter, new Error(RENTER), 500, 130, null],
    ['an internal error', checkout, new Error(RENTER), 500, 500, null],
    ['an outage of the service', renter, new Unavailable('away'), 503, 130, '5'],
    ['an unavailable processor', checkout, new Unavailable('away'), 503, 503, '5'],
    ['a slow vendor', renter, new DomainError('service.upstream_timeout'), 504, 131, '5'],
    ['an unavailable vendor', renter, new DomainError('vendor.unreachable'), 502, 131, null],
    ['too many requests', renter, new DomainError('request.rate_limited', { retryAfterSeconds: 9 }), 429, 121, '9'],
    ['a refusal of the framework', renter, new ForbiddenException(), 403, 121, null],
  ])('answers in its envelope when a handler throws: %s (%s)', async (_, path, error, status, code, retryAfter) => {
    act = () => {
      throw error;
    };
    const told = await send('POST', path, '{}');
    expect([told.status, told.body.errors[0]?.['errorCode'], told.headers.get('retry-after')]).toEqual([
      status,
      code,
      retryAfter,
    ]);
    isEnvelope(told, path);
    expect(told.text).not.toContain(RENTER);
  });

  it("logs an internal error as an error, and a vendor's refusal with the same status as a warning", async () => {
    const levels = (): unknown[] => logged.map((line) => JSON.parse(line).level).filter((level) => level !== 'info');
    act = () => {
      throw new Error('a fault');
    };
    expect((await send('POST', renter, '{}')).status).toBe(500);
    expect(levels()).toEqual(['error']);
    const reply = { status: 500, body: '{}', code: 1010, field: null, message: null };
    act = () => {
      throw new DomainError('vendor.refused', { vendor: { reply, step: 'answers' } });
    };
    expect((await send('POST', renter, '{}')).status).toBe(500);
    expect(levels()).toEqual(['error', 'warn']);
  });

  it.each(['/api/idv/renters/r-1', '/api/pay/payment/checkout-session'])('refuses plain HTTP at %s', async (path) => {
    const told = await send('POST', path, '{}', {}, tlsOnlyPort);
    expect(told.status).toBe(403);
    isEnvelope(told, path);
  });

  it('accepts ids of 128 characters of any kind, and decodes them once', async () => {
    act = (_reply, id) => success(id);
    for (const id of ['\u{1f600}'.repeat(128), 'a/b?c#d', '50%25', ' ', '%2e', 'é'])
      expect(
        (await send('GET', `/api/idv/renters/${encodeURIComponent(id).replaceAll('.', '%2E')}`)).body.payload,
      ).toBe(id);
  });

  it('refuses an unauthenticated caller before it reads the body', async () => {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
    socket.write(
      `POST ${renter} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n[`,
    );
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 403 [^]*"errorCode":324/);
  });

  it("neither logs nor counts keys and integrators' ids", async () => {
    const path = `/api/idv/renters/${encodeURIComponent(RENTER)}`;
    await send('POST', `${path}?excludeBackground=${RENTER}`, '{}');
    await send('POST', path, '{"broken');
    await send('GET', `${path}/no/such`);
    await send('GET', `${path}%zz`);
    await send('POST', path, '{}', { 'x-api-key': 'sesame-other' });
    act = () => {
      throw new Error('a fault');
    };
    await send('GET', path);
    // The framework answers a path that cannot be decoded, and writes no log line for it.
    expect(logged.length).toBeGreaterThanOrEqual(5);
    expect(logged.join('')).toContain('"route":"/api/idv/renters/:renterId"');
    const counted = await metrics.registry.metrics();
    expect(counted).toContain('route="/api/idv/renters/:renterId"');
    for (const text of [logged.join(''), counted]) expect(text).not.toMatch(/jane|sesame|example\.test/);
  });
});
