// Idempotency keys on a test server with a real Redis and a route that the test controls.
import 'reflect-metadata';
import { randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { RedisIdempotencyRecords } from '../../../src/adapters/idempotency-records/redis.js';
import { Clock, SystemClock } from '../../../src/kernel/clock.js';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { Authenticator } from '../../../src/platform/http/authenticator.js';
import { ChangesState } from '../../../src/platform/http/changes-state.js';
import { contextOf } from '../../../src/platform/http/principal.js';
import { serveSurfaces } from '../../../src/platform/http/serve-surfaces.js';
import { createServer } from '../../../src/platform/http/server.js';
import { defineSurface, Surfaces } from '../../../src/platform/http/surface.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { IdempotencyRecords } from '../../../src/ports/idempotency-records.js';
import type { Vault } from '../../../src/ports/vault.js';
import { open } from '../../../src/surfaces/open.js';
import { STRING_CODES } from '../../../src/surfaces/string-codes.js';
import { RedisServer } from '../../support/redis.js';
import { Vaults } from '../../support/vaults.js';

/** The work of the routes. Each test sets this work, and the server counts each run. */
let act: (body: unknown, request: FastifyRequest, reply: FastifyReply) => unknown;
let executions: (string | undefined)[] = [];
/** Whether the routes append an event or call a vendor. */
let does = true;

@Injectable()
class Header extends Authenticator {
  override admit(request: FastifyRequest): void {
    const accountId = request.headers['x-account'];
    if (typeof accountId !== 'string') throw new DomainError('request.unauthenticated');
    request.principal = {
      actor: { kind: 'platform-token', id: 'key' },
      accountId,
      environment: request.headers['x-live'] ? 'live' : 'test',
      ...(typeof request.headers['x-grant'] === 'string' && { grantId: request.headers['x-grant'] }),
      ...(typeof request.headers['x-lineage'] === 'string' && { lineage: request.headers['x-lineage'] }),
    };
  }
}

const surfaces = new Surfaces([
  defineSurface({
    ...STRING_CODES,
    name: 'things',
    prefixes: { '/things': {} },
    authenticator: Header,
    cors: null,
    document: open.document,
  }),
  open,
]);

async function run(body: unknown, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  executions.push(request.idempotencyScope);
  const { effect } = request.principal ? contextOf(request) : {};
  if (effect && does) effect.done = true;
  return act(body, request, reply);
}

@Controller('things')
class Things {
  @Post()
  @HttpCode(200)
  make(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return run(body, request, reply);
  }

  @Post(':id/part')
  part(
    @Param('id') _id: string,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return run(body, request, reply);
  }

  @Get('changing')
  @ChangesState()
  change(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    return run(undefined, request, reply);
  }

  @Get()
  list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<unknown> {
    return run(undefined, request, reply);
  }
}

@Controller('open')
class Open {
  @Post()
  make(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return run(body, request, reply);
  }
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

describe('Idempotency-Key', () => {
  let redis: RedisServer;
  let vaults: Vaults;
  let vault: Vault;
  const apps: NestFastifyApplication[] = [];
  const bases: string[] = [];
  let key: string;
  const logged: string[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    const keys = `k:${randomBytes(32).toString('base64')}`;
    vaults = new Vaults();
    vault = vaults.open(keys);
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
    // Two servers represent two processes of the service.
    for (let at = 0; at < 2; at++) {
      const records = new RedisIdempotencyRecords(
        redis.client(),
        vaults.open(keys),
        { redisLimit: 2_000, waitAtMost: 2_000 },
        { ofVisitor: 2, ofAccount: 0 },
      );
      @Module({
        controllers: [Things, Open],
        providers: [
          Header,
          { provide: IdempotencyRecords, useValue: records },
          { provide: Clock, useClass: SystemClock },
        ],
      })
      class App {}
      const server = createServer({
        surfaces,
        trustedProxies: [],
        requireTls: false,
        tls: null,
        log,
        metrics: new Metrics(),
      });
      const app = await NestFactory.create<NestFastifyApplication>(App, server, { logger: false, bodyParser: false });
      serveSurfaces(app, surfaces, log);
      await app.listen(0, '127.0.0.1');
      apps.push(app);
      bases.push(`http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`);
    }
  });
  afterAll(async () => {
    for (const app of apps) await app.close();
    await redis.stop();
    await vaults.close();
  });
  beforeEach(() => {
    key = randomUUID();
    executions = [];
    does = true;
    logged.length = 0;
    act = () => ({ made: executions.length });
  });

  const post = async (
    body: unknown,
    {
      path = '/things',
      method = 'POST',
      headers = {},
      server = 0,
    }: { path?: string; method?: string; headers?: Record<string, string>; server?: number } = {},
  ): Promise<Reply> => {
    const response = await fetch(`${bases[server]}${path}`, {
      method,
      headers: {
        'x-account': 'a',
        'idempotency-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const isReplay = (reply: Reply): boolean => reply.headers.get('idempotent-replayed') === 'true';
  const expectReplay = (again: Reply, first: Reply): void => {
    expect(isReplay(first)).toBe(false);
    expect(isReplay(again)).toBe(true);
    expect(again.status).toBe(first.status);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
  };

  it('executes a request once, and any process repeats its status and body with Idempotent-Replayed', async () => {
    const first = await post({ a: 1 });
    expect(first).toMatchObject({ status: 200, text: '{"made":1}' });
    for (const server of [0, 1]) expectReplay(await post({ a: 1 }, { server }), first);
    expect(executions).toHaveLength(1);
  });

  it('repeats a reply under a session grant only under the same grant', async () => {
    const under = (grant: string): { headers: Record<string, string> } => ({ headers: { 'x-grant': grant } });
    const first = await post({}, under('g'));
    expectReplay(await post({}, under('g')), first);
    for (const other of [undefined, under('h')]) expect(isReplay(await post({}, other))).toBe(false);
    expect(executions).toHaveLength(3);
    expect(new Set(executions).size).toBe(3);
  });

  it('repeats a reply to one lineage of tokens only to the same lineage', async () => {
    const of = (lineage: string): { headers: Record<string, string> } => ({ headers: { 'x-lineage': lineage } });
    const first = await post({}, of('one'));
    const second = await post({}, of('two'));
    expect([isReplay(second), second.text]).toEqual([false, '{"made":2}']);
    expectReplay(await post({}, of('one')), first);
    expectReplay(await post({}, of('two')), second);
    // A grant identifies one visitor, for all tokens of the grant.
    const granted = await post({}, { headers: { 'x-grant': 'g', 'x-lineage': 'one' } });
    expect(isReplay(granted)).toBe(false);
    expectReplay(await post({}, { headers: { 'x-grant': 'g', 'x-lineage': 'two' } }), granted);
    expect(new Set(executions).size).toBe(3);
  });

  it('does not keep the reply to a request without an effect, and the key may then be used with another body', async () => {
    does = false;
    const nothings: ((reply: FastifyReply) => unknown)[] = [
      () => ({ same: true }),
      ...[
        new DomainError('request.not_found'),
        new DomainError('request.forbidden'),
        new DomainError('screening.already_registered'),
        new DomainError('screening.session_spent'),
        new DomainError('screening.resend_too_early', { retryAfterSeconds: 3 }),
        new DomainError('screening.attempt_in_progress'),
        new NotFoundException(),
      ].map((refusal) => () => {
        throw refusal;
      }),
      (reply) => {
        void reply.status(423);
        return {};
      },
    ];
    for (const nothing of nothings) {
      key = randomUUID();
      executions = [];
      act = (_body, _request, reply) => nothing(reply);
      const first = await post({ a: 1 });
      const again = await post({ a: 1 }, { server: 1 });
      const said = ({ text }: Reply): string =>
        text.replace(/,"request_id":"[\da-f-]{36}"| Try again after [^"]*/g, '');
      expect([isReplay(again), again.status, said(again)]).toEqual([false, first.status, said(first)]);
      expect((await post({ a: 2 })).status).toBe(first.status);
      expect(executions).toHaveLength(3);
      expect(first.headers.get('idempotency-kept')).toBeNull();
    }
    does = true;
    act = () => ({ made: 'at last' });
    const first = await post({ a: 3 });
    expectReplay(await post({ a: 3 }), first);
  });

  it('keeps the reply to a request without an effect when an earlier execution failed, because the failed one may have had an effect', async () => {
    act = () => {
      throw new DomainError('service.unavailable');
    };
    expect((await post({ a: 1 })).status).toBe(503);
    does = false;
    act = () => ({ found: true });
    const second = await post({ a: 1 });
    expectReplay(await post({ a: 1 }), second);
    expect((await post({ a: 2 })).status).toBe(409);
  });

  it('answers Idempotency-Kept: false when the visitor has reached the limit of kept replies', async () => {
    const headers = { 'x-lineage': randomUUID() };
    const made = async (name: string): Promise<[Reply, Reply]> => {
      key = name;
      return [await post({}, { headers }), await post({}, { headers })];
    };
    for (const name of ['one', 'two']) {
      const [first, again] = await made(name);
      expectReplay(again, first);
      expect(first.headers.get('idempotency-kept')).toBeNull();
    }
    for (const reply of await made('three'))
      expect([reply.status, isReplay(reply), reply.headers.get('idempotency-kept')]).toEqual([200, false, 'false']);
    key = 'one';
    expect(isReplay(await post({}, { headers }))).toBe(true);
    key = 'three';
    expect((await post({}, { headers: { 'x-lineage': randomUUID() } })).headers.get('idempotency-kept')).toBeNull();
  });

  it('repeats 201 with an empty body', async () => {
    act = () => undefined;
    const first = await post(undefined, { path: '/things/7/part' });
    expect(first.status).toBe(201);
    expectReplay(await post(undefined, { path: '/things/7/part' }), first);
    expect(executions).toHaveLength(1);
  });

  it('repeats the status and content type that the controller has set', async () => {
    act = (_body, _request, reply) => {
      void reply.status(202).header('content-type', 'text/plain; charset=utf-8');
      return 'accept\u00e9';
    };
    const first = await post({});
    expect(first).toMatchObject({ status: 202, text: 'accept\u00e9' });
    expectReplay(await post({}), first);
  });

  it('keeps a streamed reply completely', async () => {
    act = () => new StreamableFile(Readable.from([Buffer.from('one'), Buffer.from('two')]), { type: 'text/plain' });
    const first = await post({});
    expect(first.text).toBe('onetwo');
    expectReplay(await post({}), first);
    expect(executions).toHaveLength(1);
  });

  it("answers 410 for a kept refusal with a vendor's answer when the person has been erased", async () => {
    const subject = randomUUID();
    const reply = { status: 423, body: '{}', code: null, field: null, message: null };
    act = () => {
      throw new DomainError('screening.person_blocked', { vendor: { reply, step: 'answers', subject } });
    };
    const first = await post({});
    expect(first.status).toBe(423);
    expectReplay(await post({}), first);
    await vault.erase(subject);
    expect((await post({})).status).toBe(410);
    expect(executions).toHaveLength(1);
  });

  it('answers 409 IDEMPOTENCY_KEY_REUSED when the body differs', async () => {
    await post({ a: 1 });
    for (const body of [{ a: 2 }, { a: '1' }, { a: 1, b: null }, {}, [], undefined]) {
      const reply = await post(body);
      expect(reply.status).toBe(409);
      expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'IDEMPOTENCY_KEY_REUSED', recoverable: false } });
      expect(isReplay(reply)).toBe(false);
    }
    expect(executions).toHaveLength(1);
  });

  it('answers 409 IDEMPOTENCY_KEY_REUSED when the query differs', async () => {
    await post({ a: 1 }, { path: '/things?x=1' });
    expect((await post({ a: 1 }, { path: '/things?x=2' })).status).toBe(409);
  });

  it('treats bodies as equal when only the order of keys or the spacing differs', async () => {
    const first = await post('{"a":1,"b":{"c":[1,2],"d":"\u00e9"}}');
    expectReplay(await post('{ "b": {"d":"\\u00e9", "c":[1, 2]}, "a": 1.0 }'), first);
    expect((await post('{"a":1,"b":{"c":[2,1],"d":"\u00e9"}}')).status).toBe(409);
  });

  it('compares bodies that have no canonical JSON, and never answers 500', async () => {
    const half = await post('{"a":"\\ud800"}');
    expect([half.status, JSON.parse(half.text).error.field]).toEqual([400, 'a']);
    // The refused request has not used up the key.
    expect((await post('{"a":1e999}')).status).toBe(200);
    expect((await post('{"a":null}')).status).toBe(409);
    key = randomUUID();
    const deep = await post(`${'['.repeat(12_000)}${']'.repeat(12_000)}`);
    expect([deep.status, JSON.parse(deep.text).error.code]).toEqual([400, 'VALIDATION_ERROR']);
    // The refused request has not used up the key.
    expect((await post({})).status).toBe(200);
  });

  it('separates keys by account, environment, route and path parameters', async () => {
    const variants = [
      {},
      { headers: { 'x-account': 'b' } },
      { headers: { 'x-live': '1' } },
      { path: '/things/7/part' },
      { path: '/things/8/part' },
    ];
    for (const variant of variants) expect(isReplay(await post({ a: 1 }, variant))).toBe(false);
    for (const variant of variants) expect(isReplay(await post({ a: 1 }, variant))).toBe(true);
    // Another spelling of the same path names the same resource.
    expect(isReplay(await post({ a: 1 }, { path: '/things/%37/part' }))).toBe(true);
    expect(executions).toHaveLength(variants.length);
    expect(new Set(executions).size).toBe(variants.length);
  });

  it('applies only to a GET that changes state, and the reply to such a GET must not be cached', async () => {
    const get = (path: string): Promise<Reply> => post(undefined, { path, method: 'GET' });
    const first = await get('/things/changing');
    expectReplay(await get('/things/changing'), first);
    expect([first, await get('/things/changing')].map(({ headers }) => headers.get('cache-control'))).toEqual([
      'no-store',
      'no-store',
    ]);
    expect((await get('/things/changing?x=1')).status).toBe(409);
    expect(executions).toHaveLength(1);
    expect(isReplay(await get('/things')) || isReplay(await get('/things'))).toBe(false);
    expect(executions).toHaveLength(3);
  });

  it("repeats a controller's JSON text, and refusals with 422 or 423, byte for byte", async () => {
    for (const status of [200, 422, 423]) {
      key = randomUUID();
      act = (_body, _request, reply) => {
        void reply.status(status).type('application/json; charset=utf-8');
        return '{"payload":{"n":1.50,"big":12345678901234567890},"errors":[]}';
      };
      const first = await post({});
      expect([first.status, first.text]).toEqual([
        status,
        expect.stringContaining('"n":1.50,"big":12345678901234567890'),
      ]);
      expectReplay(await post({}), first);
    }
    expect(executions).toHaveLength(3);
  });

  it('executes one of several concurrent equal requests in two processes, and all of them get its reply', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    act = async () => {
      await finished;
      return { made: executions.length };
    };
    const twins = Promise.all(Array.from({ length: 10 }, (_, at) => post({ a: 1 }, { server: at % 2 })));
    while (executions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const other = await post({ a: 2 });
    finish();
    const replies = await twins;
    expect(other.status).toBe(409);
    expect(executions).toHaveLength(1);
    expect(replies.filter(isReplay)).toHaveLength(9);
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  });

  it('answers 503 with Retry-After when the first execution takes too long', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    act = () => finished;
    const first = post({ a: 1 });
    while (executions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const twin = await post({ a: 1 }, { server: 1 });
    finish();
    expect([twin.status, twin.headers.get('retry-after'), JSON.parse(twin.text).error.code]).toEqual([
      503,
      '1',
      'SERVICE_UNAVAILABLE',
    ]);
    expect((await first).status).toBe(200);
    expect(executions).toHaveLength(1);
  });

  it('keeps and repeats 4xx refusals from all parts of the code', async () => {
    const refusals = [
      new DomainError('request.not_found'),
      new DomainError('screening.field_format', {
        field: 'currentZip',
        details: [{ field: 'currentZip', message: 'must be a zip code' }],
      }),
      new DomainError('screening.person_blocked'),
      new DomainError('screening.session_spent'),
      new DomainError('screening.already_registered'),
      new NotFoundException(),
    ];
    for (const refusal of refusals) {
      key = randomUUID();
      executions = [];
      act = () => {
        throw refusal;
      };
      const first = await post({ a: 1 });
      expect(first.status).toBeGreaterThanOrEqual(400);
      expectReplay(await post({ a: 1 }, { server: 1 }), first);
      expect(executions).toHaveLength(1);
    }
  });

  it('does not keep 5xx, 429, ATTEMPT_IN_PROGRESS or Retry-After refusals: a retry runs in a new scope, and its reply is kept', async () => {
    const failures = [
      new DomainError('service.unavailable'),
      new DomainError('service.upstream_timeout'),
      new Error('a bug'),
      new DomainError('screening.resend_too_early', { retryAfterSeconds: 3 }),
      new DomainError('screening.too_many_resends'),
      new DomainError('screening.attempt_in_progress'),
      new DomainError('report.file_frozen', { retryAfterSeconds: 600 }),
    ];
    for (const failure of failures) {
      key = randomUUID();
      executions = [];
      act = () => {
        if (executions.length === 1) throw failure;
        return { made: executions.length };
      };
      const first = await post({ a: 1 });
      expect([500, 503, 504, 429, 409, 422]).toContain(first.status);
      const second = await post({ a: 1 }, { server: 1 });
      expect([second.status, second.text, isReplay(second)]).toEqual([200, '{"made":2}', false]);
      expectReplay(await post({ a: 1 }), second);
      expect(executions).toHaveLength(2);
      expect(new Set(executions).size).toBe(2);
      expect((await post({ a: 2 })).status).toBe(409);
    }
  });

  it('answers the kept reply to a caller that closed the connection during the execution and repeats the request', async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    act = async () => {
      await finished;
      return { made: executions.length };
    };
    const lost = httpRequest(`${bases[0]}/things`, {
      method: 'POST',
      headers: { 'x-account': 'a', 'idempotency-key': key },
    });
    const broken = new Promise((resolve) => lost.once('error', resolve));
    lost.end();
    while (executions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    lost.destroy();
    await broken;
    finish();
    const again = await post(undefined);
    expect([again.status, again.text, isReplay(again)]).toEqual([200, '{"made":1}', true]);
  });

  it('answers 400 VALIDATION_ERROR without an execution when the key is empty, too long or contains control characters', async () => {
    for (const bad of ['', ' ', 'k'.repeat(256), 'a\tb']) {
      const reply = await post({ a: 1 }, { headers: { 'idempotency-key': bad } });
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text).error).toMatchObject({
        code: 'VALIDATION_ERROR',
        field: 'Idempotency-Key',
        recoverable: true,
      });
    }
    expect(executions).toHaveLength(0);
    for (const good of ['k', 'k'.repeat(255), '"8e03978e-40d5-43dd"', 'caf\u00e9 ~!']) {
      const headers = { 'idempotency-key': good };
      expect((await post({ a: good }, { headers, path: `/things/${good.length}/part` })).status).toBe(201);
    }
    expect(executions).toHaveLength(4);
  });

  it('answers 400 VALIDATION_ERROR when two headers have different keys, but not when they are equal', async () => {
    const send = (keys: readonly string[]): Promise<[number | undefined, string]> =>
      new Promise((resolve, reject) => {
        const headers = ['Host', 'x', 'X-Account', 'twice', ...keys.flatMap((one) => ['Idempotency-Key', one])];
        const request = httpRequest(`${bases[0]}/things`, { method: 'POST', headers }, (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve([response.statusCode, text]));
        });
        request.on('error', reject).end();
      });
    for (const keys of [
      ['one', 'other'],
      ['one', 'one', 'other'],
      ['one', ''],
    ]) {
      const [status, text] = await send(keys);
      expect([status, JSON.parse(text).error.field]).toEqual([400, 'Idempotency-Key']);
    }
    expect(executions).toHaveLength(0);
    const first = await send(['one', 'one']);
    expect(first[0]).toBe(200);
    expect([await send(['one']), executions.length]).toEqual([first, 1]);
  });

  it('has no effect without a key, for other methods, on open routes and for unknown callers', async () => {
    const headers = { 'x-account': 'a', 'idempotency-key': key };
    const get = (): Promise<Response> => fetch(`${bases[0]}/things`, { headers });
    expect((await get()).headers.get('idempotent-replayed')).toBeNull();
    await get();
    const open = (): Promise<Reply> =>
      post({ a: 1 }, { path: '/open', headers: { 'idempotency-key': 'k'.repeat(300) } });
    expect((await open()).status).toBe(201);
    await open();
    const plain = (): Promise<Response> =>
      fetch(`${bases[0]}/things`, { method: 'POST', headers: { 'x-account': 'a' } });
    await plain();
    await plain();
    expect(executions).toEqual([undefined, undefined, undefined, undefined, undefined, undefined]);
    expect((await fetch(`${bases[0]}/things`, { method: 'POST', headers: { 'idempotency-key': key } })).status).toBe(
      401,
    );
  });

  it('answers 503 without an execution while Redis is unavailable, and serves requests without a key', async () => {
    redis.freeze();
    try {
      const reply = await post({ a: 1 });
      expect([reply.status, JSON.parse(reply.text).error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(executions).toHaveLength(0);
      expect((await fetch(`${bases[0]}/things`, { method: 'POST', headers: { 'x-account': 'a' } })).status).toBe(200);
    } finally {
      redis.resume();
    }
  });

  it('returns a reply that Redis cannot store, and keeps the next reply as soon as Redis is available again', async () => {
    act = () => {
      redis.freeze();
      return { made: executions.length };
    };
    let first: Reply;
    try {
      first = await post({ a: 1 });
    } finally {
      redis.resume();
    }
    expect([first.status, first.text]).toEqual([200, '{"made":1}']);
    expect(logged.join('')).toContain('could not be recorded at once');
    expectReplay(await post({ a: 1 }, { server: 1 }), first);
    expect(executions).toHaveLength(1);
  });
});
