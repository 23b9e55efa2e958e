// The behaviour that all routes of the direct API share, on the whole service (docs/contract/direct.md).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aRegistration, DirectCaller } from '../../support/direct.js';
import { type Credentials, type Reply, Service } from '../../support/service.js';

let service: Service;
let accounts: Credentials['accounts'];
let nopay: DirectCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
  nopay = await DirectCaller.of(service);
});
afterAll(() => service.stop());

const told = ({ status, body }: Reply): [number, number] => [status, body?.errors?.[0]?.errorCode];
const withKey = (key: string | undefined): DirectCaller =>
  new DirectCaller(service, key === undefined ? {} : { 'x-api-key': key });

/** Every endpoint with its older spellings. */
const RENTERS = '/api/idv/renters/{renterId}';
const AGENTS = '/api/idv/agents/{agentId}';
const ORGANIZATIONS = '/api/idv/organizations/{organizationId}';
const links = (recipients: string): string[] =>
  [`/api/idv/${recipients}/{recipientId}/renters/{renterId}`, `${RENTERS}/${recipients}/{recipientId}`].flatMap(
    (path) => [`PUT ${path}`, `DELETE ${path}`, `GET ${path}`, `GET ${path}/report`, `GET ${path}/credit-score`],
  );
const ENDPOINTS = [
  `POST ${RENTERS}`,
  `POST ${RENTERS}/kba`,
  `POST ${RENTERS}/otp`,
  `GET ${RENTERS}/otp/resend`,
  `GET ${RENTERS}`,
  `GET ${RENTERS}/report`,
  `GET ${RENTERS}/report-expiry`,
  `POST ${AGENTS}`,
  `POST ${AGENTS}/otp`,
  `GET ${AGENTS}/otp/resend`,
  `POST ${AGENTS}/kba`,
  `GET ${AGENTS}/auth/status`,
  `GET ${AGENTS}/auth/expire`,
  `POST ${AGENTS}/auth`,
  `POST ${AGENTS}/auth/otp`,
  `GET ${AGENTS}/auth/otp/resend`,
  `POST ${AGENTS}/auth/kba`,
  `POST ${ORGANIZATIONS}`,
  `POST ${ORGANIZATIONS}/kba`,
  `PUT ${ORGANIZATIONS}`,
  `GET ${ORGANIZATIONS}/auth`,
  `POST ${ORGANIZATIONS}/auth/kba`,
  `GET ${ORGANIZATIONS}/auth/expire`,
  `GET ${ORGANIZATIONS}/auth/status`,
  ...links('agents'),
  ...links('organizations'),
  'POST /api/pay/payment/checkout-session',
];
const CHANGING_GETS = [
  `GET ${RENTERS}/otp/resend`,
  `GET ${AGENTS}/otp/resend`,
  `GET ${AGENTS}/auth/expire`,
  `GET ${AGENTS}/auth/otp/resend`,
  `GET ${ORGANIZATIONS}/auth`,
  `GET ${ORGANIZATIONS}/auth/expire`,
];

describe('the description of the direct API', () => {
  interface Operation {
    readonly security: readonly object[];
    readonly parameters?: readonly { readonly $ref?: string; readonly name: string; readonly in: string }[];
    readonly responses: Readonly<Record<string, Response>>;
  }
  interface Response {
    readonly $ref?: string;
    readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  }
  let shared: Readonly<Record<string, Response>>;
  const resolved = (response: Response = {}): Response =>
    response.$ref === undefined ? response : (shared[response.$ref.slice('#/components/responses/'.length)] ?? {});
  let operations: (readonly [string, Operation])[];

  beforeAll(async () => {
    const { body } = await service.request('GET', '/openapi/direct.json');
    shared = body.components.responses;
    operations = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );
  });

  it('lists exactly the endpoints, each with all its older spellings', () => {
    expect(operations.map(([name]) => name).sort()).toEqual([...ENDPOINTS].sort());
  });

  it('gives for each endpoint the authentication, the success reply, and the shape of the errors by status', () => {
    for (const [name, { security, responses }] of operations) {
      expect([name, security]).toEqual([name, [{ 'api-key': [] }]]);
      const success = responses['200']?.content?.['application/json']?.schema;
      expect([name, success]).toEqual([name, { $ref: expect.any(String) }]);
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '403', '404', '500', '503']));
      for (const [status, response] of Object.entries(responses).filter(([known]) => Number(known) >= 400)) {
        const schema = JSON.stringify(resolved(response).content?.['application/json']?.schema);
        expect([name, status, schema]).toEqual([
          name,
          status,
          expect.stringContaining('{"$ref":"#/components/schemas/NumericErrorResult"}'),
        ]);
      }
    }
  });

  it('describes the reduced error body for exactly the routes with exclude parameters', () => {
    const reduced = operations.filter(([, { responses }]) =>
      JSON.stringify(resolved(responses['400'])).includes('{"$ref":"#/components/schemas/ReducedErrorResult"}'),
    );
    const reading = operations.filter(([, { parameters = [] }]) =>
      parameters.some((one) => one.name === 'excludeBackground'),
    );
    expect(reduced.map(([name]) => name)).toEqual(reading.map(([name]) => name));
    expect(reading.length).toBeGreaterThan(0);
  });

  it('names the routes that accept an idempotency key', () => {
    const taking = operations.filter(([, { parameters = [] }]) =>
      parameters.some((one) => one.$ref === '#/components/parameters/IdempotencyKey'),
    );
    const changing = operations.filter(([name]) => name.startsWith('POST ') || CHANGING_GETS.includes(name));
    expect(taking.map(([name]) => name)).toEqual(changing.map(([name]) => name));
  });

  it('describes the parameters of each path', () => {
    for (const [name, { parameters = [] }] of operations) {
      const described = parameters.flatMap((one) => (one.in === 'path' ? [one.name] : []));
      expect([name, described.sort()]).toEqual([
        name,
        [...name.matchAll(/\{(\w+)\}/g)].map(([, named]) => named).sort(),
      ]);
    }
  });

  it('is listed on the page', async () => {
    const { text } = await service.request('GET', '/docs');
    expect(text).toContain('Direct API');
  });
});

describe('the X-API-KEY header', () => {
  const read = (key: string | undefined): Promise<Reply> => withKey(key).get('/renters/nobody/report-expiry');

  it('403/324: the key is missing, unknown or of another kind, or has just been deactivated', async () => {
    const { secretKey, publishableKey, apiKey } = accounts.nopay;
    for (const key of [undefined, '', 'x', secretKey, publishableKey, `${apiKey}x`, apiKey.slice(0, -1)]) {
      const reply = await read(key);
      expect(reply.text).toBe(
        '{"payload":null,"errors":[{"errorCode":324,"errorOnField":null,"errorMessage":"invalid client secret"}]}',
      );
      expect(reply.status).toBe(403);
    }
    const issued = await service.ops(
      'keys',
      'issue',
      accounts.nopay.accountId,
      '--kind',
      'api',
      '--environment',
      'test',
    );
    const { key, keyId } = JSON.parse(issued.stdout);
    expect(told(await read(key))).toEqual([404, 278]);
    await service.ops('keys', 'deactivate', keyId);
    expect(told(await read(key))).toEqual([403, 324]);
  });

  it('is not accepted on other API surfaces', async () => {
    const headers = { 'x-secret-key': accounts.nopay.apiKey };
    expect((await service.request('GET', `/v1/screenings/${randomUUID()}/status`, { headers })).status).toBe(401);
  });
});

const PAID = 'http://localhost:5173/paid';

describe('Idempotency-Key', () => {
  const replayed = ({ headers }: Reply): boolean => headers.get('idempotent-replayed') === 'true';

  it('repeats the reply to a registration, a wrong answer and a resent code byte for byte; each operation runs once', async () => {
    const person = aRegistration({ lastName: 'Choicetest' });
    const keyed = (call: string) => ({ 'idempotency-key': `${call}-1` });
    const calls: (() => Promise<Reply>)[] = [
      () => nopay.post('/renters/keyed', person, keyed('register')),
      () => nopay.post('/renters/keyed/otp', { code: '000000' }, keyed('answer')),
    ];
    const statuses: number[] = [];
    for (const call of calls) {
      const first = await call();
      const again = await call();
      statuses.push(first.status);
      expect([replayed(first), replayed(again), again.status, again.text]).toEqual([
        false,
        true,
        first.status,
        first.text,
      ]);
      expect(first.body.errors).toEqual([]);
    }
    expect(statuses).toEqual([200, 422]);
    // A request with another key reaches the vendor. The answer counts as the second wrong answer, not the third.
    expect((await nopay.post('/renters/keyed/otp', { code: '000000' }, keyed('other'))).status).toBe(422);
  });

  it('409/121 when the body differs, and 409/409 below /api/pay; two accounts may use the same key', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const unrelated = await DirectCaller.of(service, 'unrelated');
    expect((await nopay.post('/renters/mine', aRegistration(), key)).status).toBe(200);
    expect(told(await nopay.post('/renters/mine', aRegistration(), key))).toEqual([409, 121]);
    expect(replayed(await unrelated.post('/renters/mine', aRegistration(), key))).toBe(false);
    const demo = await DirectCaller.of(service, 'demo');
    await demo.registered('renters', 'payer');
    const pay = (cancelUrl: string): Promise<Reply> =>
      demo.send('POST', '/pay/payment/checkout-session', { renterId: 'payer', successUrl: PAID, cancelUrl }, key);
    // When the service refuses a request without a vendor call, the key stays unused.
    expect((await pay('')).status).toBe(400);
    expect((await pay(PAID)).status).toBe(200);
    expect(told(await pay(`${PAID}/other`))).toEqual([409, 409]);
  });
});

describe('logs and metrics', () => {
  it('hold no API key and no id that an integrator chose', async () => {
    const id = 'ada.lovelace@example.test';
    await nopay.registered('renters', id, { lastName: 'Kbatest' });
    await nopay.post(`/renters/${encodeURIComponent(id)}/kba`, { kbaAnswers: [{ answer: 99 }] });
    await nopay.get(`/renters/${encodeURIComponent(id)}/report`);
    await nopay.get(`/agents/${encodeURIComponent(id)}/auth/status`);
    await nopay.put(`/organizations/${encodeURIComponent(id)}?token=canary-token`);
    await nopay.registered('renters', `${id}-down`, { lastName: 'Downtest' });
    const { text: metrics } = await service.request('GET', '/metrics');
    for (const text of [service.program.output, metrics]) {
      expect(text).toContain('/api/idv/renters/:renterId');
      expect(text).not.toMatch(/lovelace|canary-token/);
      for (const { apiKey } of Object.values(accounts)) expect(text).not.toContain(apiKey);
    }
  });
});
