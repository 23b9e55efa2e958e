// Every request gets a documented status and shape, whatever it holds. No request gets a 500 or a stack trace.
import 'reflect-metadata';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { said } from '../../../src/surfaces/string-codes.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../../support/service.js';

let service: Service;
let caller: PlatformCaller;
let sessionId: string;

beforeAll(async () => {
  service = await Service.shared('plain');
  caller = await service.signIn('nopay');
  sessionId = (await caller.submit({ lastName: 'Choicetest' })).body.id;
});
afterAll(() => service.stop());

const STATUSES = [
  'SUBMITTED',
  'STEP_UP_REQUIRED',
  'OTP_PENDING',
  'KBA_PENDING',
  'VERIFIED',
  'BLOCKED',
  'EXPIRED',
  'ERROR',
];

function expectDocumented(reply: Reply): void {
  expect(reply.status).toBeLessThan(500);
  expect(reply.headers.get('x-request-id')).toBeTruthy();
  expect(reply.text).not.toMatch(/(?:\n|\\n)\s*at .+:\d+:\d+|node_modules|Error:/);
  if (reply.status === 200) {
    expect(reply.body).toMatchObject(
      reply.body.token === undefined
        ? { id: expect.any(String), status: expect.any(String) }
        : { token_type: 'Bearer' },
    );
    if (reply.body.token === undefined) expect(STATUSES).toContain(reply.body.status);
    return;
  }
  const { code, message, recoverable, ...rest } = reply.body.error;
  // When the caller can correct the mistake, the message states the rule. The message repeats no text of the caller.
  if (reply.status === 400) expect(message).toMatch(/^[\w.]+( [ -;=?-~]+)?\.$/);
  expect(said).toContainEqual(
    expect.objectContaining({ code, status: reply.status, recoverable, ...(reply.status === 400 ? {} : { message }) }),
  );
  expect(Object.keys(reply.body).filter((key) => key !== 'sessionId')).toEqual(['error']);
  expect(Object.keys(rest).filter((key) => key !== 'field' && key !== 'details')).toEqual([]);
}

const FIELDS = Object.keys(aPerson());
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    'null',
    '1e999',
    '__proto__',
    '<script>alert(1)</script>',
    "' OR 1=1 --",
    '../../etc/passwd',
  ),
);
/** Bodies that are mostly valid and have a few arbitrary fields, so that the tests also reach later rules. */
const spoiled = fc
  .dictionary(
    fc.constantFrom(
      ...FIELDS,
      'phoneType',
      'middleName',
      'email',
      'hdimPayload',
      'companyName',
      'constructor',
      'toString',
    ),
    anything,
    { maxKeys: 4 },
  )
  .map((replaced) => ({ ...aPerson(), ...replaced }));
const ids = fc.oneof(
  fc.constant('known'),
  fc.uuid(),
  fc
    .string({ maxLength: 60 })
    .map((text) => encodeURIComponent(Buffer.from(text).toString('utf8')))
    .filter((text) => text !== '' && text !== '.' && text !== '..'),
);
const RUNS = { numRuns: 150 };

describe('arbitrary input', () => {
  it('gets a documented reply from POST /screening/submit', () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(anything, spoiled), async (body) =>
        expectDocumented(await caller.post('/screening/submit', JSON.stringify(body))),
      ),
      RUNS,
    ));

  it.each([
    ['otp', fc.oneof(anything, fc.record({ code: anything }))],
    [
      'kba',
      fc.oneof(
        anything,
        fc.record({
          answers: fc.oneof(
            anything,
            fc.array(fc.record({ questionId: anything, answerId: anything }), { maxLength: 6 }),
          ),
        }),
      ),
    ],
    ['otp/resend', anything],
  ])('gets a documented reply from POST /screening/{id}/%s', (route, bodies) =>
    fc.assert(
      fc.asyncProperty(ids, bodies, async (id, body) =>
        expectDocumented(
          await caller.post(`/screening/${id === 'known' ? sessionId : id}/${route}`, JSON.stringify(body)),
        ),
      ),
      RUNS,
    ),
  );

  it('gets a documented reply from GET /screening/{id}/status', () =>
    fc.assert(
      fc.asyncProperty(ids, fc.webQueryParameters(), async (id, query) =>
        expectDocumented(await caller.get(`/screening/${id === 'known' ? sessionId : id}/status?${query}`)),
      ),
      RUNS,
    ));

  it('gets a documented reply from POST /auth/token/exchange, in headers and body', () =>
    fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom(...'pklive_test-AZaz09 "\\/.:'), maxLength: 90 }),
        fc.oneof(
          fc.webUrl(),
          fc.constantFrom('null', '', 'http://localhost', 'file://', 'https://app.example.test.evil.test'),
        ),
        anything,
        async (key, origin, body) => {
          const headers = {
            ...(key.trim() === '' ? {} : { 'x-publishable-key': key }),
            ...(origin === '' ? {} : { origin }),
            'x-session-token': key.trim(),
          };
          expectDocumented(
            await service.request('POST', '/auth/token/exchange', { headers, body: JSON.stringify(body) }),
          );
        },
      ),
      RUNS,
    ));

  it('gets a documented reply as raw bytes with odd headers, on every route', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/screening/submit', `/screening/x/otp`, '/screening/x/kba', '/auth/token/exchange'),
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom(
          'application/json',
          'application/json; charset=latin1',
          'text/plain',
          'multipart/form-data; boundary=x',
          'application/x-www-form-urlencoded',
          'nonsense',
        ),
        async (path, body, type) => {
          const reply = await caller.post(path, body, { 'content-type': type });
          expect(reply.status).toBeGreaterThanOrEqual(400);
          expectDocumented(reply);
        },
      ),
      RUNS,
    ));

  describe('an unreadable request body', () => {
    const UNREADABLE: [type: string, body: string, status: number, code: string][] = [
      ['application/json', '{"code":', 400, 'VALIDATION_ERROR'],
      ['text/plain', 'code', 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['application/x-www-form-urlencoded', 'code=123456', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ];

    it.each(UNREADABLE)('%s: is reported only when the request has no other mistake', async (type, body) => {
      const send = async (path: string, headers: Record<string, string> = {}): Promise<[number, string]> => {
        const reply = await service.request('POST', path, { headers: { 'content-type': type, ...headers }, body });
        return [reply.status, reply.body.error.code];
      };
      expect(await send('/nowhere')).toEqual([404, 'NOT_FOUND']);
      expect(await send('/screening/submit')).toEqual([401, 'AUTH_UNAUTHORIZED']);
      expect(await send('/v1/sessions')).toEqual([401, 'AUTH_UNAUTHORIZED']);
      expect(await send('/v1/sessions', { authorization: 'Bearer sk_test_0123456789abcdef' })).toEqual([
        401,
        'AUTH_UNAUTHORIZED',
      ]);
      expect(await send('/tsp/webhooks')).toEqual([401, 'AUTH_UNAUTHORIZED']);
      expect(await send('/payments/webhook')).toEqual([410, 'ENDPOINT_RETIRED']);
      expect(await send('/auth/token/exchange')).toEqual([401, 'MISSING_KEY']);
      expect(await send('/auth/token/exchange', { 'x-publishable-key': 'pk_test_0123456789abcdef' })).toEqual([
        401,
        'INVALID_KEY',
      ]);
    });

    it.each(UNREADABLE)(
      '%s: is refused when the rest of the request is right, even on routes without a body',
      async (type, body, status, code) => {
        for (const path of [
          '/screening/submit',
          `/screening/${sessionId}/otp/resend`,
          '/payments/create-intent',
          `/reports/${sessionId}/consent-to-share`,
        ]) {
          const reply = await caller.post(path, body, { 'content-type': type });
          expect([path, reply.status, reply.body.error.code]).toEqual([path, status, code]);
        }
      },
    );
  });

  it.each([64_001, 10_000_000])(
    'answers 413 to a body of %d bytes, and 401 to a caller without credentials, even while the body is still being sent',
    async (size) => {
      const body = JSON.stringify({ firstName: 'x'.repeat(size) });
      const { publishableKey, secretKey } = (await service.credentials()).accounts.nopay;
      const keyed = { ...caller.headers, 'x-publishable-key': publishableKey, 'x-secret-key': secretKey };
      for (const [path, stranger] of [
        ['/screening/submit', 'AUTH_UNAUTHORIZED'],
        ['/auth/token/exchange', 'MISSING_KEY'],
        ['/v1/sessions', 'AUTH_UNAUTHORIZED'],
      ] as const) {
        const [known, unknown] = await Promise.all(
          [keyed, {}].map((headers) => service.request('POST', path, { headers, body })),
        );
        expect([path, known?.status, known?.body.error.code]).toEqual([path, 413, 'PAYLOAD_TOO_LARGE']);
        expect([path, unknown?.status, unknown?.body.error.code]).toEqual([path, 401, stranger]);
      }
    },
  );

  it('stops reading a body after the answer 413', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    // The server may reset the connection.
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const credentials = Object.entries(caller.headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.write(
      `POST /screening/submit HTTP/1.1\r\nhost: x\r\n${credentials}content-type: application/json\r\ncontent-length: 100000000000\r\n\r\n`,
    );
    const sending = setInterval(() => socket.write('x'.repeat(64_000)), 20);
    try {
      await closed;
    } finally {
      clearInterval(sending);
    }
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('leaves the service healthy', async () => {
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
    expect(service.program.output).not.toContain('"msg":"request failed"');
  });
});
