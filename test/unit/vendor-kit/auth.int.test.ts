// The credentials of the vendor folders' client: tokens, keys that are replaced, and signatures.
import { createHmac } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { type Server, createServer as createHttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { isRecord, readerOf } from '../../../src/vendor-kit/http/answer.js';
import {
  type AuthScheme,
  type ClientCredentials,
  basic,
  bearer,
  oauth2,
  signed,
} from '../../../src/vendor-kit/http/auth.js';
import { VendorClient } from '../../../src/vendor-kit/http/client.js';
import type { ClientCertificate } from '../../../src/vendor-kit/http/transport.js';
import { selfSignedCertificate } from '../../support/eventstoredb-double/certificate.js';
import {
  type Respond,
  type SeenRequest,
  json,
  listen,
  misbehavingServer,
  urlOf,
} from '../../support/misbehaving-server.js';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  for (const close of closers.splice(0).reverse()) await close();
});

const call: VendorCall = { attemptId: 'attempt-1', correlationId: 'request-1', environment: 'test', subject: null };
const read = readerOf({}, ({ body }) => (isRecord(body) ? { kind: 'done' as const } : null));
const OK = json(200, {});
const REFUSED = json(401, {});

async function serverOf(respond: Respond) {
  const server = await misbehavingServer(respond);
  closers.push(() => server.close());
  return server;
}

function clientOf(baseUrl: string, auth: AuthScheme, timeoutMs = 5_000, tls?: ClientCertificate) {
  const client = new VendorClient({ baseUrl, timeoutMs, auth, ...(tls && { tls }) });
  closers.push(() => client.close());
  return client;
}

function senderOf(client: VendorClient) {
  return () => client.within(call, (it) => it.sendOnce({ method: 'POST', path: '/do', json: { a: 'é' } }, read));
}

/** Turns the clock that measures durations. */
function passSeconds(seconds: number): void {
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1_000);
}

const authorizations = (requests: readonly SeenRequest[]): unknown[] =>
  requests.map(({ headers }) => headers.get('authorization'));

describe('OAuth2 client credentials', () => {
  /** Issues `token-1`, `token-2` and so on. */
  const issuing =
    (more: object = {}): Respond =>
    (socket, _request, count) =>
      void socket.write(
        json(200, { access_token: `token-${count}`, token_type: 'Bearer', expires_in: 3_600, ...more }),
      );

  async function pair(
    respond: Respond,
    token: Respond = issuing(),
    more: Partial<ClientCredentials> = {},
    timeoutMs?: number,
  ) {
    const [vendor, tokens] = [await serverOf(respond), await serverOf(token)];
    const auth = oauth2({ tokenUrl: `${tokens.url}/oauth/token`, clientId: 'me', clientSecret: () => 's&t', ...more });
    const client = clientOf(vendor.url, auth, timeoutMs);
    return { vendor, tokens, client, send: senderOf(client) };
  }

  it('asks for one token for a hundred calls at once', async () => {
    const { send, vendor, tokens } = await pair((socket) => void socket.write(OK));
    const verdicts = await Promise.all(Array.from({ length: 100 }, send));
    expect(verdicts).toEqual(Array(100).fill({ kind: 'done' }));
    expect(tokens.requests).toHaveLength(1);
    expect(new Set(authorizations(vendor.requests))).toEqual(new Set(['Bearer token-1']));
  });

  it('asks in a form, with the id and the secret in the header', async () => {
    const { send, tokens } = await pair((socket) => void socket.write(OK), issuing(), {
      scope: 'read write',
      parameters: { audience: 'https://api.example' },
    });
    await send();
    const { line, headers, body } = tokens.requests[0]!;
    expect(line).toBe('POST /oauth/token HTTP/1.1');
    expect(headers.get('content-type')).toBe('application/x-www-form-urlencoded');
    expect(headers.get('authorization')).toBe(`Basic ${Buffer.from('me:s%26t').toString('base64')}`);
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      audience: 'https://api.example',
    });
  });

  it('asks with the id and the secret in the form, if the vendor wants that', async () => {
    const { send, tokens } = await pair((socket) => void socket.write(OK), issuing(), { sendAs: 'body' });
    await send();
    expect(tokens.requests[0]!.headers.has('authorization')).toBe(false);
    expect(Object.fromEntries(new URLSearchParams(tokens.requests[0]!.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'me',
      client_secret: 's&t',
    });
  });

  it('renews a refused token once for all calls, and sends each request again', async () => {
    const { send, vendor, tokens } = await pair(
      (socket, { headers }) => void socket.write(headers.get('authorization') === 'Bearer token-1' ? REFUSED : OK),
    );
    expect(await Promise.all(Array.from({ length: 10 }, send))).toEqual(Array(10).fill({ kind: 'done' }));
    expect(tokens.requests).toHaveLength(2);
    expect(vendor.requests).toHaveLength(20);
  });

  it('is told from other requests in the ends of its call', async () => {
    const ends: string[] = [];
    const [vendor, tokens] = [await serverOf((socket) => void socket.write(REFUSED)), await serverOf(issuing())];
    const auth = oauth2({ tokenUrl: tokens.url, clientId: 'me', clientSecret: 'secret' });
    const client = new VendorClient({ baseUrl: vendor.url, timeoutMs: 5_000, auth });
    closers.push(() => client.close());
    const told = { ...call, onEnd: (end: string) => void ends.push(end) };
    await client.within(told, (it) => it.sendOnce({ method: 'POST', path: '/do' }, read));
    expect(ends).toEqual(['token-200', '401', 'token-200', '401']);
  });

  it('sends a request twice at most when the vendor refuses every token', async () => {
    const { send, vendor, tokens } = await pair((socket) => void socket.write(REFUSED));
    expect(await send()).toEqual({ kind: 'unavailable' });
    expect(authorizations(vendor.requests)).toEqual(['Bearer token-1', 'Bearer token-2']);
    expect(tokens.requests).toHaveLength(2);
  });

  it('is renewed once in a call, although the vendor refuses every poll', async () => {
    const { vendor, tokens, client } = await pair(
      (socket, { line }) => void socket.write(line.startsWith('POST') ? OK : REFUSED),
      issuing(),
      {},
      600,
    );
    const poll = { read, pending: () => false, pauseSeconds: 0.01 };
    const polled = client.within(call, async (it) => {
      await it.sendOnce({ method: 'POST', path: '/do' }, read);
      return it.poll({ method: 'GET', path: '/done' }, poll);
    });
    expect((await polled).kind).toBe('pending');
    expect(vendor.requests.length).toBeGreaterThan(4);
    expect(tokens.requests).toHaveLength(2);
  });

  it('is renewed once for many calls, one after the other, until a pause has passed', async () => {
    const { send, vendor, tokens } = await pair((socket) => void socket.write(REFUSED));
    const verdicts = [];
    for (let count = 0; count < 20; count++) verdicts.push(await send());
    expect(verdicts).toEqual(Array(20).fill({ kind: 'unavailable' }));
    expect([vendor.requests.length, tokens.requests.length]).toEqual([21, 2]);
    passSeconds(1);
    await send();
    expect(tokens.requests).toHaveLength(3);
  });

  it('sends a request once when the new token is the refused one', async () => {
    const { send, vendor } = await pair((socket) => void socket.write(REFUSED), issuing({ access_token: 'same' }));
    expect(await send()).toEqual({ kind: 'unavailable' });
    expect(vendor.requests).toHaveLength(1);
  });

  it('does not send a request again after any other status', async () => {
    const { send, vendor } = await pair((socket) => void socket.write(json(403, {})));
    expect(await send()).toEqual({ kind: 'unavailable' });
    expect(vendor.requests).toHaveLength(1);
  });

  it.each([
    ['renews', 'before its end', 0, 2],
    ['keeps', 'while it lives', 30, 1],
    ['keeps', 'without a stated life', undefined, 1],
  ])('%s a token %s', async (_renews, _when, expires_in, count) => {
    const { send, tokens } = await pair((socket) => void socket.write(OK), issuing({ expires_in }));
    await send();
    await send();
    expect(tokens.requests).toHaveLength(count);
  });

  it.each<[string, Respond, object]>([
    ['refuses the secret', (socket) => void socket.write(json(401, { error: 'invalid_client' })), {}],
    [
      'is busy',
      (socket) => void socket.write(json(429, {}).replace('\r\n', '\r\nretry-after: 9\r\n')),
      { retryAfterSeconds: 9 },
    ],
    ['breaks off', (socket) => socket.resetAndDestroy(), {}],
    ['hangs', () => {}, {}],
    ['redirects', (socket) => void socket.write('HTTP/1.1 302 X\r\nlocation: /t\r\ncontent-length: 0\r\n\r\n'), {}],
    ['answers HTML', (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>'), {}],
    ['fails with a token', (socket) => void socket.write(json(400, { access_token: 'token' })), {}],
    ['issues no token', (socket) => void socket.write(json(200, { token_type: 'bearer' })), {}],
    ['issues another type of token', issuing({ token_type: 'mac' }), {}],
    ['issues a token that breaks a header', issuing({ access_token: 'a\r\nb: c' }), {}],
  ])('is unavailable and sends nothing when the token endpoint %s', async (_name, respond, more) => {
    const { send, vendor, tokens } = await pair((socket) => void socket.write(OK), respond, {}, 600);
    expect(await send()).toEqual({ kind: 'unavailable', ...more });
    expect(vendor.requests).toEqual([]);
    expect(tokens.requests).toHaveLength(1);
  });

  it('asks again after a failure and a pause, with the secret of that time', async () => {
    const secrets = ['old', 'new'];
    const { send, tokens } = await pair(
      (socket) => void socket.write(OK),
      (socket, _request, count) => void socket.write(count === 1 ? REFUSED : json(200, { access_token: 'token' })),
      { sendAs: 'body', clientSecret: () => secrets.shift()! },
    );
    expect([await send(), await send()]).toEqual(Array(2).fill({ kind: 'unavailable' }));
    passSeconds(1);
    expect(await send()).toEqual({ kind: 'done' });
    expect(tokens.requests.map(({ body }) => new URLSearchParams(body).get('client_secret'))).toEqual(['old', 'new']);
  });
});

describe('a secret', () => {
  const accepting =
    (authorization: string): Respond =>
    (socket, { headers }) =>
      void socket.write(headers.get('authorization') === authorization ? OK : REFUSED);

  it('is read again when the vendor refuses it, and the request is sent again', async () => {
    const vendor = await serverOf(accepting('Bearer new'));
    let secret = 'old';
    const send = senderOf(
      clientOf(
        vendor.url,
        bearer(() => secret),
      ),
    );
    expect(await send()).toEqual({ kind: 'unavailable' });
    secret = 'new';
    expect([await send(), await send()]).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect(authorizations(vendor.requests)).toEqual(['Bearer old', 'Bearer old', 'Bearer new', 'Bearer new']);
  });

  it('is kept when it cannot be read again', async () => {
    const vendor = await serverOf((socket, _request, count) => void socket.write(count === 1 ? REFUSED : OK));
    let reads = 0;
    const auth = bearer(() => {
      if (++reads > 1) throw new Error('no such file');
      return 'key';
    });
    const send = senderOf(clientOf(vendor.url, auth));
    expect([await send(), await send()]).toEqual([{ kind: 'unavailable' }, { kind: 'done' }]);
  });

  it('makes the call unavailable when it cannot be read', async () => {
    const vendor = await serverOf((socket) => void socket.write(OK));
    const unreadable = (): string => {
      throw new Error('no such file');
    };
    expect(await senderOf(clientOf(vendor.url, bearer(unreadable)))()).toEqual({ kind: 'unavailable' });
    expect(vendor.requests).toEqual([]);
  });

  it('can be the password of a user', async () => {
    const vendor = await serverOf(accepting(`Basic ${Buffer.from('me:pass:word').toString('base64')}`));
    expect(
      await senderOf(
        clientOf(
          vendor.url,
          basic('me', () => 'pass:word'),
        ),
      )(),
    ).toEqual({ kind: 'done' });
  });

  it('can sign the method, the path on the wire and the body', async () => {
    const vendor = await serverOf((socket) => void socket.write(OK));
    const sign = (text: string): string => createHmac('sha256', 'key').update(text).digest('hex');
    const auth = signed(
      () => 'key',
      ({ method, path, body }, key) => ({
        'x-signature': createHmac('sha256', key).update(`${method} ${path} ${body}`).digest('hex'),
      }),
    );
    await senderOf(clientOf(`${vendor.url}/api`, auth))();
    expect(vendor.requests[0]!.headers.get('x-signature')).toBe(sign('POST /api/do {"a":"é"}'));
    expect(Buffer.from(vendor.requests[0]!.body, 'latin1').toString()).toBe('{"a":"é"}');
  });
});

describe('a client certificate', () => {
  const [server, client, stranger] = [selfSignedCertificate(), selfSignedCertificate(), selfSignedCertificate()];
  const pairOf = ({ key, certificate }: typeof client): ClientCertificate => ({
    cert: () => certificate,
    key: () => key,
    ca: () => server.certificate,
  });

  async function vendor(): Promise<{ readonly url: string; readonly seen: string[] }> {
    const seen: string[] = [];
    const options = { cert: server.certificate, key: server.key, requestCert: true, ca: client.certificate };
    const https: Server = createHttpsServer(options, (request, response) => {
      seen.push(`${request.url} ${(request.socket as TLSSocket).authorized}`);
      response.end(JSON.stringify({ access_token: 'token' }));
    });
    await listen(https);
    closers.push(() => new Promise((resolve) => https.close(() => resolve())));
    return { url: urlOf(https).replace('http:', 'https:'), seen };
  }

  it('is shown to the vendor and to its token endpoint', async () => {
    const { url, seen } = await vendor();
    const auth = oauth2({ tokenUrl: `${url}/token`, clientId: 'me', clientSecret: 'secret' });
    expect(await senderOf(clientOf(url, auth, 5_000, pairOf(client)))()).toEqual({ kind: 'done' });
    expect(seen).toEqual(['/token true', '/do true']);
  });

  it.each<[string, ClientCertificate]>([
    ['the vendor is not who it should be', { ...pairOf(client), ca: stranger.certificate }],
    ['the certificate is not PEM', { ...pairOf(client), cert: 'no certificate' }],
    ['the key is of another certificate', { ...pairOf(client), key: stranger.key }],
    [
      'the certificate cannot be read',
      {
        ...pairOf(client),
        cert: () => {
          throw new Error('no such file');
        },
      },
    ],
  ])('makes the call unavailable, and nothing is sent, when %s', async (_name, tls) => {
    const { url, seen } = await vendor();
    expect(await senderOf(clientOf(url, bearer('key'), 5_000, tls))()).toEqual({ kind: 'unavailable' });
    expect(seen).toEqual([]);
  });
});

describe('a credential', () => {
  it('is in no address, and in no error about a secret that no header can hold', async () => {
    const vendor = await serverOf((socket) => void socket.write(OK));
    const send = senderOf(clientOf(vendor.url, bearer('canary\r\nx: y')));
    await expect(send()).rejects.toThrow(/^(?!.*canary).*authorization/s);
    await senderOf(clientOf(vendor.url, bearer('canary')))();
    expect(vendor.requests.map(({ line }) => line)).toEqual(['POST /do HTTP/1.1']);
  });

  it('replaces a header of the request with the same name in other letters', async () => {
    const seen: string[] = [];
    const server = createHttpServer(({ rawHeaders }, response) => {
      seen.push(
        ...rawHeaders.filter((_, place) => /^(authorization|content-type|accept)$/i.test(rawHeaders[place & ~1]!)),
      );
      response.end('{}');
    });
    await listen(server);
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    const auth = signed('key', (_, key) => ({ AUTHORIZATION: key }));
    const client = new VendorClient({ baseUrl: urlOf(server), timeoutMs: 5_000, auth });
    closers.push(() => client.close());
    const headers = { Authorization: 'other', 'Content-Type': 'text/plain', ACCEPT: 'text/csv' };
    await client.within(call, (it) => it.sendOnce({ method: 'POST', path: '/do', headers, text: 'a,b' }, read));
    expect(seen).toEqual(['accept', 'text/csv', 'authorization', 'key', 'content-type', 'text/plain']);
  });
});
