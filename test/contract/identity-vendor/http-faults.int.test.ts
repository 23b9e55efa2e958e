// The HTTP adapter and servers that misbehave in other ways than the sandbox. A bare TCP server writes the bytes that
// the test chooses.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { IdvIdentityVendor } from '../../../src/vendors/idv/identity.js';
import { AMBIGUOUS_ENDS, json, listen, urlOf } from '../../support/misbehaving-server.js';
import { misbehavingVendors } from '../../support/misbehaving-vendor.js';
import { until } from '../../support/eventually.js';
import { withoutReplies } from '../../support/replies.js';
import { recordedAnswer } from '../../support/recorded-answer.js';
import { newCall, person } from './suite.js';

const { misbehaving, adapter: replying, closeLater } = misbehavingVendors(IdvIdentityVendor);
const adapter = (url: string, timeoutMs?: number): IdvIdentityVendor => withoutReplies(replying(url, timeoutMs));

const CONFIRMED = recordedAnswer('idv', 'registration-confirmed');
const CHALLENGE = recordedAnswer('idv', 'registration-challenged');
const WRONG = { ...CHALLENGE, success: false };
const EXECUTED = {
  state: 'executed',
  operation: 'registration',
  answer: { status: 200, body: JSON.stringify(CONFIRMED) },
};

describe('after a call with an unknown outcome', () => {
  it.each(AMBIGUOUS_ENDS)(
    'the adapter asks once for the outcome of the attempt and returns it: the vendor %s',
    async (_name, respond) => {
      const { url, requests } = await misbehaving((socket, _request, count) =>
        count === 1 ? respond(socket) : void socket.write(json(200, EXECUTED)),
      );
      const call = newCall();
      expect(await adapter(url).register(call, person('Smith'))).toEqual({
        kind: 'confirmed',
        vendorSession: CONFIRMED.UserToken,
      });
      expect(requests.map(({ line }) => line)).toEqual([
        'POST /identity/v1/registrations HTTP/1.1',
        `GET /identity/v1/outcomes/${call.attemptId} HTTP/1.1`,
      ]);
    },
  );

  it.each(AMBIGUOUS_ENDS)(
    'the adapter reports unavailable when the attempt was not executed: the vendor %s',
    async (_name, respond) => {
      const { url } = await misbehaving((socket, _request, count) =>
        count === 1 ? respond(socket) : void socket.write(json(200, { state: 'not-executed' })),
      );
      expect(await adapter(url).verifyOtp(newCall(), 'vs_1', '123456')).toEqual({ kind: 'unavailable' });
    },
  );

  it.each(AMBIGUOUS_ENDS)(
    'the adapter never reports the attempt as "not executed" when the request for the outcome fails as well: the vendor always %s',
    async (_name, respond) => {
      const { url, requests } = await misbehaving((socket) => respond(socket));
      expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'timed-out' });
      expect(requests).toHaveLength(2);
    },
  );

  it.each([
    ['is still executing', json(200, { state: 'in-progress' })],
    [
      'remembers another operation',
      json(200, { ...EXECUTED, operation: 'otp-resend', answer: { status: 200, body: JSON.stringify(CHALLENGE) } }),
    ],
    ['answers 503', json(503, {})],
    ['answers nonsense', json(200, { state: 'perhaps' })],
  ])('the adapter leaves the outcome open when the vendor %s', async (_name, answer) => {
    const { url } = await misbehaving((socket, _request, count) =>
      count === 1 ? socket.resetAndDestroy() : void socket.write(answer),
    );
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'timed-out' });
  });

  it('the adapter has one time limit for the call and the request for its outcome together', async () => {
    const { url } = await misbehaving((socket, _request, count) => {
      // With a limit of its own, the question would be answered in time.
      if (count === 1) setTimeout(() => socket.resetAndDestroy(), 400);
      else setTimeout(() => socket.write(json(200, EXECUTED)), 300);
    });
    expect(await adapter(url, 500).register(newCall(), person('Smith'))).toEqual({ kind: 'timed-out' });
  });
});

describe('the time limit of the adapter', () => {
  it.each([
    ['the head', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-drip: '],
    ['the body', `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n`],
    [
      'a chunked body',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n',
    ],
  ])('covers %s that arrives byte by byte', async (_name, beginning) => {
    const { url } = await misbehaving((socket) => {
      socket.write(beginning);
      const drip = setInterval(() => void socket.write(' '), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await adapter(url, 200).register(newCall(), person('Smith'))).toEqual({ kind: 'timed-out' });
  });

  it('covers the wait for a connection that is never established, and then no request is sent', async () => {
    const { url, requests } = await misbehaving(() => {});
    // Half of the limit is for the connection. The other half is far longer than any stall of a busy machine.
    expect(await adapter(url.replace('http:', 'https:'), 1_200).register(newCall(), person('Smith'))).toEqual({
      kind: 'unavailable',
    });
    expect(requests).toEqual([]);
  });

  it('runs while a request waits for a free connection', async () => {
    const { url, requests } = await misbehaving(() => {});
    const vendor = new IdvIdentityVendor({
      baseUrl: url,
      credential: 'test-credential',
      timeoutMs: 200,
      connections: 1,
    });
    closeLater(() => vendor.close());
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => vendor.register(newCall(), person('Smith'))));
    expect(verdicts).toEqual(Array(20).fill({ kind: 'timed-out' }));
    // Requests whose time limit had passed before their turn were never sent.
    expect(requests.length).toBeLessThan(20);
  });
});

describe("a call whose time has passed before the adapter's limit", () => {
  it('leaves no request and no connection open, so that the adapter closes at once', async () => {
    const { url, requests } = await misbehaving(() => {});
    const vendor = new IdvIdentityVendor({
      baseUrl: url,
      credential: 'test-credential',
      timeoutMs: 600_000,
      connections: 1,
    });
    const over = new AbortController();
    const call = { ...newCall(), signal: over.signal };
    const asked = [vendor.register(call, person('Smith')), vendor.outcomeOf(call)];
    await until('the first one was sent', () => requests.length === 1);
    over.abort();
    expect(await Promise.all(asked)).toEqual([{ kind: 'timed-out' }, { kind: 'timed-out' }]);
    expect(await vendor.register(call, person('Smith'))).toEqual({ kind: 'timed-out' });
    await vendor.close();
    expect(requests).toHaveLength(1);
  });
});

describe('an answer of the vendor', () => {
  const filler = (bytes: number): string => JSON.stringify({ ...CONFIRMED, filler: 'x'.repeat(bytes) });

  it('is read up to 256 kB', async () => {
    const { url } = await misbehaving(
      (socket) =>
        void socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${filler(250_000)}`, () => socket.end()),
    );
    expect(await adapter(url).register(newCall(), person('Smith'))).toMatchObject({ kind: 'confirmed' });
  });

  it.each([
    ['a length given', (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`],
    ['no length given', (body: string) => `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`],
  ])('is not read beyond 256 kB, with %s', async (_name, response) => {
    let sent = 0;
    const { url, requests } = await misbehaving((socket) => {
      const big = Buffer.from(response(filler(20_000_000)));
      const push = (): void => {
        while (sent < big.length && socket.writable) {
          const piece = big.subarray(sent, sent + 65_536);
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once('drain', push);
        }
      };
      push();
    });
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'unintelligible' });
    expect(sent).toBeLessThan(15_000_000);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['a head over 16 kB', `HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['no JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>'],
    ['empty', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['not an object', json(200, [CONFIRMED])],
    ['a success other than 200', json(201, CONFIRMED)],
    ['an internal error', json(500, { error: { code: 'internal_error' } })],
    ['a code that is not a number', json(422, { error: { code: '18' } })],
    ['an unknown code', json(422, { error: { code: 31_337 } })],
    ['confirmed without a token', json(200, { ...CONFIRMED, UserToken: undefined })],
    ['confirmed with an endless token', json(200, { ...CONFIRMED, UserToken: 'x'.repeat(4_001) })],
    ['confirmed with an empty token', json(200, { ...CONFIRMED, UserToken: '' })],
    ['confirmed without success', json(200, { ...CONFIRMED, success: false })],
    ['authenticated as another type than boolean', json(200, { ...CONFIRMED, userAuthenticated: 'true' })],
    ['a guard of another type than boolean', json(200, { ...CONFIRMED, duplicateGuard: 'yes' })],
    ['the form of an earlier version', json(200, { outcome: 'confirmed', sessionToken: 'vs_1' })],
    ['a challenge without a session', json(200, { ...CHALLENGE, authSession: null })],
    ['a challenge without a method', json(200, { ...CHALLENGE, otpEnabled: false, kiqEnabled: false, kba: null })],
    ['a challenge without a statement about codes', json(200, { ...CHALLENGE, otpEnabled: undefined })],
    ['a challenge without a statement about questions', json(200, { ...CHALLENGE, kiqEnabled: undefined })],
    ['promised questions that are missing', json(200, { ...CHALLENGE, kba: null })],
    ['questions although none are accepted', json(200, { ...CHALLENGE, kiqEnabled: false })],
    ['no questions', json(200, { ...CHALLENGE, kba: { sessionId: 'q', questions: [] } })],
    ['answers that are not numbered in order', json(200, questions([[1, [2, 1]]]))],
    [
      'two questions with one id',
      json(
        200,
        questions([
          [1, [1, 2]],
          [1, [1, 2]],
        ]),
      ),
    ],
    ['too many questions', json(200, questions(Array.from({ length: 21 }, (_, index) => [index, [1]])))],
  ])('is unintelligible: %s', async (_name, response) => {
    const { url, requests } = await misbehaving((socket) => void socket.write(response));
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'unintelligible' });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['a refusal that only a registration can have', json(422, { error: { code: 407 } })],
    ['an answer of another operation', json(200, CHALLENGE)],
    ['confirmed without a token', json(200, { ...CONFIRMED, UserToken: undefined })],
    ['attempts that are not a count', json(422, { ...WRONG, attemptsRemaining: -1 })],
    ['wrong without a statement that it is wrong', json(422, { ...WRONG, userAuthenticated: undefined })],
  ])('is unintelligible as the answer to a code: %s', async (_name, response) => {
    const { url } = await misbehaving((socket) => void socket.write(response));
    expect(await adapter(url).verifyOtp(newCall(), 'vs_1', '123456')).toEqual({ kind: 'unintelligible' });
  });

  it('is not followed when it is a redirect', async () => {
    const { url, requests } = await misbehaving(
      (socket) => void socket.write('HTTP/1.1 307 X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'unintelligible' });
    expect(requests).toHaveLength(1);
  });

  function questions(shape: readonly (readonly [id: number, answerIds: readonly number[]])[]): object {
    const asked = shape.map(([id, answerIds]) => ({
      id,
      text: 'Which?',
      answers: answerIds.map((answerId) => ({ id: answerId, text: 'This' })),
    }));
    return { ...CHALLENGE, kba: { sessionId: 'q', questions: asked } };
  }
});

describe('the answer that comes with a verdict', () => {
  const http = (status: number, body: string): string =>
    `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  /** Numbers and spaces that would change if the text were parsed and written again. */
  const odd = `${JSON.stringify(CONFIRMED).slice(0, -1)},\n "much": 12345678901234567890 , "one":1.0,"é":"\\u00e9"}`;
  const reply = { status: 200, body: odd, code: null, field: null, message: null };

  it('is passed on byte for byte', async () => {
    const { url } = await misbehaving((socket) => void socket.write(http(200, odd)));
    expect(await replying(url).register(newCall(), person('Smith'))).toMatchObject({ kind: 'confirmed', reply });
  });

  it('is passed on byte for byte also when the service asks for the outcome', async () => {
    const past = { ...EXECUTED, answer: { status: 200, body: odd } };
    const { url } = await misbehaving((socket) => void socket.write(http(200, JSON.stringify(past))));
    expect(await replying(url).outcomeOf(newCall())).toMatchObject({ kind: 'registration', verdict: { reply } });
  });

  it('is passed on even for a refusal whose number the service does not know', async () => {
    const body = '{"error":{"code":31337,"field":"address.zip"}}';
    const { url } = await misbehaving((socket) => void socket.write(http(422, body)));
    expect(await replying(url).register(newCall(), person('Smith'))).toEqual({
      kind: 'unintelligible',
      reply: { status: 422, body, code: 31_337, field: 'address.postalCode', message: null },
    });
  });

  it.each([
    ['no JSON', http(200, '<html>')],
    ['a redirect', http(302, '{}').replace('\r\n', '\r\nlocation: /login\r\n')],
    ['turned away', http(503, '{"error":{"code":"down"}}')],
    ['the credential refused', http(401, '{"error":{"code":"unauthorized"}}')],
    ['a key that is closed', http(409, '{"error":{"code":"key_closed"}}')],
    ['a key in use', http(409, '{"error":{"code":"call_in_progress"}}')],
    ['a key that was used for another call', http(409, '{"error":{"code":"idempotency_key_reused"}}')],
  ])('is not passed on: %s', async (_name, response) => {
    const { url } = await misbehaving((socket) => void socket.write(response));
    expect(await replying(url).register(newCall(), person('Smith'))).not.toHaveProperty('reply');
  });
});

describe('an incomplete answer of the vendor', () => {
  it('is read with a token of up to 4,000 characters', async () => {
    const UserToken = 'x'.repeat(4_000);
    const { url } = await misbehaving((socket) => void socket.write(json(200, { ...CONFIRMED, UserToken })));
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({
      kind: 'confirmed',
      vendorSession: UserToken,
    });
  });

  it('is read without the parts that the service does not need', async () => {
    const bodies = [CONFIRMED, CHALLENGE].map(({ crossCoreFullResponse: _, clientReferenceId: __, ...body }) =>
      json(200, { ...body, unheardOf: [1], crossCoreFullResponse: 'whatever', clientReferenceId: 7 }),
    );
    const { url } = await misbehaving((socket, _request, count) => void socket.write(bodies[count - 1]!));
    expect(await adapter(url).register(newCall(), person('Smith'))).toMatchObject({ kind: 'confirmed' });
    expect(await adapter(url).register(newCall(), person('Smith'))).toMatchObject({
      kind: 'step-up',
      vendorSession: CHALLENGE.authSession,
      otp: true,
      kba: CHALLENGE.kba.questions,
    });
  });

  it('counts as a wrong code when the count is missing, and as a lock when the time cannot be read', async () => {
    const bodies = [json(422, WRONG), json(423, { ...WRONG, unblockAt: 'tomorrow' })];
    const { url } = await misbehaving((socket, _request, count) => void socket.write(bodies[count - 1]!));
    const vendor = adapter(url);
    expect(await vendor.verifyOtp(newCall(), 'vs_1', '000000')).toEqual({ kind: 'wrong', attemptsRemaining: null });
    expect(await vendor.verifyOtp(newCall(), 'vs_1', '000000')).toEqual({ kind: 'locked', unblockAt: null });
  });

  it('gives the end of a lock in UTC with milliseconds', async () => {
    const { url } = await misbehaving(
      (socket) => void socket.write(json(423, { ...WRONG, unblockAt: '2026-01-02T03:04:05+02:00' })),
    );
    expect(await adapter(url).verifyOtp(newCall(), 'vs_1', '000000')).toEqual({
      kind: 'locked',
      unblockAt: '2026-01-02T01:04:05.000Z',
    });
  });
});

describe('re-authentication of a person', () => {
  const DEVICE = { jscPayload: 'fingerprint' };
  const answered = async (response: string, ask: (vendor: IdvIdentityVendor) => Promise<unknown>): Promise<unknown> => {
    const { url } = await misbehaving((socket) => void socket.write(response));
    return ask(adapter(url));
  };
  const begun = (vendor: IdvIdentityVendor): Promise<unknown> => vendor.reauthenticate(newCall(), 'ut_1', DEVICE);
  const standing = (vendor: IdvIdentityVendor): Promise<unknown> => vendor.authenticationStatus(newCall(), 'ut_1');
  const expired = (vendor: IdvIdentityVendor): Promise<unknown> => vendor.expireAuthentication(newCall(), 'ut_1');
  const error = (code: unknown): object => ({ error: { code } });

  it.each<[string, string, (vendor: IdvIdentityVendor) => Promise<unknown>, object]>([
    ['confirmed without a challenge', json(200, CONFIRMED), begun, { kind: 'confirmed' }],
    ['an unknown number', json(500, error(1010)), begun, { kind: 'refused-otherwise' }],
    ['a refusal that only a registration has', json(400, error(407)), begun, { kind: 'refused-otherwise' }],
    ['no number', json(418, {}), begun, { kind: 'refused-otherwise' }],
    ['the session is over', json(504, error(3009)), begun, { kind: 'session-over' }],
    ['a refusal of the person', json(422, error(18)), begun, { kind: 'refused', reason: 'FRAUD_REPORTED' }],
    ['down with its own number', json(503, error(258)), begun, { kind: 'unavailable' }],
    ['a challenge without a session', json(200, { ...CHALLENGE, authSession: '' }), begun, { kind: 'unintelligible' }],
    ['not JSON', json(500, {}).replace('{}', 'no'), begun, { kind: 'unintelligible' }],
    ['it holds', json(200, { authenticated: true }), standing, { kind: 'standing', authenticated: true }],
    ['nobody knows', json(200, { authenticated: 'yes' }), standing, { kind: 'unintelligible' }],
    ['an unknown person', json(500, error(1010)), standing, { kind: 'refused-otherwise' }],
    ['down', json(503, {}), standing, { kind: 'unavailable' }],
    ['a word', json(200, 'gone'), expired, { kind: 'expired' }],
    ['null', json(200, null), expired, { kind: 'expired' }],
    ['not JSON', json(200, {}).replace('{}', 'ok'), expired, { kind: 'unintelligible' }],
    ['an unknown person', json(500, error(1010)), expired, { kind: 'refused-otherwise' }],
    ['another success', json(202, null), expired, { kind: 'unintelligible' }],
  ])('is reported as %s', async (_name, response, ask, verdict) => {
    expect(await answered(response, ask)).toEqual(verdict);
  });

  it('sends the token in the body, never in an address', async () => {
    const { url, requests } = await misbehaving((socket) => void socket.write(json(200, null)));
    for (const ask of [begun, standing, expired]) await ask(adapter(url));
    expect(requests.map(({ line }) => line)).toEqual([
      'POST /identity/v1/authentications HTTP/1.1',
      'POST /identity/v1/authentications/status HTTP/1.1',
      'POST /identity/v1/authentications/expire HTTP/1.1',
    ]);
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual([
      { userToken: 'ut_1', device: { jsc: 'fingerprint' } },
      { userToken: 'ut_1' },
      { userToken: 'ut_1' },
    ]);
  });
});

describe('a vendor that refuses the call', () => {
  it.each([401, 403, 429, 503])('is reported as unavailable: %i', async (status) => {
    const { url, requests } = await misbehaving((socket) => void socket.write(json(status, { error: { code: 'no' } })));
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'unavailable' });
    expect(requests).toHaveLength(1);
  });

  it('is reported as unavailable when no server listens, and when the host name is unknown', async () => {
    const server = createServer();
    await listen(server);
    const url = urlOf(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await adapter(url).register(newCall(), person('Smith'))).toEqual({ kind: 'unavailable' });
    expect(await adapter(url).outcomeOf(newCall())).toEqual({ kind: 'unavailable' });
    expect(await adapter('http://vendor.invalid').register(newCall(), person('Smith'))).toEqual({
      kind: 'unavailable',
    });
  });

  it('is reported as unavailable by a closed adapter', async () => {
    const vendor = new IdvIdentityVendor({ baseUrl: 'http://127.0.0.1:9', credential: 'x', timeoutMs: 1_000 });
    await vendor.close();
    expect(await vendor.register(newCall(), person('Smith'))).toEqual({ kind: 'unavailable' });
  });
});

describe('a request of the adapter', () => {
  it('carries credential, idempotency key and request id, below the path of the base address', async () => {
    const { url, requests } = await misbehaving((socket) => void socket.write(json(200, CONFIRMED)));
    const call = newCall();
    await adapter(`${url}/vendor/`).verifyOtp(call, 'a/../b?c', '123456');
    const [request] = requests;
    expect(request!.line).toBe('POST /vendor/identity/v1/sessions/a%2F..%2Fb%3Fc/otp HTTP/1.1');
    expect(request!.headers.get('authorization')).toBe('Bearer test-credential');
    expect(request!.headers.get('idempotency-key')).toBe(call.attemptId);
    expect(request!.headers.get('x-request-id')).toBe(call.correlationId);
    expect(JSON.parse(request!.body)).toEqual({ code: '123456' });
  });

  it('sends every given field of a person, and leaves out the others', async () => {
    const { url, requests } = await misbehaving((socket) => void socket.write(json(200, CONFIRMED)));
    const phoneless = { userType: 'PMC', jscPayload: 'js' } as const;
    await adapter(url).register(newCall(), phoneless);
    const given = {
      firstName: 'Jo',
      middleName: 'Q',
      lastName: 'Smith',
      dateOfBirth: '01311980',
      ssn: '666443210',
      email: 'jo@example.test',
      companyName: 'Example',
      mothersMaidenName: 'Doe',
      spouseName: 'Al',
      propertyZip: '62701',
      productId: 7,
      address: { street: '1 Main St', zip: '62701' },
      ipAddress: '203.0.113.7',
      termsAcceptedAt: '2026-01-02T03:04:05.678Z',
    };
    const more = { phoneNumber: '2025550143', phoneType: 'W', hdimPayload: 'hd' } as const;
    await adapter(url).register(newCall(), { ...phoneless, ...given, ...more });
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual([
      { userType: 'PMC', phone: {}, device: { jsc: 'js' } },
      { userType: 'PMC', ...given, phone: { number: '2025550143', type: 'W' }, device: { jsc: 'js', hdim: 'hd' } },
    ]);
  });

  it('uses its connections again', async () => {
    let connections = 0;
    const server = createHttpServer((_request, response) => response.end(JSON.stringify(CONFIRMED))).on(
      'connection',
      () => (connections += 1),
    );
    await listen(server);
    closeLater(() => new Promise((resolve) => server.close(resolve)));
    const vendor = adapter(urlOf(server));
    for (let count = 0; count < 20; count += 1) await vendor.register(newCall(), person('Smith'));
    // The next call may begin before the pool has noticed the end of the last call. The adapter then uses two
    // connections, never more.
    expect(connections).toBeLessThanOrEqual(2);
  });
});

describe('when the vendor states the time of the next call', () => {
  const told = async (head: string, more = {}): Promise<unknown[][]> => {
    const { url } = await misbehaving((socket) => void socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 2\r\n\r\n{}`));
    const ends: unknown[][] = [];
    const call = { ...newCall(), onEnd: (...end: unknown[]) => void ends.push(end) };
    expect(await adapter(url).register(call, person('Smith'))).toStrictEqual({ kind: 'unavailable', ...more });
    return ends;
  };

  it.each([
    ['503 Down', '7', 7],
    ['429 Busy', '120', 120],
    ['503 Down', '0', 1],
    ['503 Down', '86400', 600],
    ['503 Down', 'Thu, 01 Jan 2015 00:00:00 GMT', 1],
    ['503 Down', 'Fri, 01 Jan 2999 00:00:00 GMT', 600],
    ['503 Down', 'soon', undefined],
    ['503 Down', '-5', undefined],
    ['403 Forbidden', '7', undefined],
  ])('%s with Retry-After %s is reported as %s', async (status, retryAfter, seconds) => {
    const more = seconds === undefined ? {} : { retryAfterSeconds: seconds };
    expect(await told(`${status}\r\nretry-after: ${retryAfter}`, more)).toEqual([[status.slice(0, 3), seconds]]);
  });

  it('a 503 without Retry-After reports no time', async () => {
    expect(await told('503 Down')).toEqual([['503', undefined]]);
  });
});
