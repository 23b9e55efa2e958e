// The edge of HTTP on servers of the test: requests that reach no route, and errors that no handler catches
// (docs/contract/general.md#malformed-requests).
import 'reflect-metadata';
import { once } from 'node:events';
import { get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Header, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { fastify as createFastify, type FastifyInstance } from 'fastify';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { Unavailable } from '../../../src/kernel/unavailable.js';
import { Clock, SystemClock } from '../../../src/kernel/clock.js';
import { Edge } from '../../../src/platform/http/edge.js';
import { Health, serveHealth } from '../../../src/platform/http/health.js';
import { serveInternal } from '../../../src/platform/http/internal-listener.js';
import { serveMetrics } from '../../../src/platform/http/metrics-page.js';
import { serveSurfaces } from '../../../src/platform/http/serve-surfaces.js';
import { createPrivateServer, createServer } from '../../../src/platform/http/server.js';
import { createLog } from '../../../src/platform/observability/log.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { IdempotencyRecords } from '../../../src/ports/idempotency-records.js';
import { SURFACES } from '../../../src/surfaces/all.js';
import { DashboardTokens } from '../../../src/surfaces/dashboard.js';
import { ApiKeys } from '../../../src/surfaces/direct.js';
import { PlatformTokens } from '../../../src/surfaces/platform.js';
import { SecretKeys } from '../../../src/surfaces/server.js';
import { selfSignedCertificate } from '../../support/eventstoredb-double/certificate.js';
import { until } from '../../support/eventually.js';
import { exchange, type RawReply } from '../../support/raw-http.js';

const ORIGIN = 'https://app.example.test';
const ID = 'the-request';
/** The longest path of all routes. */
const LONGEST = 'api/idv/organizations/:organizationId/renters/:renterId/report';
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

let slow: Promise<void>;
let told: Error | null;

@Controller()
class Routes {
  @Post(['api/idv/renters/:id', 'api/pay/payment/checkout-session', 'screening/submit', 'v1/sessions'])
  @HttpCode(200)
  echo(@Body() body: unknown): object {
    return { body: body ?? null, polluted: 'polluted' in {} };
  }

  @Get('v1/slow')
  async wait(): Promise<object> {
    await slow;
    return {};
  }

  @Get(LONGEST)
  refuse(): never {
    const cause = new Unavailable('The event log is full: 17179869184 of 17179869184 bytes used');
    throw new DomainError('service.unavailable', { cause });
  }

  @Get('v1/away')
  away(): never {
    throw new Unavailable('Redis failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) });
  }

  @Get('v1/cached')
  @Header('cache-control', 'public, max-age=300')
  cached(): object {
    return {};
  }
}

/** Accepts every caller. */
const authenticator = { admit: () => undefined };

/** The number of random requests. The second tier has enough time for a higher number. */
const FUZZED = process.env['TIER'] === 'first' ? 2_000 : 10_000;

describe('the edge of HTTP', () => {
  const metrics = new Metrics();
  const apps: NestFastifyApplication[] = [];
  const logged: string[] = [];
  const log = createLog('debug', 'api', { write: (line: string) => void logged.push(line) });
  let privateServer: FastifyInstance;
  let server: Server;
  let port: number;
  let privatePort: number;
  let tlsPort: number;

  async function serve(tls: { cert: Buffer; key: Buffer } | null): Promise<number> {
    const credentials = [ApiKeys, PlatformTokens, SecretKeys, DashboardTokens];
    const providers = [
      ...credentials.map((provide) => ({ provide, useValue: authenticator })),
      { provide: Clock, useClass: SystemClock },
      { provide: IdempotencyRecords, useValue: {} },
    ];
    @Module({ controllers: [Routes], providers })
    class App {}
    const adapter = createServer({ surfaces: SURFACES, trustedProxies: [], requireTls: false, tls, log, metrics });
    const app = await NestFactory.create<NestFastifyApplication>(App, adapter, { logger: false, bodyParser: false });
    serveSurfaces(app, SURFACES, log);
    breakHooks(app.getHttpAdapter().getInstance());
    await app.listen(0, '127.0.0.1');
    apps.push(app);
    return (app.getHttpServer().address() as AddressInfo).port;
  }

  /** Each hook throws an error when a request demands it. */
  function breakHooks(fastify: FastifyInstance): void {
    const breaks = ({ headers }: { headers: object }, hook: string): void => {
      if ('x-break' in headers && headers['x-break'] === hook) throw new Error('a fault of ours');
    };
    for (const name of ['onRequest', 'preValidation', 'preHandler', 'onResponse'])
      fastify.addHook(name as 'onRequest', (request, _reply, done) => {
        breaks(request, name);
        done();
      });
    for (const name of ['preParsing', 'preSerialization', 'onSend', 'onError'])
      fastify.addHook(name as 'onSend', (request, _reply, payload, done) => {
        breaks(request, name);
        done(null, payload);
      });
    fastify.addHook('onSend', (request, reply, payload, done) => {
      if (request.headers['x-break'] === 'header') void reply.header('x-odd', 'two\r\nlines');
      if (request.headers['x-break'] === 'done') done(new Error('a fault of ours'));
      else done(null, payload);
    });
  }

  beforeAll(async () => {
    port = await serve(null);
    server = apps[0]!.getHttpServer() as Server;
    const { certificate, key } = selfSignedCertificate();
    tlsPort = await serve({ cert: Buffer.from(certificate), key: Buffer.from(key) });
    privateServer = createPrivateServer(SURFACES, log);
    serveHealth(privateServer, new Health());
    serveMetrics(privateServer, metrics, () => true);
    serveInternal(privateServer, [
      {
        paths: ['/internal/told'],
        receive: async () => {
          if (told) throw told;
        },
      },
    ]);
    await privateServer.listen({ host: '127.0.0.1', port: 0 });
    privatePort = (privateServer.server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await privateServer.close();
    for (const app of apps) await app.close();
  });
  beforeEach(() => {
    slow = Promise.resolve();
    told = null;
    logged.length = 0;
  });

  const ask = (line: string, headers: readonly string[] = [], body = ''): string =>
    [line, 'Host: x', `X-Request-Id: ${ID}`, `Origin: ${ORIGIN}`, ...headers, '', body].join('\r\n');
  async function only(bytes: string, at = port, tls = false): Promise<RawReply> {
    const { replies, rest } = await exchange(at, bytes, { tls });
    expect([replies.length, rest]).toEqual([1, '']);
    return replies[0]!;
  }
  /** The error code in an envelope of either kind. */
  const codeOf = ({ body }: RawReply): unknown => body?.error?.code ?? body?.errors?.[0]?.errorCode;
  function expectEnvelope(reply: RawReply, id: unknown = ID): void {
    expect(reply.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': id });
    expect(Object.keys(reply.body).sort().join()).toMatch(/^(?:error|errors,payload)$/);
  }

  describe('a client that opens silent connections', () => {
    const edge = new Edge(SURFACES, log, false, 6);
    const small = createFastify(edge.options());
    const open: Socket[] = [];
    let closed = 0;
    const silentFrom = async (localAddress: string): Promise<void> => {
      const socket = connect({ host: '127.0.0.1', port: (small.server.address() as AddressInfo).port, localAddress });
      socket.on('error', () => undefined).on('close', () => (closed += 1));
      open.push(socket);
      await once(socket, 'connect');
    };
    const answered = async (localAddress: string): Promise<boolean> => {
      const request = get({
        host: '127.0.0.1',
        port: (small.server.address() as AddressInfo).port,
        localAddress,
        agent: false,
      });
      return once(request, 'response').then(
        ([response]) => (response as IncomingMessage).resume() !== undefined,
        () => false,
      );
    };
    beforeAll(() => small.listen({ host: '127.0.0.1', port: 0 }));
    afterAll(async () => {
      for (const socket of open) socket.destroy();
      await small.close();
    });

    it('gets at most half of the connections, and addresses with an earlier request are still served', async () => {
      expect(await answered('127.0.0.2')).toBe(true);
      for (let count = 0; count < 8; count += 1) await silentFrom('127.0.0.3');
      await until(() => closed === 5);
      expect(await answered('127.0.0.4')).toBe(false);
      for (let count = 0; count < 20; count += 1) expect(await answered('127.0.0.2')).toBe(true);
      // When an address with an earlier request opens the connections, its oldest connections are closed first.
      for (let count = 0; count < 20; count += 1) await silentFrom('127.0.0.2');
      await until(() => closed >= 5 + 20);
      expect(await answered('127.0.0.2')).toBe(true);
    });

    it('cannot keep more than half by sending one request on each: the other connections are closed with the reply', async () => {
      for (const socket of open) socket.destroy();
      await until(async () => (await new Promise<number>((is) => small.server.getConnections((_, n) => is(n)))) === 0);
      const closing: boolean[] = [];
      for (let count = 0; count < 5; count += 1) {
        await silentFrom('127.0.0.2');
        const socket = open.at(-1)!;
        socket.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
        const [head] = (await once(socket, 'data')) as [Buffer];
        closing.push(/^connection: close/im.test(head.toString()));
      }
      expect(closing).toEqual([false, false, false, true, true]);
    });
  });

  describe('a target that is not a path', () => {
    const targets = [
      ...['http://', 'https://', 'http://x', 'http://x/', 'http://x/%', 'https://x/%zz', 'http://x/a%80', 'http:///%'],
      ...['http://x/nowhere', 'http://x/api/idv/renters/r', 'http://x/health/live', 'HTTP://x/', 'ftp://x/%', '*'],
    ];
    it.each(targets)('is answered 400 in the envelope on every port: %s', async (target) => {
      for (const method of ['GET', 'OPTIONS', 'POST'])
        for (const at of [port, privatePort]) {
          const reply = await only(ask(`${method} ${target} HTTP/1.1`), at);
          expect([reply.status, codeOf(reply)]).toEqual([400, 'VALIDATION_ERROR']);
          expectEnvelope(reply);
        }
    });

    it('is refused as fast when a header has a long run of spaces, like every refused request', async () => {
      const cpuOf = async (filler: string): Promise<number> => {
        const before = process.cpuUsage();
        const header = `origin:${filler.repeat(60_000)}\x80`;
        expect((await only(ask('FOO / HTTP/1.1').replace('Host: x', header))).status).toBe(400);
        const { user, system } = process.cpuUsage(before);
        return user + system;
      };
      const letters = await cpuOf('y');
      // Times are in microseconds. A pattern that backtracks needed four seconds for the spaces.
      for (const filler of [' ', '\t', ' \t']) expect(await cpuOf(filler)).toBeLessThan(20 * letters + 500_000);
    });

    it.each(['x', 'x:443', '', '%2f', 'api/idv'])('is answered 400 when the parser refuses it: %s', async (target) => {
      for (const at of [port, privatePort]) {
        const reply = await only(ask(`GET ${target} HTTP/1.1`), at);
        expect([reply.status, codeOf(reply)]).toEqual([400, 'VALIDATION_ERROR']);
        expectEnvelope(reply);
      }
    });

    it('is answered 400 when it asks for a tunnel, and the connection ends', async () => {
      for (const target of ['x:443', '/api', 'http://x/'])
        for (const at of [port, privatePort]) {
          const reply = await only(ask(`CONNECT ${target} HTTP/1.1`), at);
          expect([reply.status, reply.headers['connection']]).toEqual([400, 'close']);
          expectEnvelope(reply);
        }
    });

    it('is answered 400 with HTTP version 1.0, with an expectation and over TLS', async () => {
      for (const bytes of ['GET http:// HTTP/1.0\r\n\r\n', ask('GET http:// HTTP/1.1', ['Expect: bogus'])])
        expectEnvelope(await only(bytes), expect.any(String));
      const reply = await only(ask('GET https:// HTTP/1.1'), tlsPort, true);
      expect(reply.status).toBe(400);
      expectEnvelope(reply);
    });
  });

  describe('a malformed request', () => {
    const long = 'a'.repeat(20_000);
    const longer = 'a'.repeat(50_000);
    const cases: [string, string, number][] = [
      ['an unknown method', ask('FOO {} HTTP/1.1'), 400],
      ['a method in lower case', ask('get {} HTTP/1.1'), 400],
      ['a header of 20 kB', ask('GET {} HTTP/1.1', [`X-Long: ${long}`]), 431],
      ['a header of 50 kB', ask('GET {} HTTP/1.1', [`X-Long: ${longer}`]), 431],
      ['3,000 headers', ask('GET {} HTTP/1.1', Array<string>(3_000).fill('Abc: defghi')), 431],
      ['a URL of 20 kB', ask(`GET {}?${long} HTTP/1.1`), 414],
      ['a URL of 50 kB', ask(`GET {}?${longer} HTTP/1.1`), 414],
      ['a length beside chunks', ask('POST {} HTTP/1.1', ['Content-Length: 5', 'Transfer-Encoding: chunked']), 400],
      ['two lengths', ask('POST {} HTTP/1.1', ['Content-Length: 5', 'Content-Length: 6']), 400],
      ['a length that is not a number', ask('POST {} HTTP/1.1', ['Content-Length: five']), 400],
      ['a path with raw bytes', ask('GET {}/\xe9 HTTP/1.1'), 400],
      ['an unknown version', ask('GET {} HTTP/7.7'), 400],
      ['a header without a name', ask('GET {} HTTP/1.1', [': x']), 400],
      ['lines that end with LF', ask('GET {} HTTP/1.1').replaceAll('\r', ''), 400],
      ['an unknown expectation', ask('POST {} HTTP/1.1', ['Expect: bogus']), 417],
      ['two hosts', ask('GET {} HTTP/1.1', ['host: y']), 400],
      ['no host', ask('GET {} HTTP/1.1').replace('Host: x\r\n', ''), 400],
      ['bad chunks', ask('POST {} HTTP/1.1', ['Transfer-Encoding: chunked'], 'zz\r\n'), 400],
      ['a long extension', ask('POST {} HTTP/1.1', ['Transfer-Encoding: chunked'], `1;${long}\r\n`), 413],
    ];
    const surfaces: [string, unknown[]][] = [
      ['/api/idv/renters/r-1', [121]],
      ['/api/pay/payment/checkout-session', [400, 431, 414, 417, 413]],
      ['/screening/submit', CODES()],
      ['/v1/sessions', CODES()],
      ['/', CODES()],
    ];
    function CODES(): string[] {
      return [
        ...['VALIDATION_ERROR', 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'URI_TOO_LONG', 'EXPECTATION_FAILED'],
        'PAYLOAD_TOO_LARGE',
      ];
    }

    it.each(cases)('is answered in the envelope of its path: %s', async (_, bytes, status) => {
      for (const [path, codes] of surfaces) {
        // No route of this path reads a body.
        if (path === '/' && bytes.includes('Transfer-Encoding: chunked\r\n\r\n')) continue;
        const reply = await only(bytes.replace('{}', path));
        expect([path, reply.status]).toEqual([path, status]);
        expect(codes).toContain(codeOf(reply));
        expectEnvelope(reply);
        if ([413, 414, 431].includes(status))
          expect(reply.text).toMatch(
            /The (URL with all headers|extensions of the body's chunks) may have 16,384 bytes at most\./,
          );
        const readable = path.startsWith('/screening') ? { vary: 'Origin', 'access-control-allow-origin': ORIGIN } : {};
        expect(reply.headers).toMatchObject(readable);
        if (!path.startsWith('/screening')) expect(reply.headers['access-control-allow-origin']).toBeUndefined();
      }
    });

    it.each(cases)('is answered in the same way over TLS and on the private port: %s', async (_, bytes, status) => {
      const reply = await only(bytes.replace('{}', '/api/idv/renters/r-1'), tlsPort, true);
      expectEnvelope(reply, expect.any(String));
      // The fault is in a later TLS record. The path is in an earlier record.
      if (bytes.includes(longer)) expect(reply.status).toBe(431);
      else expect([reply.status, codeOf(reply)]).toEqual([status, 121]);
      expectEnvelope(await only(bytes.replace('{}', '/internal/told'), privatePort));
    });

    it('is answered in the default envelope when it has no readable path', async () => {
      for (const bytes of [
        '\0\0\0\0',
        '\r\n\r\n\0',
        'GET',
        'GET /api/idv\0',
        '{"a":1}\r\n\r\n',
        '\x16\x03\x01\x02\x00',
      ])
        for (const at of [port, privatePort]) {
          const reply = await only(`${bytes}\0`, at);
          expect(reply.status).toBe(400);
          expectEnvelope(reply, expect.any(String));
        }
    });

    it('is answered after the earlier requests on the connection', async () => {
      let go = (): void => undefined;
      slow = new Promise((resolve) => (go = resolve));
      const bytes = `${ask('GET /v1/slow HTTP/1.1')}get /api/idv/renters/r-1 HTTP/1.1\r\nHost: x\r\n\r\n`;
      const came = exchange(port, bytes, { replies: 2 });
      await once(server, 'request');
      setImmediate(go);
      const { replies, rest } = await came;
      expect([replies.map(({ status }) => status), rest]).toEqual([[200, 400], '']);
      expect(codeOf(replies[1]!)).toBe(121);
    });

    it('is answered after the earlier requests when its body is malformed', async () => {
      let go = (): void => undefined;
      slow = new Promise((resolve) => (go = resolve));
      const bad = ask('POST /api/idv/renters/r-1 HTTP/1.1', ['Transfer-Encoding: chunked'], 'zz\r\n');
      const came = exchange(port, ask('GET /v1/slow HTTP/1.1') + bad, { replies: 2 });
      await once(server, 'request');
      setImmediate(go);
      const { replies, rest } = await came;
      expect([replies.map(({ status }) => status), rest]).toEqual([[200, 400], '']);
      expect(codeOf(replies[1]!)).toBe(121);
    });

    it('is answered once when the reply was sent before the malformed part of the body', async () => {
      const bytes = ask('POST /v1/nowhere HTTP/1.1', ['Transfer-Encoding: chunked'], 'zz\r\n');
      const { replies, rest } = await exchange(port, bytes, { replies: 2 });
      expect([replies.map(({ status }) => status), rest]).toEqual([[404], '']);
    });

    it('is answered 408 in the envelope of its path when the rest of the request does not arrive', async () => {
      for (const [bytes, code] of [
        ['', 'REQUEST_TIMEOUT'],
        ['GET /v1/slow HTTP/1.1\r\n', 'REQUEST_TIMEOUT'],
        [ask('POST /api/idv/renters/r-1 HTTP/1.1', ['Content-Length: 9'], '{'), 121],
      ] as const) {
        const began = bytes.includes('\r\n\r\n') ? once(server, 'request') : null;
        const connected = once(server, 'connection') as Promise<[Socket]>;
        const came = exchange(port, bytes);
        const [socket] = await connected;
        await began;
        // Node emits this error when a request takes too long.
        server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
        const { replies } = await came;
        expect(replies.map((reply) => [reply.status, codeOf(reply)])).toEqual([[408, code]]);
        expectEnvelope(replies[0]!, expect.any(String));
      }
    });

    it('gets no answer when it is sent as plain HTTP to a TLS port', async () => {
      for (const bytes of [ask('GET /health/live HTTP/1.1'), '\x16\x03\x01\x00\x05hello'])
        expect(await exchange(tlsPort, bytes)).toMatchObject({ replies: [] });
      expect((await only(ask('GET /v1/slow HTTP/1.1'), tlsPort, true)).status).toBe(200);
    });

    it('leaves one log line of at most 300 bytes with the cause of the error after a 503', async () => {
      for (const [route, cause] of [
        [`/${LONGEST}`, 'The'],
        ['/v1/away', 'ECONNREFUSED'],
      ] as const) {
        logged.length = 0;
        expect((await only(ask(`GET ${route.replaceAll(':', '')} HTTP/1.1`))).status).toBe(503);
        await until(() => logged.length > 0);
        expect(logged).toHaveLength(1);
        expect(JSON.parse(logged[0]!)).toMatchObject({ level: 'warn', route, status: 503, msg: 'request' });
        expect(JSON.parse(logged[0]!).cause).toMatch(new RegExp(`^${cause}`));
        expect(Buffer.byteLength(logged[0]!)).toBeLessThanOrEqual(300);
      }
    });

    it('leaves a log line after a 503 on the private port too', async () => {
      told = new Unavailable('The disk is full');
      expect((await only(ask('POST /internal/told HTTP/1.1'), privatePort)).status).toBe(503);
      await until(() => logged.length > 0);
      expect(JSON.parse(logged[0]!)).toMatchObject({
        level: 'warn',
        route: '/internal/told',
        cause: 'The disk is full',
      });
    });

    it('meets the limits on time and connections on every port, like any other request', () => {
      for (const { headersTimeout, requestTimeout, maxConnections } of [server, privateServer.server])
        expect([headersTimeout, requestTimeout, maxConnections]).toEqual([10_000, 30_000, 10_000]);
    });

    it('gets a reply that is neither cached nor sniffed, like every request whose route does not allow caching, on every port', async () => {
      for (const line of [
        'GET /v1/slow',
        'POST /screening/submit',
        'GET /nowhere',
        'GET /%zz',
        'GET http://',
        'OPTIONS *',
      ])
        for (const at of [port, privatePort, tlsPort]) {
          const { headers } = await only(ask(`${line} HTTP/1.1`), at, at === tlsPort);
          expect([line, headers['cache-control'], headers['x-content-type-options']]).toEqual([
            line,
            'no-store',
            'nosniff',
          ]);
          // After this header, browsers use only TLS for the host.
          expect([line, headers['strict-transport-security']]).toEqual([
            line,
            at === tlsPort ? 'max-age=31536000' : undefined,
          ]);
        }
      const broken = await only('GET / HTTP/1.1\r\nbroken header\r\n\r\n');
      expect([broken.headers['cache-control'], broken.headers['x-content-type-options']]).toEqual([
        'no-store',
        'nosniff',
      ]);
      const { headers } = await only(ask('GET /v1/cached HTTP/1.1'));
      expect([headers['cache-control'], headers['x-content-type-options']]).toEqual(['public, max-age=300', 'nosniff']);
    });

    it('gets a UUID of the service in addition to its own request id, and only the UUID is logged', async () => {
      for (const [given, target] of [
        ['rid-923847561.Quetzalina', '/v1/slow'],
        ['rid-923847561.Quetzalina', '/nowhere'],
        ['rid-923847561.Quetzalina', 'http://'],
        ['rid-923847561.Quetzalina', '/%zz'],
        ['0123456789abcdef0123456789abcdef', '/v1/slow'],
      ] as const)
        for (const at of [port, privatePort]) {
          const own = 'Service-Request-Id: of-the-caller';
          const { headers } = await only(
            `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${given}\r\n${own}\r\n\r\n`,
            at,
          );
          expect(headers['x-request-id']).toBe(given);
          expect(headers['service-request-id']).toMatch(UUID);
        }
      const broken = await only(`GET /v1/slow HTTP/1.1\r\nHost: x\r\nX-Request-Id: a-token\r\nbroken header\r\n\r\n`);
      expect([broken.status, broken.headers['x-request-id']]).toEqual([400, 'a-token']);
      expect(broken.headers['service-request-id']).toMatch(UUID);
      const failed = await only(ask('GET /v1/slow HTTP/1.1', ['X-Break: onRequest']));
      expect(logged.join('')).toContain(`"requestId":"${failed.headers['service-request-id']}"`);
      expect(logged.join('')).not.toMatch(/Quetzalina|0123456789abcdef|of-the-caller|the-request/);
    });

    it("keeps the caller's request id when this id is a UUID", async () => {
      for (const given of ['018f0000-0000-7000-8000-000000000000', '4C9AF2B4-7F4B-4F5C-9D9E-3A3C5E6F7A8B'])
        for (const target of ['/v1/slow', 'http://', '/%zz']) {
          const { headers } = await only(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${given}\r\n\r\n`);
          expect([headers['service-request-id'], headers['x-request-id']]).toEqual([given, given]);
        }
    });

    it("gets a UUID as its request id when the caller's own id is not a plain token", async () => {
      for (const id of ['two words', 'é', 'x'.repeat(129), '<x>', ''])
        for (const target of ['/nowhere', 'http://', '/%zz']) {
          const reply = await only(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`);
          expect(reply.headers['x-request-id']).toMatch(UUID);
          expect(reply.headers['service-request-id']).toBe(reply.headers['x-request-id']);
        }
    });

    it('that asks for an unknown protocol upgrade is served without the upgrade', async () => {
      const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
      expect((await only(ask('GET /v1/slow HTTP/1.1', upgrade))).status).toBe(200);
      expect((await only(ask('GET /health/live HTTP/1.1', upgrade), privatePort)).status).toBe(200);
    });

    it('with the expectation 100-continue is served', async () => {
      const headers = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 2'];
      expect((await only(ask('POST /v1/sessions HTTP/1.1', headers, '{}'))).status).toBe(200);
    });
  });

  describe('an error in a hook or a handler', () => {
    it.each(['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend', 'header', 'done'])(
      'is answered 500 in the envelope of the path: %s',
      async (hook) => {
        for (const [path, code] of [
          ['/api/idv/renters/r-1', 130],
          ['/screening/submit', 'SYSTEM_INTERNAL_ERROR'],
        ] as const) {
          const body = '{"a":1}';
          const headers = [`X-Break: ${hook}`, 'Content-Type: application/json', `Content-Length: ${body.length}`];
          const reply = await only(ask(`POST ${path} HTTP/1.1`, headers, body));
          expect([reply.status, codeOf(reply)]).toEqual([500, code]);
          expectEnvelope(reply);
          expect(reply.text).not.toContain('fault of ours');
        }
        expect(logged.join('')).toContain('request failed');
      },
    );

    it('changes nothing when the reply has been sent or is an error already', async () => {
      expect((await only(ask('GET /v1/slow HTTP/1.1', ['X-Break: onResponse']))).status).toBe(200);
      expect((await only(ask('GET /nowhere HTTP/1.1', ['X-Break: onError']))).status).toBe(404);
    });

    it("is answered 500 when the service's error handler itself throws, and when no route was found", async () => {
      const broken = createPrivateServer(
        Object.assign(Object.create(SURFACES) as typeof SURFACES, {
          reply: (error: never, request: { id: string; url: string; routeOptions?: object }) => {
            if (request.routeOptions) throw new Error('a fault of ours');
            return SURFACES.reply(error, request);
          },
        }),
        log,
      );
      const [serveRequest] = broken.server.listeners('request') as [(...args: unknown[]) => void];
      await broken.listen({ host: '127.0.0.1', port: 0 });
      const at = (broken.server.address() as AddressInfo).port;
      const reply = await only(ask('GET /nowhere HTTP/1.1'), at);
      expect([reply.status, codeOf(reply)]).toEqual([500, 'SYSTEM_INTERNAL_ERROR']);
      const sent: unknown[] = [];
      const response = {
        headersSent: false,
        getHeaderNames: () => [],
        setHeader: () => undefined,
        once: () => undefined,
        writeHead: (status: number) => (sent.push(status), response),
        end: (text: string) => sent.push(JSON.parse(text).error.code),
      };
      // The framework cannot read this request.
      serveRequest({ url: '/x', headers: {}, rawHeaders: ['Host', 'x'], socket: {}, method: 'GET' }, response);
      expect(sent).toEqual([500, 'SYSTEM_INTERNAL_ERROR']);
      await broken.close();
    });
  });

  describe('a request body', () => {
    const post = (headers: readonly string[], body: string, path = '/v1/sessions'): Promise<RawReply> =>
      only(ask(`POST ${path} HTTP/1.1`, [...headers, `Content-Length: ${body.length}`], body));
    const json = (type: string): string => `Content-Type: application/json${type}`;

    it.each([
      '{"a":1,"__proto__":{"polluted":1}}',
      '{"a":1,"\\u005f_proto__":{"polluted":1}}',
      '{"a":1,"\\u005F\\u005f\\u0070roto\\u005f_":null}',
      '{"a":1,"__proto__":"text","__proto__":[]}',
      '{"a":1,"constructor":{"prototype":{"polluted":1}}}',
      '{"a":1,"c\\u006fnstructor":{"prototype":1}}',
    ])('loses the keys that name a prototype: %s', async (body) => {
      const reply = await post([json('')], body);
      expect([reply.status, reply.body]).toEqual([200, { body: { a: 1 }, polluted: false }]);
    });

    it('loses the keys that name a prototype at any depth', async () => {
      const reply = await post([json('')], '{"a":[{"b":{"__proto__":{"polluted":1},"constructor":{"prototype":1}}}]}');
      expect(reply.body).toEqual({ body: { a: [{ b: {} }] }, polluted: false });
    });

    it.each([
      ['Content-Encoding: gzip', json('')],
      ['Content-Encoding: GZIP', json('')],
      ['Content-Encoding: identity, br', json('')],
      ['Content-Encoding: nonsense', json('')],
      [json('; charset=utf-16')],
      [json(';charset="UTF-16"')],
      [json('; Charset=ISO-8859-1')],
      [json('; a=b; charset = latin1')],
      [json("; charset='utf-16le'")],
      [json('; charset=utf-8; charset=utf-16')],
      [json('; charset=utf-7')],
      ['Content-Type: text/plain; charset=utf-16'],
    ])('is refused with 415 in an unsupported encoding or charset: %s %s', async (...headers) => {
      for (const [path, code] of [
        ['/v1/sessions', 'UNSUPPORTED_MEDIA_TYPE'],
        ['/api/idv/renters/r-1', 121],
        ['/api/pay/payment/checkout-session', 415],
      ] as const) {
        const reply = await post(headers, '{"a":1}', path);
        expect([reply.status, codeOf(reply)]).toEqual([415, code]);
        expectEnvelope(reply);
      }
    });

    it.each([
      ['Content-Encoding: identity', json('')],
      ['Content-Encoding: Identity', json('')],
      ['Content-Encoding:', json('')],
      [json('; charset=utf-8')],
      [json(';charset="UTF-8"')],
      [json('; charset=UTF8')],
      [json('; charset=us-ascii')],
      [json('; charset=utf-8; charset=utf-8')],
    ])('is read in a supported encoding and charset: %s %s', async (...headers) => {
      expect((await post(headers, '{"a":1}')).body).toMatchObject({ body: { a: 1 } });
    });

    it('may name any encoding when the body is empty', async () => {
      expect((await post(['Content-Encoding: gzip', json('; charset=utf-16')], '')).status).toBe(200);
    });
  });

  // Guarantee: after any bytes, each connection gets at least one complete reply in an envelope, and the process keeps
  // running.
  it(`answers ${FUZZED} random requests`, async () => {
    const random = numbersFrom(20_261_126);
    const some = <Value>(...values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
    const times = (most: number, make: () => string): string =>
      Array.from({ length: Math.floor(random() * (most + 1)) }, make).join('');
    const byte = (): string => String.fromCharCode(Math.floor(random() * 256));
    const path = (): string =>
      some('/', '/api/idv/renters/r', '/api/pay/x', '/screening/submit', '/v1/sessions', '/health/live', '/metrics') +
      some(
        '',
        '',
        '/%zz',
        '/%',
        '/..',
        '//',
        '?a=1&a=2',
        '#x',
        `/${times(5, byte)}`,
        '/%ff',
        '?%',
        `?${'a'.repeat(9_000)}`,
      );
    const target = (): string =>
      some(
        path,
        path,
        path,
        () => some('*', '', 'x', 'x:1', 'http:', '//', '?', '#', '/%', '\\', 'data:x'),
        () => some('http://', 'https://x', 'ftp://a@') + path(),
      )();
    const header = (): string =>
      some(
        () => 'Host: x',
        () => `Content-Length: ${some('0', '3', '17', '-1', '3, 3', 'x')}`,
        () => `Transfer-Encoding: ${some('chunked', 'gzip', 'chunked, chunked')}`,
        () => `Expect: ${some('100-continue', 'bogus', '')}`,
        () => `Connection: ${some('close', 'keep-alive', 'Upgrade', 'x-request-id')}`,
        () => `Upgrade: ${some('websocket', 'h2c')}`,
        () => `Origin: ${some(ORIGIN, 'null', '', times(9, byte))}`,
        () => `X-Request-Id: ${some('plain', times(9, byte), 'x'.repeat(200))}`,
        () =>
          `Content-Type: ${some('application/json', 'application/json; charset=utf-16', 'nonsense', times(9, byte))}`,
        () => `Content-Encoding: ${some('gzip', 'identity')}`,
        () => `Access-Control-Request-Method: POST`,
        () =>
          `${some('X', times(4, byte), 'Accept-Version', 'Cookie')}: ${some(times(30, byte), 'y'.repeat(some(9, 18_000, 40_000)))}`,
      )();
    const whole = (): string =>
      [
        `${some('GET', 'POST', 'OPTIONS', 'DELETE', 'PUT', 'TRACE', 'CONNECT', 'get', 'FOO', 'PRI', 'QUERY', '')} ${target()} HTTP/${some('1.1', '1.1', '1.1', '1.0', '0.9', '2.0', '9')}`,
        ...(random() < 0.9 ? ['Host: x'] : []),
        ...times(4, () => `${header()}\r\n`).split('\r\n'),
      ]
        .filter((line) => line !== '')
        .join('\r\n') +
      `\r\n\r\n${some('', '', '{}', '{"a":1}', '0\r\n\r\n', '3\r\nabc\r\n0\r\n\r\n', '{"__proto__":1}', times(40, byte))}`;
    const damaged = (text: string): string => {
      const at = Math.floor(random() * text.length);
      return text.slice(0, at) + times(3, byte) + text.slice(at + Math.floor(random() * 3));
    };
    const wrong: unknown[] = [];
    let asked = 0;
    const send = async (): Promise<void> => {
      while (asked < FUZZED) {
        asked += 1;
        const text = times(2, whole) + whole();
        const bytes = random() < 0.3 ? damaged(text) : text;
        // These zero bytes end or break every request.
        const { replies, rest } = await exchange(some(port, port, privatePort), bytes + '\0'.repeat(64), {
          replies: Infinity,
        });
        const bad = replies.filter(
          ({ status, headers, body }) =>
            status >= 500 ||
            headers['x-request-id'] === undefined ||
            !/^[\da-f-]{36}$/i.test(headers['service-request-id'] ?? '') ||
            (status >= 400 &&
              !/^(?:error|errors,payload)$/.test(
                Object.keys(body ?? {})
                  .sort()
                  .join(),
              )),
        );
        if (replies.length === 0 || rest !== '' || bad.length > 0) wrong.push({ bytes, replies, rest });
      }
    };
    await Promise.all(Array.from({ length: 32 }, send));
    expect(wrong.slice(0, 3)).toEqual([]);
    expect((await only(ask('GET /v1/slow HTTP/1.1'))).status).toBe(200);
  }, 240_000);
});

/** The same numbers between 0 and 1 in each run (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
