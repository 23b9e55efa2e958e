// The documents that describe the API. Any caller may read these documents (docs/contract/general.md#documents).
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { serveOpenApi } from '../../../src/surfaces/openapi.js';
import { createServer } from '../../../src/platform/http/server.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { SURFACES } from '../../../src/surfaces/all.js';

@Controller('v1')
class Routes {
  @Get('things')
  things(): object {
    return {};
  }
}

@Module({ controllers: [Routes] })
class App {}

describe('the documents of the API', () => {
  let app: NestFastifyApplication;
  let base: string;
  beforeAll(async () => {
    const adapter = createServer({
      surfaces: SURFACES,
      trustedProxies: [],
      requireTls: false,
      tls: null,
      log: pino({ level: 'silent' }),
      metrics: new Metrics(),
    });
    app = await NestFactory.create<NestFastifyApplication>(App, adapter, { logger: false, bodyParser: false });
    serveOpenApi(app, 'https://api.example.test', SURFACES, true);
    await app.listen(0, '127.0.0.1');
    base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => app.close());

  it.each([
    ['/openapi.json', 'application/json'],
    ['/openapi/direct.json', 'application/json'],
    ['/openapi.yaml', 'text/yaml'],
  ])('cannot be framed by other pages and are not sniffed: %s', async (path, type) => {
    const [first, again] = [await fetch(base + path), await fetch(base + path)];
    for (const { status, headers } of [first, again])
      expect([status, headers.get('content-security-policy'), headers.get('x-content-type-options')]).toEqual([
        200,
        "frame-ancestors 'none'",
        'nosniff',
      ]);
    expect(first.headers.get('content-type')).toContain(type);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect((await again.text()) === (await first.text())).toBe(true);
  });

  it('are serialized once for all requests', async () => {
    const paths = ['/openapi.json', '/openapi/server.json', '/openapi.yaml'];
    for (const path of paths) await (await fetch(base + path)).arrayBuffer();
    const writing = jest.spyOn(JSON, 'stringify');
    for (const path of paths) expect((await (await fetch(base + path)).text()).includes('/v1/things')).toBe(true);
    expect(writing.mock.calls.filter(([value]) => (value as { openapi?: unknown } | null)?.openapi)).toEqual([]);
  });
});
