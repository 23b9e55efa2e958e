// The HTTP client of the vendor folders, on servers that answer any bytes that a test chooses.
import { afterEach, describe, expect, it } from '@jest/globals';
import type { VendorCall } from '../../../src/ports/vendor-call.js';
import { type ErrorTable, type VendorAnswer, isRecord, readerOf } from '../../../src/vendor-kit/http/answer.js';
import { bearer, oauth2 } from '../../../src/vendor-kit/http/auth.js';
import {
  type Poll,
  VendorClient,
  type VendorClientOptions,
  type VendorRequest,
} from '../../../src/vendor-kit/http/client.js';
import { AMBIGUOUS_ENDS, type Respond, json, misbehavingServer } from '../../support/misbehaving-server.js';

interface Found {
  readonly kind: 'found';
  readonly name: unknown;
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ERRORS: ErrorTable<Found | { readonly kind: 'locked' }> = {
  codeOf: ({ body }) => (isRecord(body) && typeof body.code === 'string' ? body.code : null),
  codes: { busy_elsewhere: { kind: 'timed-out' }, locked: { kind: 'locked' } },
  statuses: { 404: { kind: 'unavailable' } },
  reader: ({ body }) => (isRecord(body) && body.until === 'noon' ? { kind: 'locked' } : null),
};
const read = readerOf(ERRORS, ({ status, body }) => {
  if (status === 204) return { kind: 'found', name: null };
  return isRecord(body) && 'name' in body ? { kind: 'found', name: body.name } : null;
});
const GET: VendorRequest = { method: 'GET', path: '/people/7' };
const POST: VendorRequest = { method: 'POST', path: '/people', json: { name: 'Jo' } };

const callOf = (more: Partial<VendorCall> = {}): VendorCall => ({
  attemptId: 'attempt-1',
  correlationId: 'request-1',
  environment: 'test',
  subject: null,
  ...more,
});

async function vendor(
  respond: Respond,
  { path = '', ...options }: Partial<VendorClientOptions> & { readonly path?: string } = {},
) {
  const server = await misbehavingServer(respond);
  const client = new VendorClient({
    baseUrl: server.url + path,
    timeoutMs: 5_000,
    auth: bearer(() => 'key-1'),
    dialect: ERRORS,
    ...options,
  });
  closers.push(
    () => server.close(),
    () => client.close(),
  );
  return {
    ...server,
    client,
    sendOnce: (request: VendorRequest, call = callOf()) => client.within(call, (it) => it.sendOnce(request, read)),
    ask: (request: VendorRequest, call = callOf()) => client.within(call, (it) => it.ask(request, read)),
    poll: (poll: Partial<Poll<Found>> = {}, call = callOf()) =>
      client.within(call, (it) =>
        it.poll<Found>(GET, {
          read: readerOf<Found>({}, (answer) => read(answer) as Found),
          pending: ({ status }) => status === 202,
          pauseSeconds: 0.001,
          ...poll,
        }),
      ),
  };
}

const answering =
  (...answers: readonly string[]): Respond =>
  (socket, _request, count) =>
    void socket.write(answers[Math.min(count, answers.length) - 1]!);
const withHead = (answer: string, ...lines: readonly string[]): string =>
  answer.replace('\r\n', `\r\n${lines.join('\r\n')}\r\n`);

describe('a request', () => {
  it('carries its credential, ids and headers, below the path of the address', async () => {
    const { sendOnce, requests } = await vendor(answering(json(200, { name: 'Jo' })), { path: '/api/' });
    const call = callOf({ behaviour: 'slow' });
    expect(await sendOnce({ ...POST, headers: { 'x-tenant': 'blue' } }, call)).toEqual({ kind: 'found', name: 'Jo' });
    const [{ line, headers, body }] = requests as [(typeof requests)[number]];
    expect(line).toBe('POST /api/people HTTP/1.1');
    expect(Object.fromEntries(headers)).toMatchObject({
      authorization: 'Bearer key-1',
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': 'attempt-1',
      'x-request-id': 'request-1',
      'x-tenant': 'blue',
      'x-test-behaviour': 'slow',
    });
    expect(JSON.parse(body)).toEqual({ name: 'Jo' });
  });

  it('carries a form in its own encoding', async () => {
    const { sendOnce, requests } = await vendor(answering(json(200, { name: 'Jo' })));
    await sendOnce({ method: 'PUT', path: '/people', form: { name: 'Jo & Co', note: 'é+' } });
    expect(requests[0]!.headers.get('content-type')).toBe('application/x-www-form-urlencoded');
    expect(requests[0]!.body).toBe('name=Jo+%26+Co&note=%C3%A9%2B');
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    '%s has the names that the vendor has for the ids',
    async (method) => {
      const names = { idempotencyHeader: 'x-operation', requestIdHeader: 'x-trace' };
      const { sendOnce, requests } = await vendor(answering(json(200, { name: 1 })), names);
      await sendOnce({ method, path: '/people' });
      const { line, headers } = requests[0]!;
      expect(line).toBe(`${method} /people HTTP/1.1`);
      expect([headers.get('x-operation'), headers.get('x-trace')]).toEqual([
        method === 'GET' ? undefined : 'attempt-1',
        'request-1',
      ]);
      expect([headers.has('idempotency-key'), headers.has('x-request-id')]).toEqual([false, false]);
    },
  );

  it('carries no id if the vendor has no header for it', async () => {
    const names = { idempotencyHeader: null, requestIdHeader: null };
    const { sendOnce, requests } = await vendor(answering(json(200, { name: 1 })), names);
    await sendOnce(POST);
    expect([...requests[0]!.headers.values()].join()).not.toMatch(/attempt-1|request-1/);
  });
});

describe('an answer', () => {
  const LARGE = json(200, { name: 'x'.repeat(2_000) });

  it.each([
    ['by its code', json(423, { code: 'locked' }), { kind: 'locked' }],
    ['by its code before its status', json(404, { code: 'busy_elsewhere' }), { kind: 'timed-out' }],
    ['by a reader before its code', json(404, { code: 'busy_elsewhere', until: 'noon' }), { kind: 'locked' }],
    ['as a success without a body', 'HTTP/1.1 204 X\r\n\r\n', { kind: 'found', name: null }],
    ['by its status', json(404, { code: 'unheard_of' }), { kind: 'unavailable' }],
    [
      'by its status, when the code is a property of every object',
      json(404, { code: 'constructor' }),
      { kind: 'unavailable' },
    ],
    ['as not executed: 403', json(403, {}), { kind: 'unavailable' }],
    [
      'as unintelligible: a redirect',
      withHead(json(302, { name: 1 }), 'location: /elsewhere'),
      { kind: 'unintelligible' },
    ],
    ['as unintelligible: 500', json(500, { name: 'Jo' }), { kind: 'unintelligible' }],
    ['as unintelligible: a success of another form', json(200, { state: 'approved' }), { kind: 'unintelligible' }],
    [
      'as unintelligible: a success in HTML',
      'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>',
      { kind: 'unintelligible' },
    ],
    ['as unintelligible: a success that is too large', LARGE, { kind: 'unintelligible' }],
  ])('is read %s, and the request is sent once', async (_name, answer, verdict) => {
    const { sendOnce, requests } = await vendor(answering(answer), { maxAnswerBytes: 1_000 });
    expect(await sendOnce(POST)).toEqual(verdict);
    expect(requests).toHaveLength(1);
  });

  it('is unintelligible as a success that is not JSON, even if its body is not read', () => {
    const done = readerOf({}, () => ({ kind: 'done' as const }));
    expect([200, 204].map((status) => done({ status, body: null, text: null }).kind)).toEqual([
      'unintelligible',
      'done',
    ]);
  });

  it.each([
    ['429 with seconds', 429, '7', 7],
    ['503 with seconds', 503, '86400', 600],
    ['429 with a past date', 429, 'Thu, 01 Jan 2015 00:00:00 GMT', 1],
    ['429 with a far date', 429, 'Fri, 01 Jan 2999 00:00:00 GMT', 600],
    ['429 with a word', 429, 'soon', undefined],
    ['403 with seconds', 403, '7', undefined],
  ])('gives the verdict the pause that the vendor demands: %s', async (_name, status, said, retryAfterSeconds) => {
    const ends: unknown[][] = [];
    const { sendOnce } = await vendor(answering(withHead(json(status, {}), `retry-after: ${said}`)));
    const verdict = await sendOnce(POST, callOf({ onEnd: (...end) => void ends.push(end) }));
    expect(verdict).toStrictEqual({
      kind: 'unavailable',
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
    expect(ends).toEqual([[String(status), retryAfterSeconds]]);
  });

  it.each([
    ['/api/jobs/7?part=2', '/jobs/7?part=2'],
    ['jobs/8', '/jobs/8'],
    ['//elsewhere.example/api/jobs/9', undefined],
    ['https://elsewhere.example/api/jobs/9', undefined],
    ['/other/jobs/9', undefined],
    ['/api/../other', undefined],
    ['http://', undefined],
  ])('gives readers its headers and, below the address only, its Location: %s', async (location, path) => {
    const { client } = await vendor(answering(withHead(json(202, {}), `location: ${location}`, 'x-cost: 3')), {
      path: '/api',
    });
    let seen: VendorAnswer | undefined;
    await client.within(callOf(), (it) =>
      it.ask(POST, (answer) => {
        seen = answer;
        return { kind: 'unintelligible' };
      }),
    );
    expect(seen).toMatchObject({ status: 202, headers: { location, 'x-cost': '3' } });
    expect(seen?.location).toBe(path);
  });
});

describe('an exchange without an end', () => {
  const dripping: Respond = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n');
    const drip = setInterval(() => void socket.write(' '), 10);
    socket.on('close', () => clearInterval(drip));
  };

  it.each([
    ['silent', () => {}],
    ['dripping', dripping],
  ])('ends with the time limit: %s', async (_name, respond) => {
    const ends: string[] = [];
    const { sendOnce } = await vendor(respond, { timeoutMs: 200 });
    expect(await sendOnce(POST, callOf({ onEnd: (end) => void ends.push(end) }))).toEqual({ kind: 'timed-out' });
    expect(ends).toEqual(['timed-out']);
  });

  it('ends with the size limit when the body is endless', async () => {
    let sent = 0;
    const { sendOnce } = await vendor((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
      const push = (): void => {
        while (sent < 50_000_000 && socket.writable) {
          sent += 65_536;
          if (!socket.write(Buffer.alloc(65_536, 'x'))) return void socket.once('drain', push);
        }
      };
      push();
    });
    expect(await sendOnce(POST)).toEqual({ kind: 'unintelligible' });
    expect(sent).toBeLessThan(20_000_000);
  });

  it('ends with the signal of its call, while the client waits for a token', async () => {
    const over = new AbortController();
    const tokens = await misbehavingServer(() => over.abort());
    closers.push(() => tokens.close());
    const auth = oauth2({ tokenUrl: tokens.url, clientId: 'me', clientSecret: 'secret' });
    const { sendOnce, requests } = await vendor(() => {}, { auth, timeoutMs: 600_000 });
    expect(await sendOnce(POST, callOf({ signal: over.signal }))).toEqual({ kind: 'timed-out' });
    await tokens.close();
    expect(requests).toEqual([]);
  });

  it('ends with the signal of its call', async () => {
    const over = new AbortController();
    const { sendOnce } = await vendor(() => over.abort(), { timeoutMs: 600_000 });
    expect(await sendOnce(POST, callOf({ signal: over.signal }))).toEqual({ kind: 'timed-out' });
  });
});

describe('an interrupted exchange', () => {
  it.each(AMBIGUOUS_ENDS)('is sent once, and is settled by the given query: the vendor %s', async (_name, respond) => {
    const { client, requests } = await vendor((socket, _request, count) =>
      count === 1 ? respond(socket) : void socket.write(json(200, { name: 'Jo' })),
    );
    const verdict = await client.within(callOf(), (it) => it.sendOnce(POST, read, () => it.ask(GET, read)));
    expect(verdict).toEqual({ kind: 'found', name: 'Jo' });
    expect(requests.map(({ line }) => line)).toEqual(['POST /people HTTP/1.1', 'GET /people/7 HTTP/1.1']);
  });

  it.each(AMBIGUOUS_ENDS)('times out when the outcome cannot be queried: the vendor %s', async (_name, respond) => {
    const { sendOnce, requests } = await vendor((socket) => respond(socket));
    expect(await sendOnce(POST)).toEqual({ kind: 'timed-out' });
    expect(requests).toHaveLength(1);
  });

  it.each(AMBIGUOUS_ENDS)('is repeated once if it is a query: the vendor %s', async (_name, respond) => {
    const { ask, requests } = await vendor((socket) => respond(socket));
    expect(await ask(GET)).toEqual({ kind: 'timed-out' });
    expect(requests).toHaveLength(2);
  });

  it('is never reported as not executed because its repeat was not', async () => {
    const { ask } = await vendor((socket, _request, count) =>
      count === 1 ? socket.resetAndDestroy() : void socket.write(json(503, {})),
    );
    expect(await ask(POST)).toEqual({ kind: 'timed-out' });
  });

  it('has the answer of the vendor when a 502 has a code of the vendor', async () => {
    const { sendOnce } = await vendor(answering(json(502, { code: 'locked' })));
    expect(await sendOnce(POST)).toEqual({ kind: 'locked' });
  });

  it('was not sent when no server listens', async () => {
    const { sendOnce, close } = await vendor(() => {});
    await close();
    expect(await sendOnce(POST)).toEqual({ kind: 'unavailable' });
  });
});

describe('a poll', () => {
  const DONE = json(200, { name: 'Jo' });

  it('ends with the first answer that is not pending', async () => {
    const { poll, requests } = await vendor(answering(json(202, {}), json(202, {}), DONE));
    expect(await poll()).toEqual({ kind: 'found', name: 'Jo' });
    expect(requests).toHaveLength(3);
  });

  it('goes on after a vendor that is busy or lost the connection', async () => {
    const { poll, requests } = await vendor((socket, _request, count) => {
      if (count === 1) socket.resetAndDestroy();
      else socket.write(count === 2 ? json(503, {}) : DONE);
    });
    expect(await poll()).toEqual({ kind: 'found', name: 'Jo' });
    expect(requests).toHaveLength(3);
  });

  it.each([
    ['a pending answer', json(202, {})],
    ['a busy vendor', json(429, {})],
  ])('is pending when the pause of %s would outlast the time limit', async (_name, answer) => {
    const { poll, requests } = await vendor(answering(withHead(answer, 'retry-after: 30')));
    expect(await poll()).toEqual({ kind: 'pending', lookAgainAfterSeconds: 30 });
    expect(requests).toHaveLength(1);
  });

  it('ends with a final answer that the request was not executed', async () => {
    const { client, requests } = await vendor(answering(json(202, {}), json(200, {})));
    const given = { read: () => ({ kind: 'unavailable' as const }), pauseSeconds: 0.001 };
    const pending = ({ status }: VendorAnswer): boolean => status === 202;
    const verdict = await client.within(callOf(), (it) => it.poll(GET, { ...given, pending }));
    expect(verdict).toEqual({ kind: 'unavailable' });
    expect(requests).toHaveLength(2);
  });

  it('is told from other requests in the ends of its call', async () => {
    const ends: string[] = [];
    const { poll } = await vendor(answering(json(202, {}), DONE));
    await poll({}, callOf({ onEnd: (end) => void ends.push(end) }));
    expect(ends).toEqual(['poll-202', 'poll-200']);
  });

  it('takes the pause that the vendor states in its body', async () => {
    const { poll } = await vendor(answering(json(202, { wait: 39.2 })));
    expect(await poll({ retryAfter: ({ body }) => (isRecord(body) ? Number(body.wait) : undefined) })).toEqual({
      kind: 'pending',
      lookAgainAfterSeconds: 40,
    });
  });

  it('sends nothing when the first pause would outlast the time limit', async () => {
    const { poll, requests } = await vendor(answering(DONE), { timeoutMs: 600_000 });
    expect(await poll({ firstAfterSeconds: 900 })).toEqual({ kind: 'pending', lookAgainAfterSeconds: 900 });
    expect(requests).toEqual([]);
  });

  it('is pending when its call is ended during a pause', async () => {
    const over = new AbortController();
    const { poll } = await vendor(
      (socket) => void socket.write(json(202, {}), () => setImmediate(() => over.abort())),
      { timeoutMs: 600_000 },
    );
    const verdict = await poll({ retryAfter: () => 300 }, callOf({ signal: over.signal }));
    expect(verdict).toMatchObject({ kind: 'pending' });
  });

  it('is pending when an answer hangs until the time limit', async () => {
    const { poll } = await vendor(() => {}, { timeoutMs: 200 });
    expect(await poll()).toEqual({ kind: 'pending', lookAgainAfterSeconds: 1 });
  });

  it.each([
    ['cannot be read', json(200, { state: 'perhaps' })],
    ['is too large', json(202, { filler: 'x'.repeat(2_000) })],
  ])('ends with an answer that %s', async (_name, answer) => {
    const { poll, requests } = await vendor(answering(answer), { maxAnswerBytes: 1_000 });
    expect(await poll()).toEqual({ kind: 'unintelligible' });
    expect(requests).toHaveLength(1);
  });
});
