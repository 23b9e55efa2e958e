// An additional API surface on a real server, with numeric codes and a credential and envelope of its own.
import 'reflect-metadata';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { Clock, SystemClock } from '../../../src/kernel/clock.js';
import { DomainError, fieldError } from '../../../src/kernel/domain-error.js';
import { ERROR_CODES, type ErrorCode } from '../../../src/kernel/error-codes.js';
import { Authenticator } from '../../../src/platform/http/authenticator.js';
import { serveSurfaces } from '../../../src/platform/http/serve-surfaces.js';
import { createServer } from '../../../src/platform/http/server.js';
import { defineSurface, Surfaces } from '../../../src/platform/http/surface.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { IdempotencyRecords } from '../../../src/ports/idempotency-records.js';
import { open } from '../../../src/surfaces/open.js';
import { STRING_CODES } from '../../../src/surfaces/string-codes.js';

@Injectable()
class ApiKeys extends Authenticator {
  override admit(request: FastifyRequest): void {
    if (request.headers['x-api-key'] !== 'right') throw new DomainError('request.unauthenticated');
    request.principal = { actor: { kind: 'secret-key', id: 'key' }, accountId: 'account', environment: 'test' };
  }
}

const NUMBERS: Partial<Record<ErrorCode, readonly [number, number]>> = {
  'request.unauthenticated': [401, 101],
  'request.unknown_path': [404, 104],
  'request.unreadable_body': [400, 105],
  'request.too_large': [413, 106],
  'request.idempotency_key_reused': [409, 107],
  'screening.address_refused': [422, 138],
};
const entries = (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => {
  const [status, number] = NUMBERS[code] ?? [400, 100];
  return [code, { status, number }] as const;
});

const toy = defineSurface({
  name: 'toy',
  prefixes: { '/toys': {} },
  authenticator: ApiKeys,
  cors: null,
  document: { ...open.document, name: 'toy', title: 'Toys' },
  errors: Object.fromEntries(entries) as Record<ErrorCode, { readonly status: number; readonly number: number }>,
  fields: { ...STRING_CODES.fields, 'address.postalCode': 'zipCode' },
  envelope: ({ number }, { field }) => ({
    payload: null,
    errors: [{ errorCode: number, errorOnField: field ?? null }],
  }),
  errorResult: Object,
  about: [],
  codeOf: ({ number }) => String(number),
  columns: {},
});

@Controller('toys')
class Toys {
  @Post()
  make(@Body() body: unknown): void {
    if (body !== undefined) throw fieldError('screening.address_refused', 'address.postalCode', 'must be real');
  }
}

describe('an additional API surface', () => {
  const surfaces = new Surfaces([toy, open]);
  let app: NestFastifyApplication;
  let port: number;

  beforeAll(async () => {
    const records = { begin: async () => ({ kind: 'reused' }) };
    const providers = [
      ApiKeys,
      { provide: Clock, useClass: SystemClock },
      { provide: IdempotencyRecords, useValue: records },
    ];
    @Module({ controllers: [Toys], providers })
    class App {}
    const log = pino({ level: 'silent' });
    const options = { surfaces, trustedProxies: [], requireTls: false, tls: null, log, metrics: new Metrics() };
    app = await NestFactory.create<NestFastifyApplication>(App, createServer(options), {
      logger: false,
      bodyParser: false,
    });
    serveSurfaces(app, surfaces, log);
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as AddressInfo).port;
  });
  afterAll(() => app.close());

  const json = { 'content-type': 'application/json' };
  it.each<[string, string, Record<string, string>, string, number, number, string | null]>([
    ['a domain error, with its own name for the field', '/toys', {}, '{}', 422, 138, 'zipCode'],
    ['a body that cannot be read', '/toys', {}, '{"broken', 400, 105, null],
    ['a body that is too large', '/toys', {}, JSON.stringify('x'.repeat(300_000)), 413, 106, null],
    ['a path that does not exist', '/toys/no/such', {}, '{}', 404, 104, null],
    ['a path that cannot be decoded', '/toys/%zz', {}, '{}', 404, 104, null],
    ['an idempotency key that is used again', '/toys', { 'idempotency-key': 'k' }, '{}', 409, 107, null],
    ['a stranger', '/toys', { 'x-api-key': 'wrong' }, '{}', 401, 101, null],
  ])('answers in its own envelope to %s', async (_, path, more, body, status, errorCode, errorOnField) => {
    const headers = { ...json, 'x-api-key': 'right', ...more };
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
    expect([reply.status, await reply.json()]).toEqual([
      status,
      { payload: null, errors: [{ errorCode, errorOnField }] },
    ]);
  });

  it('refuses an unauthenticated caller before it reads the body', async () => {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
    socket.write('POST /toys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n[');
    const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 401 [^]*"errorCode":101/);
  });

  it('does not change the other surfaces', async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/elsewhere`);
    expect([reply.status, await reply.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
  });
});
