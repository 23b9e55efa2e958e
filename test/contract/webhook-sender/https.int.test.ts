// The sender of webhooks and real receivers on loopback, with every kind of failure.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from '@jest/globals';
import { AddressGuard, type Target, targetOf } from '../../../src/adapters/webhook-sender/address-guard.js';
import { AddressRules } from '../../../src/adapters/webhook-sender/address-rules.js';
import { Attempt, type Way } from '../../../src/adapters/webhook-sender/attempt.js';
import type { Lookup } from '../../../src/adapters/webhook-sender/checked-names.js';
import { Connections, trusting } from '../../../src/adapters/webhook-sender/connections.js';
import { HttpsWebhookSender, type HttpsWebhookSenderOptions } from '../../../src/adapters/webhook-sender/https.js';
import type { WebhookAnswer, WebhookRequest } from '../../../src/ports/webhook-sender.js';
import { CertificateAuthority, selfSigned } from '../../support/certificates.js';
import { until } from '../../support/eventually.js';
import { HttpsReceiver, HttpsReceiverProcess, type ReceiverOptions } from '../../support/https-receiver.js';

const NAME = 'receiver.test';
/** The time limit for receivers that never end their answer. */
const SHORT_MS = 400;
/** The time limit for receivers with which no exchange begins. */
const SHORTEST_MS = 150;
const HEADERS = {
  'webhook-id': 'evt_1',
  'webhook-timestamp': '1760000000',
  'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  'service-event-type': 'screening.completed',
  'service-delivery-id': 'd-1',
  'content-type': 'application/json',
  'user-agent': 'Service-Webhooks/1',
};

const authority = new CertificateAuthority();
const trust = trusting(authority.cert);
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function receiving(options: ReceiverOptions = {}): Promise<HttpsReceiver> {
  const receiver = await HttpsReceiver.start({ authority, ...options });
  cleanups.push(() => receiver.close());
  return receiver;
}

function sending(options: Partial<HttpsWebhookSenderOptions> = {}): HttpsWebhookSender {
  const sender = new HttpsWebhookSender({
    timeoutMs: 8_000,
    allow: ['127.0.0.0/8'],
    trust,
    lookup: resolving(['127.0.0.1']),
    ...options,
  });
  cleanups.push(() => sender.close());
  return sender;
}

/** A look-up that returns one list of addresses after another, and afterwards always the last list. */
function resolving(...answers: readonly (readonly string[])[]): Lookup & { asked: number } {
  const lookup = Object.assign(
    async () => {
      const answer = answers[Math.min(lookup.asked, answers.length - 1)] ?? [];
      lookup.asked += 1;
      return answer.map((address) => ({ address }));
    },
    { asked: 0 },
  );
  return lookup;
}

function post(url: string, body: Uint8Array = Buffer.from('{}')): WebhookRequest {
  return { url, headers: HEADERS, body };
}

function failed(errorCode: string, httpStatus: number | null = null): object {
  return { errorCode, httpStatus, latencyMs: expect.any(Number) };
}

/** One attempt over these connections. If it fails, no other address is tried. */
function through(
  connections: Connections,
  path: string,
  target: Target,
  guard = new AddressGuard(['127.0.0.1']),
): Taken {
  const attempt = new Attempt(8_000);
  const way: Way = {
    request: connections.post({ ...target, path }, '127.0.0.1', post(target.origin), false),
    body: Buffer.from('{}'),
    connectMs: 8_000,
    permits: (address) => guard.permits(address),
    another: () => false,
    failed: () => undefined,
  };
  attempt.take(way);
  return { attempt, way };
}

interface Taken {
  readonly attempt: Attempt;
  readonly way: Way;
}

function connecting(): Connections {
  const connections = new Connections({ perOrigin: 1, kept: 512, trust });
  cleanups.push(async () => connections.destroy());
  return connections;
}

function targetAt(url: string): Target {
  const target = targetOf(url);
  if (typeof target === 'string') throw new Error(target);
  return target;
}

async function sentByProcess(url: string, environment: Readonly<Record<string, string>>): Promise<WebhookAnswer> {
  const loader = new URL('../../support/typescript.js', import.meta.url).href;
  const program = fileURLToPath(new URL('sender-process.ts', import.meta.url));
  const env = { ...process.env, NODE_OPTIONS: '', ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', loader, program, url], { env });
  return JSON.parse(stdout) as WebhookAnswer;
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

interface Speaking {
  readonly url: string;
  readonly port: number;
  requests: number;
}

/** A receiver that writes its answers byte by byte. `answer` receives the number of the request on its connection. */
async function speaking(answer: (socket: TLSSocket, nth: number) => unknown): Promise<Speaking> {
  const sockets = new Set<TLSSocket>();
  const server = createTlsServer(authority.issue({ hosts: [NAME, '127.0.0.1'] }), (socket) => {
    let nth = 0;
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.toString().endsWith('{}')) return;
      receiver.requests += 1;
      answer(socket, (nth += 1));
    });
  });
  const port = await listening(server, '127.0.0.1');
  const receiver = { url: `https://127.0.0.1:${port}/`, port, requests: 0 };
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return receiver;
}

async function listening(server: Server, address: string, port = 0): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** An address that accepts connections and treats each of them in this way. */
async function taking(address: string, port: number, treat: (socket: Socket) => unknown): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    treat(socket);
  });
  await listening(server, address, port);
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

async function silentPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a receiver that answers', () => {
  test('gets the bytes and the headers unchanged, with lower-case names', async () => {
    const receiver = await receiving();
    const body = randomBytes(70_000);
    const answer = await sending().send(post(receiver.url('/hooks/a%20b?x=1&y=%2F', NAME), body));
    expect(answer).toEqual({
      errorCode: null,
      httpStatus: 200,
      latencyMs: expect.any(Number),
      responseExcerpt: 'received',
    });
    expect(Number.isInteger(answer.latencyMs)).toBe(true);
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hooks/a%20b?x=1&y=%2F' });
    expect(request!.body.equals(body)).toBe(true);
    expect(request!.headers).toEqual({
      ...HEADERS,
      host: `${NAME}:${receiver.port}`,
      connection: 'keep-alive',
      'content-length': '70000',
    });
    expect(request!.rawHeaders.filter((_, index) => index % 2 === 0)).toEqual(Object.keys(request!.headers));
  });

  test.each([200, 201, 204, 299])('%i is a success', async (status) => {
    const receiver = await receiving();
    expect(await sending().send(post(receiver.url(`/status/${status}`)))).toMatchObject({
      errorCode: null,
      httpStatus: status,
    });
  });

  test('204 is a success even if its headers announce a body', async () => {
    const receiver = await receiving();
    expect(await sending().send(post(receiver.url('/status/204?length=10')))).toMatchObject({
      errorCode: null,
      httpStatus: 204,
      responseExcerpt: null,
    });
  });

  test.each([300, 304, 305, 306, 399, 400, 404, 410, 429, 500, 503])(
    '%i is HTTP_STATUS, with an excerpt of the answer',
    async (status) => {
      const receiver = await receiving();
      const answer = await sending().send(post(receiver.url(`/status/${status}`)));
      expect(answer).toEqual({
        ...failed('HTTP_STATUS', status),
        responseExcerpt: status === 304 ? null : `status ${status}`,
      });
      expect(receiver.counts.requests).toBe(1);
    },
  );

  test('a redirect is REDIRECT and is not followed, to loopback or any other address', async () => {
    const receiver = await receiving();
    const elsewhere = await receiving();
    const answer = await sending().send(
      post(receiver.url(`/redirect?to=${encodeURIComponent(elsewhere.url('/secret'))}`)),
    );
    expect(answer).toEqual({ ...failed('REDIRECT', 302), responseExcerpt: 'elsewhere' });
    for (const status of [301, 302, 303, 307, 308])
      expect(await sending().send(post(receiver.url(`/status/${status}`)))).toMatchObject(failed('REDIRECT', status));
    expect(elsewhere.counts).toEqual({ requests: 0, handshakes: 0, failedHandshakes: 0 });
  });

  test('many posts share one connection', async () => {
    const receiver = await receiving();
    const sender = sending();
    for (let n = 0; n < 50; n += 1) expect((await sender.send(post(receiver.url('/', NAME)))).errorCode).toBeNull();
    expect(receiver.counts).toEqual({ requests: 50, handshakes: 1, failedHandshakes: 0 });
  });

  test('simultaneous posts open no more connections than allowed, and all arrive', async () => {
    const receiver = await receiving();
    const sender = sending({ connectionsPerOrigin: 3 });
    const answers = await Promise.all(Array.from({ length: 60 }, () => sender.send(post(receiver.url('/', NAME)))));
    expect(answers.filter(({ errorCode }) => errorCode !== null)).toEqual([]);
    expect(receiver.counts).toEqual({ requests: 60, handshakes: 3, failedHandshakes: 0 });
  });

  test('a connection that the receiver closed is not used again', async () => {
    const receiver = await receiving();
    const sender = sending();
    for (let n = 0; n < 3; n += 1) expect((await sender.send(post(receiver.url('/close')))).errorCode).toBeNull();
    expect(receiver.counts.handshakes).toBe(3);
  });

  test('a receiver in its own process counts its requests', async () => {
    const receiver = await HttpsReceiverProcess.start();
    cleanups.push(() => receiver.close());
    const sender = sending({ trust: trusting(receiver.ca) });
    expect(await sender.send(post(receiver.url()))).toMatchObject({ errorCode: null, httpStatus: 200 });
    await receiver.play('/status/503');
    expect(await sender.send(post(receiver.url()))).toMatchObject(failed('HTTP_STATUS', 503));
    expect(await receiver.counts()).toMatchObject({ requests: 2, handshakes: 1 });
  });
});

describe('an excessive answer of a receiver', () => {
  test('an endless body is read up to 4 KB and is a success', async () => {
    const receiver = await receiving();
    const answer = await sending().send(post(receiver.url('/endless')));
    expect(answer).toMatchObject({ errorCode: null, httpStatus: 200 });
    expect(answer.responseExcerpt).toMatch(/^(?:all is well ){300,}/);
    expect(answer.responseExcerpt!.length).toBeLessThanOrEqual(4_096);
  });

  test('a compressed bomb is not decompressed', async () => {
    const receiver = await receiving();
    const answer = await sending().send(post(receiver.url('/gzip-bomb')));
    expect(answer).toMatchObject({ errorCode: null, httpStatus: 200 });
    expect(answer.responseExcerpt!.length).toBeLessThanOrEqual(4_096);
    expect(receiver.requests[0]!.headers['accept-encoding']).toBeUndefined();
  });

  test('the excerpt of the answer has no secrets and no control characters', async () => {
    const receiver = await receiving();
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const answer = await sending().send(
      post(receiver.url('/echo'), Buffer.from(`bad\u0000 signature\r\nfor ${secret}, sorry`)),
    );
    expect(answer.responseExcerpt).toBe('bad signature for ***, sorry');
  });

  test('a body that arrives slowly beyond the limit is TIMEOUT, with any status', async () => {
    const receiver = await receiving();
    const answer = await sending({ timeoutMs: SHORT_MS }).send(post(receiver.url('/drip')));
    expect(answer).toMatchObject(failed('TIMEOUT', 200));
    expect(answer.latencyMs).toBeGreaterThanOrEqual(SHORT_MS - 2);
  });

  test('a refusal whose body arrives slowly beyond the limit stays HTTP_STATUS', async () => {
    const receiver = await receiving();
    expect(await sending({ timeoutMs: SHORT_MS }).send(post(receiver.url('/drip-then/500')))).toMatchObject(
      failed('HTTP_STATUS', 500),
    );
  });
});

// RFC 9110, 15.2: a client skips interim answers, even if it did not request them.
describe('an interim answer', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const SEVERAL = [
    CONTINUE,
    'HTTP/1.1 102 Processing\r\nx-a: b\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n',
    'HTTP/1.1 199 Later\r\n\r\n',
    CONTINUE,
  ].join('');

  test.each([
    ['a 100 in the same packet', [CONTINUE + OK]],
    ['a 100 in a separate packet', [CONTINUE, OK]],
    ['several of all kinds', [SEVERAL, OK]],
    ['several, with one byte in each packet', [...(SEVERAL + OK)]],
  ])('%s is skipped, on a new connection and on a used one', async (_, pieces) => {
    const receiver = await speaking(async (socket) => {
      for (const piece of pieces) await new Promise((written) => socket.write(piece, written));
    });
    const sender = sending();
    for (let n = 0; n < 3; n += 1)
      expect(await sender.send(post(receiver.url))).toEqual({
        errorCode: null,
        httpStatus: 200,
        latencyMs: expect.any(Number),
        responseExcerpt: 'ok',
      });
    expect(receiver.requests).toBe(3);
  });

  test('before a refusal leaves the refusal unchanged', async () => {
    const receiver = await speaking((socket) =>
      socket.write(`${CONTINUE}HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await sending().send(post(receiver.url))).toMatchObject(failed('HTTP_STATUS', 503));
  });

  test('a 101 that changes the protocol is CONNECTION_FAILED', async () => {
    const receiver = await speaking((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    );
    expect(await sending().send(post(receiver.url))).toMatchObject(failed('CONNECTION_FAILED'));
    expect(receiver.requests).toBe(1);
  });

  test('that repeats endlessly is TIMEOUT, and the sender stops reading', async () => {
    const flood = CONTINUE.repeat(1_000);
    const receiver = await speaking((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(flood));
      };
      socket.on('drain', more);
      more();
    });
    expect(await sending({ timeoutMs: SHORT_MS }).send(post(receiver.url))).toMatchObject(failed('TIMEOUT'));
    const { attempt, way } = through(connecting(), '/', targetAt(receiver.url));
    await until(() => way.request.socket?.isPaused() === true);
    attempt.expire();
    expect(await attempt.answer).toMatchObject(failed('TIMEOUT'));
    expect(way.request.socket!.bytesRead).toBeLessThan(200_000);
  });
});

describe('a name with several addresses', () => {
  test.each<[string, (socket: Socket) => unknown]>([
    ['is silent', () => undefined],
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['speaks plain HTTP', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')],
  ])('is reached at the second address when the first %s', async (_, treat) => {
    const receiver = await receiving();
    await taking('127.0.0.9', receiver.port, treat);
    const sender = sending({ timeoutMs: SHORT_MS, lookup: resolving(['127.0.0.9', '127.0.0.1']) });
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject({ errorCode: null, httpStatus: 200 });
    expect(receiver.counts.requests).toBe(1);
  });

  test('is reached at the second address when the first cannot be trusted', async () => {
    const receiver = await receiving();
    const other = await receiving({ hosts: ['other.test'], address: '127.0.0.9', port: receiver.port });
    const sender = sending({ lookup: resolving(['127.0.0.9', '127.0.0.1']) });
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject({ errorCode: null });
    expect([other.counts.requests, receiver.counts.requests]).toEqual([0, 1]);
  });

  test('leads to another address at the next attempt when the first attempt got no answer', async () => {
    const receiver = await receiving();
    const hanging = await receiving({ address: '127.0.0.9', port: receiver.port });
    hanging.play('/hang');
    const sender = sending({ timeoutMs: SHORT_MS, lookup: resolving(['127.0.0.9', '127.0.0.1']) });
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject(failed('TIMEOUT'));
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject({ errorCode: null });
    expect([hanging.counts.requests, receiver.counts.requests]).toEqual([1, 1]);
  });

  test('is reached at the answering address, even if more addresses are silent than one attempt tries', async () => {
    const receiver = await receiving();
    const silent = ['127.0.0.5', '127.0.0.6', '127.0.0.7', '127.0.0.8'];
    for (const address of silent) await taking(address, receiver.port, () => undefined);
    const sender = sending({ timeoutMs: SHORT_MS, lookup: resolving([...silent, '127.0.0.1']) });
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject(failed('TIMEOUT'));
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject({ errorCode: null });
  });
});

describe('a receiver that does not answer in time', () => {
  test.each(['/hang', '/drip-headers'])('%s is TIMEOUT, and the connection is closed', async (path) => {
    const receiver = await receiving();
    const sender = sending({ timeoutMs: SHORT_MS });
    expect(await sender.send(post(receiver.url(path)))).toEqual({ ...failed('TIMEOUT'), responseExcerpt: null });
    expect(await sender.send(post(receiver.url()))).toMatchObject({ errorCode: null });
    expect(receiver.counts).toMatchObject({ requests: 2, handshakes: 2 });
  });

  test('a port that accepts and never speaks TLS is TIMEOUT', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted: { destroy(): void }[] = [];
    server.on('connection', (socket) => accepted.push(socket.on('error', () => undefined)));
    cleanups.push(async () => {
      for (const socket of accepted) socket.destroy();
      server.close();
    });
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await sending({ timeoutMs: SHORTEST_MS }).send(post(url))).toEqual({
      ...failed('TIMEOUT'),
      responseExcerpt: null,
    });
  });

  test('a resolver that does not answer is TIMEOUT', async () => {
    const lookup: Lookup = () => new Promise(() => undefined);
    expect(await sending({ timeoutMs: SHORTEST_MS, lookup }).send(post(`https://${NAME}/`))).toMatchObject(
      failed('TIMEOUT'),
    );
  });

  test('never receives a request that waits for a connection beyond the limit', async () => {
    const receiver = await receiving();
    const [connections, target] = [connecting(), targetAt(receiver.url())];
    const { attempt: holding } = through(connections, '/hang', target);
    const { attempt: waiting } = through(connections, '/late', target);
    const { attempt: next } = through(connections, '/next', target);
    await receiver.received(1);
    waiting.expire();
    holding.expire();
    expect(await Promise.all([holding.answer, waiting.answer, next.answer])).toMatchObject([
      failed('TIMEOUT'),
      failed('TIMEOUT'),
      { errorCode: null },
    ]);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/hang', '/next']);
  });

  test('never receives a request that was given up during the connection, and the next request takes its place', async () => {
    const receiver = await receiving();
    const [connections, target] = [connecting(), targetAt(receiver.url())];
    const { attempt: hasty } = through(connections, '/hasty', target);
    hasty.expire();
    const { attempt: next } = through(connections, '/next', target);
    expect(await Promise.all([hasty.answer, next.answer])).toMatchObject([failed('TIMEOUT'), { errorCode: null }]);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/next']);
    expect(receiver.counts.handshakes).toBe(1);
  });
});

describe('a connection that breaks', () => {
  test('before an answer is CONNECTION_FAILED, and the request is not sent again', async () => {
    const receiver = await receiving();
    expect(await sending().send(post(receiver.url('/reset')))).toEqual({
      ...failed('CONNECTION_FAILED'),
      responseExcerpt: null,
    });
    expect(receiver.counts.requests).toBe(1);
  });

  // A receiver may close an idle connection just when a request arrives. Delivery at least once allows the sender to
  // repeat the request.
  test('during its second request is replaced at once by a new connection', async () => {
    const receiver = await speaking((socket, nth) => (nth === 1 ? socket.write(OK) : socket.destroy()));
    const sender = sending();
    for (let n = 0; n < 6; n += 1) expect(await sender.send(post(receiver.url))).toMatchObject({ errorCode: null });
    expect(receiver.requests).toBeLessThanOrEqual(9);
  });

  test('during its second request is CONNECTION_FAILED when the new connection breaks too', async () => {
    const receiver = await receiving();
    const sender = sending();
    await sender.send(post(receiver.url()));
    expect(await sender.send(post(receiver.url('/reset')))).toMatchObject(failed('CONNECTION_FAILED'));
    expect(receiver.counts).toMatchObject({ requests: 3, handshakes: 2 });
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual(['evt_1', 'evt_1', 'evt_1']);
  });

  test('during its second request, after a byte of the answer, is not replaced and is CONNECTION_FAILED', async () => {
    const receiver = await speaking((socket, nth) => (nth === 1 ? socket.write(OK) : socket.end('H')));
    const sender = sending();
    await sender.send(post(receiver.url));
    expect(await sender.send(post(receiver.url))).toMatchObject(failed('CONNECTION_FAILED'));
    expect(receiver.requests).toBe(2);
  });

  test('in the middle of a body is CONNECTION_FAILED with the status', async () => {
    const receiver = await receiving();
    expect(await sending().send(post(receiver.url('/reset-body')))).toEqual({
      ...failed('CONNECTION_FAILED', 200),
      responseExcerpt: 'half of it',
    });
  });

  test('that the receiver refuses is CONNECTION_FAILED', async () => {
    expect(await sending().send(post(`https://127.0.0.1:${await silentPort()}/`))).toMatchObject(
      failed('CONNECTION_FAILED'),
    );
  });

  test('that the first address of a name refuses is replaced by a connection to the next address', async () => {
    const receiver = await receiving();
    const answer = await sending({ lookup: resolving(['127.0.0.9', '127.0.0.1']) }).send(post(receiver.url('/', NAME)));
    expect(answer).toMatchObject({ errorCode: null, httpStatus: 200 });
    expect(receiver.counts.requests).toBe(1);
  });
});

describe('a receiver that cannot be trusted', () => {
  test.each<[string, ReceiverOptions]>([
    ['a certificate for another name', { hosts: ['other.test'] }],
    [
      'an expired certificate',
      {
        certificate: authority.issue({
          hosts: [NAME, '127.0.0.1'],
          notBefore: new Date('2020-01-01'),
          notAfter: new Date('2021-01-01'),
        }),
      },
    ],
    [
      'a certificate that is not valid yet',
      {
        certificate: authority.issue({
          hosts: [NAME, '127.0.0.1'],
          notBefore: new Date('2048-01-01'),
          notAfter: new Date('2049-01-01'),
        }),
      },
    ],
    ['a self-signed certificate', { certificate: selfSigned({ hosts: [NAME, '127.0.0.1'] }) }],
    ['a certificate of an unknown authority', { authority: new CertificateAuthority() }],
    [
      'only TLS 1.1 and earlier',
      { tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } },
    ],
  ])('%s is TLS_ERROR, by name and by address', async (_, options) => {
    const receiver = await receiving(options);
    const sender = sending();
    expect(await sender.send(post(receiver.url('/', NAME)))).toEqual({ ...failed('TLS_ERROR'), responseExcerpt: null });
    expect(await sender.send(post(receiver.url('/')))).toMatchObject(failed('TLS_ERROR'));
    expect(receiver.counts.requests).toBe(0);
  });

  test('is refused even in an environment that turns verification off', async () => {
    const receiver = await receiving();
    expect(await sentByProcess(receiver.url(), { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject(
      failed('TLS_ERROR'),
    );
    expect(receiver.counts.requests).toBe(0);
  });

  test('is trusted when the environment names its authority', async () => {
    const receiver = await receiving();
    const folder = await mkdtemp(join(tmpdir(), 'authority-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'ca.pem'), receiver.ca);
    expect(await sentByProcess(receiver.url(), { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })).toMatchObject({
      errorCode: null,
      httpStatus: 200,
    });
  });

  test('plain HTTP on the port is TLS_ERROR', async () => {
    const server = createHttpServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(async () => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await sending().send(post(`https://127.0.0.1:${port}/`))).toMatchObject(failed('TLS_ERROR'));
  });
});

describe('a host name', () => {
  test('that does not resolve is DNS_FAILURE', async () => {
    const lookup: Lookup = () =>
      Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
    expect(await sending({ lookup }).send(post(`https://${NAME}/`))).toEqual({
      ...failed('DNS_FAILURE'),
      responseExcerpt: null,
    });
    expect(await sending({ lookup: resolving([]) }).send(post(`https://${NAME}/`))).toMatchObject(
      failed('DNS_FAILURE'),
    );
  });

  test('with one bad address among good ones is BLOCKED_ADDRESS', async () => {
    const receiver = await receiving();
    const lookup = resolving(['127.0.0.1', '10.0.0.1']);
    expect(await sending({ lookup }).send(post(receiver.url('/', NAME)))).toMatchObject(failed('BLOCKED_ADDRESS'));
    expect(receiver.counts.handshakes).toBe(0);
  });

  test('that changes between the check and the connection is looked up once, and the checked address is used', async () => {
    const receiver = await receiving();
    const lookup = resolving(['127.0.0.1'], ['169.254.169.254']);
    expect(await sending({ lookup, rememberNamesMs: 0 }).send(post(receiver.url('/', NAME)))).toMatchObject({
      errorCode: null,
    });
    expect(lookup.asked).toBe(1);
  });

  test('that later has a bad address is refused, although a connection to its good address is open', async () => {
    const receiver = await receiving();
    const sender = sending({ lookup: resolving(['127.0.0.1'], ['169.254.169.254']), rememberNamesMs: 0 });
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject({ errorCode: null });
    expect(await sender.send(post(receiver.url('/', NAME)))).toMatchObject(failed('BLOCKED_ADDRESS'));
    expect(receiver.counts.requests).toBe(1);
  });

  test('that gets a new address is followed: the open connection to its old address is not used', async () => {
    const old = await receiving();
    const moved = await receiving({ address: '127.0.0.2', port: old.port });
    const sender = sending({ lookup: resolving(['127.0.0.1'], ['127.0.0.2']), rememberNamesMs: 0 });
    for (let n = 0; n < 3; n += 1) await sender.send(post(old.url('/', NAME)));
    expect([old.counts.requests, moved.counts.requests]).toEqual([1, 2]);
  });

  test('is looked up once for many simultaneous posts', async () => {
    const receiver = await receiving();
    const lookup = resolving(['127.0.0.1']);
    const sender = sending({ lookup });
    await Promise.all(Array.from({ length: 20 }, () => sender.send(post(receiver.url('/', NAME)))));
    await sender.send(post(receiver.url('/', NAME)));
    expect(lookup.asked).toBe(1);
  });
});

describe('a name in a test network', () => {
  test.each(['localhost', 'receiver', 'receiver.internal'])(
    '%s leads to an exempt address, for the rules and for the sender',
    async (name) => {
      const receiver = await receiving({ hosts: [name] });
      const url = receiver.url('/', name);
      expect(
        await new AddressRules({ allow: ['127.0.0.1/32'], lookup: resolving(['127.0.0.1']) }).faultOf(url),
      ).toBeNull();
      expect(await sending({ allow: ['127.0.0.1/32'] }).send(post(url))).toMatchObject({
        errorCode: null,
        httpStatus: 200,
      });
    },
  );

  test.each<[string, readonly string[], readonly string[]]>([
    ['to nothing else', ['127.0.0.1/32'], ['10.0.0.1']],
    ['nowhere when one of its addresses is not exempt', ['127.0.0.0/8'], ['127.0.0.1', '::1']],
    ['nowhere when nothing is exempt', [], ['127.0.0.1']],
  ])('%s', async (_, allow, addresses) => {
    const receiver = await receiving({ hosts: ['localhost'] });
    const url = receiver.url('/', 'localhost');
    expect(await new AddressRules({ allow, lookup: resolving(addresses) }).faultOf(url)).toEqual(expect.any(String));
    expect(await sending({ allow, lookup: resolving(addresses) }).send(post(url))).toMatchObject(
      failed('BLOCKED_ADDRESS'),
    );
    expect(receiver.counts.handshakes).toBe(0);
  });

  test('leads to an exempt address when both families are exempt', async () => {
    const receiver = await receiving({ hosts: ['localhost'] });
    const options = { allow: ['127.0.0.0/8', '::1'], lookup: resolving(['::1', '127.0.0.1']) };
    expect(await new AddressRules(options).faultOf(receiver.url('/', 'localhost'))).toBeNull();
    expect(await sending(options).send(post(receiver.url('/', 'localhost')))).toMatchObject({ errorCode: null });
  });
});

describe('an address that is not public', () => {
  test.each([
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://localhost',
    'https://10.0.0.1',
    'http://127.0.0.1',
  ])('%s is BLOCKED_ADDRESS before any connection', async (origin) => {
    const receiver = await receiving();
    const answer = await sending({ allow: [] }).send(post(`${origin}:${receiver.port}/`));
    expect(answer).toEqual({ ...failed('BLOCKED_ADDRESS'), responseExcerpt: null });
    expect(receiver.counts).toEqual({ requests: 0, handshakes: 0, failedHandshakes: 0 });
  });

  test('is noticed even when the connection is already open, and nothing is sent over the connection', async () => {
    const receiver = await receiving();
    const { attempt } = through(connecting(), '/', targetAt(receiver.url('/', NAME)), new AddressGuard([]));
    expect(await attempt.answer).toMatchObject(failed('BLOCKED_ADDRESS'));
    expect(receiver.counts).toMatchObject({ requests: 0 });
  });

  test('cannot be registered as an endpoint, by the same rules', async () => {
    const rules = new AddressRules({
      allow: [],
      lookup: resolving(['93.184.216.34'], ['93.184.216.34', '192.168.0.1'], []),
    });
    expect(await rules.faultOf('https://hooks.example.com/a')).toBeNull();
    expect(await rules.faultOf('https://hooks.example.com/a')).toBe('The host must resolve to public addresses only');
    expect(await rules.faultOf('https://hooks.example.com/a')).toBe('The host does not resolve');
    expect(await rules.faultOf('https://169.254.169.254/latest')).toBe('The host must be a public address');
    expect(await rules.faultOf('http://hooks.example.com/a')).toBe('The URL must begin with https://');
    const silent = new AddressRules({ allow: [], timeoutMs: 20, lookup: () => new Promise(() => undefined) });
    expect(await silent.faultOf('https://hooks.example.com/a')).toBe('The host does not resolve');
  });
});

test('connections to a limited number of receivers are kept open, and the other receivers are still served', async () => {
  const receivers = await Promise.all([receiving(), receiving(), receiving()]);
  const sender = sending({ originsKept: 2 });
  for (const receiver of [...receivers, ...receivers, ...receivers])
    expect(await sender.send(post(receiver.url()))).toMatchObject({ errorCode: null });
  expect(receivers.map(({ counts }) => counts.handshakes)).toEqual([1, 1, 3]);
});

test('closing the sender waits for requests under way', async () => {
  const receiver = await receiving();
  const sender = sending();
  const answers: Promise<WebhookAnswer>[] = [
    sender.send(post(receiver.url('/delay/100'))),
    sender.send(post(receiver.url('/delay/50', NAME))),
  ];
  await sender.close();
  expect(await Promise.all(answers)).toMatchObject([{ errorCode: null }, { errorCode: null }]);
});

test('an invalid header is reported as a mistake of the caller, not as an answer', async () => {
  const receiver = await receiving();
  await expect(sending().send({ ...post(receiver.url()), headers: { 'webhook-id': 'a\r\nb: c' } })).rejects.toThrow(
    'Invalid character in header content ["webhook-id"]',
  );
});
