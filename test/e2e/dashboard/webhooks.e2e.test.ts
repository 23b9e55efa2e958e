// The management of webhook endpoints, as the dashboard of an account uses it (docs/contract/webhooks.md#endpoint).
import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { HttpsReceiver } from '../../support/https-receiver.js';
import { type Credentials, type PlatformCaller, type Reply, Service } from '../../support/service.js';
import { until } from '../../support/eventually.js';

type Account = keyof Credentials['accounts'];
type Role = keyof Credentials['accounts']['demo']['dashboardTokens'];

let folder: string;
let receiver: HttpsReceiver;
let service: Service;
let credentials: Credentials;
let demo: PlatformCaller;

beforeAll(async () => {
  [folder, receiver] = await Promise.all([mkdtemp(join(tmpdir(), 'receiver-')), HttpsReceiver.start()]);
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, receiver.ca);
  // The service makes both attempts without a delay. One exhausted delivery makes an endpoint failing, and soon
  // afterwards the service disables it.
  const limits = {
    WEBHOOK_RETRY_LADDER: '0',
    WEBHOOK_FAILING_AFTER: '1',
    WEBHOOK_DISABLE_AFTER: '0.5',
  };
  service = await Service.start({
    NODE_EXTRA_CA_CERTS: authority,
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    EGRESS_IPS: '198.51.100.7, 2001:db8::/48',
    ...limits,
  });
  credentials = await service.credentials();
  demo = await service.signIn('demo');
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  receiver.play(null);
  for (const account of ['demo', 'unrelated'] as const)
    for (const { id } of (await call('GET', '', undefined, account)).body)
      await call('DELETE', `/${id}`, undefined, account);
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const refused = (reply: Reply): [number, string] => [reply.status, reply.body?.error?.code];
const faulty = (reply: Reply): [number, string, string] => [...refused(reply), reply.body?.error?.field];

function call(
  method: string,
  path: string,
  body?: unknown,
  account: Account = 'demo',
  role: Role = 'owner',
  headers: Record<string, string> = {},
): Promise<Reply> {
  const authorization = `Bearer ${credentials.accounts[account].dashboardTokens[role]}`;
  return service.request(method, `/tsp/webhooks${path}`, { headers: { authorization, ...headers }, body });
}
async function created(fields: object = {}, account: Account = 'demo'): Promise<any> {
  const reply = await call('POST', '', { url: receiver.url('/status/200'), ...fields }, account);
  expect(reply.status).toBe(201);
  return reply.body;
}
const listed = async (account: Account = 'demo'): Promise<any> => (await call('GET', '', undefined, account)).body[0];
const deliveries = async (id: string, query = ''): Promise<any> =>
  (await call('GET', `/${id}/deliveries${query}`)).body;
/** Makes an event for the demo account. */
const happens = async (): Promise<void> =>
  expect((await demo.submit({ lastName: 'Otptest' })).body.status).toBe('STEP_UP_REQUIRED');
async function delivered(id: string, status: string, count = 1): Promise<any[]> {
  await until(
    `${count} deliveries are ${status}`,
    async () => (await deliveries(id, `?status=${status}`)).items.length >= count,
  );
  return (await deliveries(id, `?status=${status}`)).items;
}
/** Every route that names an endpoint or a delivery. */
const named = (id: string, deliveryId: string): [string, string, unknown?][] => [
  ['PUT', `/${id}`, {}],
  ['DELETE', `/${id}`],
  ['POST', `/${id}/rotate`],
  ['POST', `/${id}/test`],
  ['GET', `/${id}/deliveries`],
  ['GET', `/${id}/deliveries/${deliveryId}`],
  ['POST', `/${id}/deliveries/${deliveryId}/redeliver`],
];

describe('every route', () => {
  it('answers 401 AUTH_UNAUTHORIZED without a dashboard token', async () => {
    const { secretKey } = credentials.accounts.demo;
    for (const [method, path, body] of [['POST', '', {}] as const, ['GET', ''] as const, ...named(UNKNOWN, UNKNOWN)]) {
      for (const headers of [{}, demo.headers, { 'x-secret-key': secretKey }, { authorization: 'Bearer x.y.z' }]) {
        expect([
          method,
          path,
          ...refused(await service.request(method, `/tsp/webhooks${path}`, { headers, body })),
        ]).toEqual([method, path, 401, 'AUTH_UNAUTHORIZED']);
      }
    }
  });

  it('answers 403 AUTH_FORBIDDEN to a developer', async () => {
    const { id } = await created();
    for (const [method, path, body] of [['POST', '', {}] as const, ['GET', ''] as const, ...named(id, UNKNOWN)]) {
      expect([method, path, ...refused(await call(method, path, body, 'demo', 'developer'))]).toEqual([
        method,
        path,
        403,
        'AUTH_FORBIDDEN',
      ]);
    }
  });

  it('is open to an administrator', async () => {
    const { id } = (await call('POST', '', { url: receiver.url() }, 'demo', 'administrator')).body;
    expect(
      await Promise.all(
        named(id, UNKNOWN)
          .filter(([method]) => method !== 'DELETE')
          .map(async ([method, path, body]) => (await call(method, path, body, 'demo', 'administrator')).status),
      ),
    ).toEqual([200, 200, 200, 200, 404, 404]);
    expect((await call('DELETE', `/${id}`, undefined, 'demo', 'administrator')).status).toBe(204);
  });

  it("answers the same 404 for an unknown, a malformed, a deleted and another account's endpoint or delivery", async () => {
    const foreign = await created({}, 'unrelated');
    const ping = (await call('POST', `/${foreign.id}/test`, undefined, 'unrelated')).body.delivery_id;
    const gone = await created();
    await call('DELETE', `/${gone.id}`);
    const own = await created();
    const seen = new Set<string>();
    for (const [id, deliveryId] of [
      [UNKNOWN, UNKNOWN],
      ['x', 'x'],
      ['..%2f..', '%00'],
      [gone.id, UNKNOWN],
      [foreign.id, ping],
      [foreign.id.toUpperCase(), ping],
    ] as const) {
      for (const [method, path, body] of named(id, deliveryId)) {
        const reply = await call(method, path, body);
        expect([method, path, ...refused(reply)]).toEqual([method, path, 404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
        seen.add(reply.text);
      }
    }
    for (const deliveryId of [UNKNOWN, 'x', ping]) {
      for (const [method, path, body] of named(own.id, deliveryId).slice(-2)) {
        const reply = await call(method, path, body);
        expect([method, path, ...refused(reply)]).toEqual([method, path, 404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
        seen.add(reply.text);
      }
    }
    expect(seen.size).toBe(1);
    // The refused requests changed nothing.
    expect(await listed('unrelated')).toMatchObject({ id: foreign.id, status: 'active', url: foreign.url });
  });
});

describe('POST /tsp/webhooks', () => {
  it('answers 201 with the endpoint and its secret, which is shown only this once', async () => {
    const reply = await call('POST', '', { url: receiver.url('/status/200'), unknown_field: 1 });
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(reply.body).toEqual({
      id: expect.stringMatching(UUID),
      url: receiver.url('/status/200'),
      status: 'active',
      enabled_events: null,
      signatures: ['v1'],
      max_per_second: null,
      secret: expect.stringMatching(SECRET),
      consecutive_failures: 0,
      last_success_at: null,
      last_failure_at: null,
      last_error_code: null,
      last_http_status: null,
      recent_failures: [],
      missed_events: 0,
      missed_from: null,
      missed_more: false,
      disabled_reason: null,
      created_at: expect.stringMatching(TIME),
      updated_at: reply.body.created_at,
    });
    expect((await call('GET', '')).text).not.toContain('whsec_');
  });

  it('accepts chosen events and a contact', async () => {
    expect(
      await created({
        enabled_events: ['report.shared', 'payment.succeeded', 'report.shared'],
        notify_email: 'ops@example.test',
      }),
    ).toMatchObject({ enabled_events: ['report.shared', 'payment.succeeded'], notify_email: 'ops@example.test' });
  });

  it.each([[null], ['']])('accepts null as the choice of all events, and %j as no contact', async (nobody) => {
    const body = await created({ enabled_events: null, notify_email: nobody });
    expect([body.enabled_events, body.notify_email]).toEqual([null, undefined]);
  });

  it('answers 409 WEBHOOK_ENDPOINT_EXISTS while the account has an endpoint; endpoints of other accounts do not count', async () => {
    await created();
    expect(refused(await call('POST', '', { url: receiver.url() }))).toEqual([409, 'WEBHOOK_ENDPOINT_EXISTS']);
    await created({}, 'unrelated');
  });

  it.each([[undefined], [{}], [[]], ['text'], [{ url: null }], [{ url: 7 }], [{ url: ['https://hooks.example.com'] }]])(
    'answers 400 VALIDATION_ERROR for the body %j',
    async (body) => {
      expect(refused(await call('POST', '', typeof body === 'string' ? JSON.stringify(body) : body))).toEqual([
        400,
        'VALIDATION_ERROR',
      ]);
    },
  );

  it.each([
    '',
    'hooks',
    'hooks.example.com',
    'ftp://hooks.example.com',
    'http://hooks.example.com',
    'http://127.0.0.1/',
    'https:8.8.8.8',
    'https:///8.8.8.8',
    ' https://8.8.8.8',
    'https://8.8.8.8/\r\nx',
    'https://8.8.8.8\\@10.0.0.1',
    'https://@8.8.8.8/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://2130706434/',
    'https://0x7f.0.0.2/',
    'https://192.168.1.1.nip.invalid/',
    'https://no-such-host.invalid/',
    'https://user:word@8.8.8.8/',
  ])('answers 400 WEBHOOK_URL_INVALID for %j', async (url) => {
    expect(faulty(await call('POST', '', { url }))).toEqual([400, 'WEBHOOK_URL_INVALID', 'url']);
    expect(await listed()).toBeUndefined();
  });

  it('answers 400 WEBHOOK_URL_INVALID for more than 2,048 characters', async () => {
    expect(faulty(await call('POST', '', { url: receiver.url(`/${'a'.repeat(2_048)}`) }))).toEqual([
      400,
      'WEBHOOK_URL_INVALID',
      'url',
    ]);
    const longest = receiver.url('/').padEnd(2_048, 'a');
    expect((await created({ url: longest })).url).toBe(longest);
  });

  it.each([
    [[]],
    [['ping']],
    [['report.shared', 'ping']],
    [['report.deleted']],
    ['report.shared'],
    [{}],
    [[null]],
    [[['report.shared']]],
    [true],
  ])('answers 400 VALIDATION_ERROR for the events %j', async (enabled_events) => {
    expect(faulty(await call('POST', '', { url: receiver.url(), enabled_events }))).toEqual([
      400,
      'VALIDATION_ERROR',
      'enabled_events',
    ]);
  });

  it.each([
    'ops',
    'ops@',
    'op\u200bs@example.test',
    '@example.test',
    'a@b c.test',
    'ops@example.test\r\nBcc: x@example.test',
    'Ops <ops@example.test>',
    `${'a'.repeat(65)}@example.test`,
    7,
    {},
    ['ops@example.test'],
  ])('answers 400 VALIDATION_ERROR for the contact %j', async (notify_email) => {
    expect(faulty(await call('POST', '', { url: receiver.url(), notify_email }))).toEqual([
      400,
      'VALIDATION_ERROR',
      'notify_email',
    ]);
  });

  it('repeats the first reply with the secret when the idempotency key is the same', async () => {
    const key = { 'idempotency-key': `create-${Date.now()}` };
    const body = { url: receiver.url('/status/200') };
    const [first, second] = [
      await call('POST', '', body, 'demo', 'owner', key),
      await call('POST', '', body, 'demo', 'owner', key),
    ];
    expect([
      second.status,
      second.text,
      second.headers.get('idempotent-replayed'),
      second.headers.get('cache-control'),
    ]).toEqual([201, first.text, 'true', 'no-store']);
    expect(refused(await call('POST', '', { url: receiver.url('/other') }, 'demo', 'owner', key))).toEqual([
      409,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
  });

  it('makes one endpoint when several requests run at once', async () => {
    const replies = await Promise.all(Array.from({ length: 4 }, () => call('POST', '', { url: receiver.url() })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });
});

describe('an endpoint that is created disabled', () => {
  it('gets nothing until a PUT makes it active', async () => {
    const { id, status, disabled_reason } = await created({ url: receiver.url('/later'), disabled: true });
    expect([status, disabled_reason]).toEqual(['disabled', 'CREATED_DISABLED']);
    await happens();
    await until('the event is missed', async () => (await listed()).missed_events === 1);
    expect((await call('PUT', `/${id}`)).body).toMatchObject({ status: 'active', disabled_reason: null });
    await happens();
    expect(await delivered(id, 'succeeded')).toHaveLength(1);
    expect((await deliveries(id)).items).toHaveLength(1);
  });

  it.each([['true'], [1], [{}]])('answers 400 VALIDATION_ERROR for %j', async (disabled) => {
    expect(faulty(await call('POST', '', { url: receiver.url(), disabled }))).toEqual([
      400,
      'VALIDATION_ERROR',
      'disabled',
    ]);
  });
});

describe('max_per_second', () => {
  it('is shown, can be changed and removed, and its endpoint gets every event', async () => {
    const { id, max_per_second } = await created({ max_per_second: 5 });
    expect(max_per_second).toBe(5);
    await Promise.all([happens(), happens(), happens()]);
    await delivered(id, 'succeeded', 3);
    expect((await call('PUT', `/${id}`, { max_per_second: 1_000 })).body.max_per_second).toBe(1_000);
    expect((await call('PUT', `/${id}`, {})).body.max_per_second).toBe(1_000);
    expect((await call('PUT', `/${id}`, { max_per_second: null })).body.max_per_second).toBeNull();
    for (const wrong of [0, -1, 1.5, 1_001, '5', true, [5], {}])
      for (const [method, path] of [['PUT', `/${id}`] as const, ['POST', ''] as const])
        expect(faulty(await call(method, path, { url: receiver.url(), max_per_second: wrong }))).toEqual([
          400,
          'VALIDATION_ERROR',
          'max_per_second',
        ]);
  });
});

describe('GET /.well-known/egress-ips.json', () => {
  it('answers 200 with the configured addresses without a credential', async () => {
    const { status, body } = await service.request('GET', '/.well-known/egress-ips.json');
    expect([status, body]).toEqual([200, { ip_addresses: ['198.51.100.7', '2001:db8::/48'] }]);
  });
});

describe('signatures without a shared secret', () => {
  const keysOf = (account: string): Promise<Reply> =>
    service.request('GET', `/.well-known/webhook-keys.json?account=${account}`);
  const accountId = (account: Account): string => credentials.accounts[account].accountId;

  it('answers 200 with the public keys of the account, which verify a delivery', async () => {
    expect((await keysOf(accountId('unrelated'))).body).toEqual({ keys: [] });
    const { id, signatures } = await created({ url: receiver.url('/keys'), signatures: ['v1a', 'v1'] });
    expect([signatures, (await listed()).signatures]).toEqual([
      ['v1', 'v1a'],
      ['v1', 'v1a'],
    ]);
    const { status, body } = await keysOf(accountId('demo'));
    const newest = {
      kid: expect.stringMatching(UUID),
      public_key: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
      valid_from: expect.stringMatching(TIME),
    };
    expect([status, body]).toEqual([200, { keys: [newest] }]);
    const { previous_expires_at } = (await call('POST', `/${id}/rotate`, {})).body;
    const rotated = (await keysOf(accountId('demo'))).body.keys;
    expect(rotated).toEqual([newest, { ...body.keys[0], valid_until: previous_expires_at }]);
    await call('POST', `/${id}/test`);
    const { headers, body: bytes } = receiver.requests.findLast(({ path }) => path === '/keys')!;
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${bytes.toString()}`;
    const entries = headers['webhook-signature']!.split(' ').filter((entry) => entry.startsWith('v1a,'));
    const judged = entries.map((entry, at) => {
      const x = Buffer.from(rotated[at].public_key.slice(5), 'base64').toString('base64url');
      const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
      return verify(null, Buffer.from(signed), key, Buffer.from(entry.slice(4), 'base64'));
    });
    expect(judged).toEqual([true, true]);
    // The pair outlives the endpoint, and a plain endpoint makes none.
    await call('DELETE', `/${id}`);
    await created({}, 'unrelated');
    expect([(await keysOf(accountId('demo'))).body, (await keysOf(accountId('unrelated'))).body]).toEqual([
      { keys: rotated },
      { keys: [] },
    ]);
  });

  it('answers 200 with no keys for an unknown account, and 400 without one account', async () => {
    for (const account of [UNKNOWN, 'x', '%2e%2e', 'a-b'])
      expect([(await keysOf(account)).status, (await keysOf(account)).body]).toEqual([200, { keys: [] }]);
    for (const query of ['', '?account=', '?account=a&account=b'])
      expect(faulty(await service.request('GET', `/.well-known/webhook-keys.json${query}`))).toEqual([
        400,
        'VALIDATION_ERROR',
        'account',
      ]);
  });

  it('answers 400 VALIDATION_ERROR for other lists, and keeps the choice', async () => {
    const { id } = await created({ signatures: ['v1', 'v1a'] });
    for (const signatures of [[], ['v1a'], ['v2'], ['v1', 'v2'], 'v1', [null], {}, true]) {
      expect(faulty(await call('PUT', `/${id}`, { signatures }))).toEqual([400, 'VALIDATION_ERROR', 'signatures']);
      expect(faulty(await call('POST', '', { url: receiver.url(), signatures }, 'unrelated'))).toEqual([
        400,
        'VALIDATION_ERROR',
        'signatures',
      ]);
    }
    expect((await call('PUT', `/${id}`, {})).body.signatures).toEqual(['v1', 'v1a']);
    expect((await call('PUT', `/${id}`, { signatures: null })).body.signatures).toEqual(['v1']);
  });
});

describe('GET /tsp/webhooks', () => {
  it("answers 200 with a list that holds the account's endpoint without its secret, or with an empty list", async () => {
    expect((await call('GET', '')).body).toEqual([]);
    const { secret: _, ...shown } = await created({ notify_email: 'ops@example.test' });
    const reply = await call('GET', '');
    expect([reply.status, reply.body]).toEqual([200, [shown]]);
  });
});

describe('PUT /tsp/webhooks/{id}', () => {
  it('answers 200, changes the named fields and keeps the others', async () => {
    const { secret: _, ...before } = await created({
      enabled_events: ['report.shared'],
      notify_email: 'ops@example.test',
    });
    const reply = await call('PUT', `/${before.id}`, { url: receiver.url('/status/201') });
    expect([reply.status, reply.body]).toEqual([
      200,
      { ...before, url: receiver.url('/status/201'), updated_at: expect.stringMatching(TIME) },
    ]);
    const next = await call('PUT', `/${before.id}`, {
      enabled_events: ['payment.succeeded'],
      notify_email: 'other@example.test',
    });
    expect(next.body).toMatchObject({
      url: receiver.url('/status/201'),
      enabled_events: ['payment.succeeded'],
      notify_email: 'other@example.test',
    });
    expect(await listed()).toEqual(next.body);
  });

  it('accepts null for all events and for no contact', async () => {
    const { id } = await created({ enabled_events: ['report.shared'], notify_email: 'ops@example.test' });
    expect((await call('PUT', `/${id}`, { notify_email: '' })).body.notify_email).toBe('ops@example.test');
    const { body } = await call('PUT', `/${id}`, { enabled_events: null, notify_email: null });
    expect([body.enabled_events, 'notify_email' in body, 'secret' in body]).toEqual([null, false, false]);
  });

  it('answers 200 to an empty body and to no body', async () => {
    const { id, secret: _, ...before } = await created();
    for (const body of [{}, undefined, { unknown_field: true }])
      expect((await call('PUT', `/${id}`, body)).body).toEqual({ id, ...before });
  });

  it('answers 400 for a body that POST refuses, and for a null address', async () => {
    const { id } = await created();
    expect(faulty(await call('PUT', `/${id}`, { url: 'https://10.0.0.1/' }))).toEqual([
      400,
      'WEBHOOK_URL_INVALID',
      'url',
    ]);
    expect(faulty(await call('PUT', `/${id}`, { url: null }))).toEqual([400, 'VALIDATION_ERROR', 'url']);
    expect(faulty(await call('PUT', `/${id}`, { url: 7 }))).toEqual([400, 'VALIDATION_ERROR', 'url']);
    for (const enabled_events of [[], ['ping'], ['x'], 'report.shared'])
      expect(faulty(await call('PUT', `/${id}`, { enabled_events }))).toEqual([
        400,
        'VALIDATION_ERROR',
        'enabled_events',
      ]);
    for (const notify_email of ['x', 7])
      expect(faulty(await call('PUT', `/${id}`, { notify_email }))).toEqual([400, 'VALIDATION_ERROR', 'notify_email']);
    for (const body of [[], '"text"', '{'])
      expect(refused(await call('PUT', `/${id}`, body))).toEqual([400, 'VALIDATION_ERROR']);
    expect(await listed()).toMatchObject({ url: receiver.url('/status/200'), enabled_events: null });
  });
});

describe('POST /tsp/webhooks/{id}/rotate', () => {
  it('answers 200 with a new secret, and the time until which the previous one also signs', async () => {
    const { id, secret } = await created({ url: receiver.url('/rotating') });
    const reply = await call('POST', `/${id}/rotate`, { previous_valid_for_seconds: 100 });
    expect([reply.status, reply.headers.get('cache-control'), Object.keys(reply.body)]).toEqual([
      200,
      'no-store',
      ['secret', 'previous_expires_at'],
    ]);
    expect(reply.body.secret).toMatch(SECRET);
    expect(reply.body.secret).not.toBe(secret);
    const left = Date.parse(reply.body.previous_expires_at) - Date.now();
    expect(left > 80_000 && left <= 100_000).toBe(true);
    await call('POST', `/${id}/test`);
    const request = receiver.requests.findLast(({ path }) => path === '/rotating');
    for (const one of [secret, reply.body.secret])
      expect(() => new Webhook(one).verify(request?.body ?? '', request?.headers ?? {})).not.toThrow();
    expect(request?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect((await call('GET', '')).text).not.toContain('whsec_');
  });

  it('uses 86,400 seconds by default', async () => {
    const { id } = await created();
    for (const body of [undefined, {}, { previous_valid_for_seconds: null }]) {
      const left = Date.parse((await call('POST', `/${id}/rotate`, body)).body.previous_expires_at) - Date.now();
      expect(Math.abs(left - 86_400_000)).toBeLessThan(30_000);
    }
  });

  it.each([0, 259_200])('accepts %d seconds', async (previous_valid_for_seconds) => {
    const { id, secret } = await created({ url: receiver.url(`/overlap-${previous_valid_for_seconds}`) });
    expect((await call('POST', `/${id}/rotate`, { previous_valid_for_seconds })).status).toBe(200);
    await call('POST', `/${id}/test`);
    const request = receiver.requests.findLast(({ path }) => path === `/overlap-${previous_valid_for_seconds}`);
    const verify = (): unknown => new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
    if (previous_valid_for_seconds === 0) expect(verify).toThrow();
    else expect(verify).not.toThrow();
  });

  it.each([-1, 259_201, 1.5, '60', true, [60], {}])(
    'answers 400 VALIDATION_ERROR for %j seconds',
    async (previous_valid_for_seconds) => {
      const { id } = await created();
      expect(faulty(await call('POST', `/${id}/rotate`, { previous_valid_for_seconds }))).toEqual([
        400,
        'VALIDATION_ERROR',
        'previous_valid_for_seconds',
      ]);
    },
  );

  it('rotates once for one idempotency key', async () => {
    const { id, secret } = await created({ url: receiver.url('/rotated-once') });
    const key = { 'idempotency-key': `rotate-${Date.now()}` };
    const [first, second] = [
      await call('POST', `/${id}/rotate`, {}, 'demo', 'owner', key),
      await call('POST', `/${id}/rotate`, {}, 'demo', 'owner', key),
    ];
    expect(second.body).toEqual(first.body);
    await call('POST', `/${id}/test`);
    const request = receiver.requests.findLast(({ path }) => path === '/rotated-once');
    expect(() => new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {})).not.toThrow();
  });
});

describe('DELETE /tsp/webhooks/{id}', () => {
  it('answers 204, and the account may register another endpoint', async () => {
    const { id } = await created();
    const reply = await call('DELETE', `/${id}`);
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect((await call('GET', '')).body).toEqual([]);
    expect(refused(await call('DELETE', `/${id}`))).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
    expect((await created()).id).not.toBe(id);
  });
});

describe('POST /tsp/webhooks/{id}/test', () => {
  it("answers 200 with the receiver's answer to a signed ping, which is in the log", async () => {
    const { id, secret } = await created({ url: receiver.url('/status/204') });
    const reply = await call('POST', `/${id}/test`);
    expect([reply.status, reply.body]).toEqual([
      200,
      { delivery_id: expect.stringMatching(UUID), http_status: 204, latency_ms: expect.any(Number) },
    ]);
    const request = receiver.requests.findLast(
      ({ headers }) => headers['service-delivery-id'] === reply.body.delivery_id,
    );
    expect(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {})).toEqual({
      id: request?.headers['webhook-id'],
      type: 'ping',
      schema_version: 1,
      occurred_at: expect.stringMatching(TIME),
      environment: expect.stringMatching(/^(live|test)$/),
      account_id: credentials.accounts.demo.accountId,
      data: { endpoint_id: id },
    });
    expect((await deliveries(id)).items).toMatchObject([
      {
        delivery_id: reply.body.delivery_id,
        event_type: 'ping',
        status: 'succeeded',
        attempt_count: 1,
        last_http_status: 204,
        last_error_code: null,
        next_attempt_at: null,
      },
    ]);
  });

  it.each([
    ['/status/500', { http_status: 500, error_code: 'HTTP_STATUS' }],
    ['/redirect?to=/elsewhere', { http_status: 302, error_code: 'REDIRECT' }],
    ['/reset', { error_code: 'CONNECTION_FAILED' }],
  ])(
    "answers 200 with the error code when the receiver does %s; the ping is not repeated, and the endpoint's health is unchanged",
    async (path, told) => {
      const { id } = await created({ url: receiver.url(path) });
      const { body } = await call('POST', `/${id}/test`);
      expect(body).toEqual({ delivery_id: expect.stringMatching(UUID), latency_ms: expect.any(Number), ...told });
      expect((await deliveries(id)).items).toMatchObject([
        { status: 'failed', attempt_count: 1, last_error_code: told.error_code, next_attempt_at: null },
      ]);
      expect(refused(await call('POST', `/${id}/deliveries/${body.delivery_id}/redeliver`))).toEqual([
        404,
        'WEBHOOK_ENDPOINT_NOT_FOUND',
      ]);
      expect(await listed()).toMatchObject({
        status: 'active',
        consecutive_failures: 0,
        last_success_at: null,
        last_failure_at: null,
      });
    },
  );
});

describe('GET /tsp/webhooks/{id}/deliveries', () => {
  it('answers 200 with the delivery log, and each delivery with its attempts', async () => {
    const { id, secret } = await created({ url: receiver.url('/echo') });
    await happens();
    const [item] = await delivered(id, 'succeeded');
    expect(item).toEqual({
      delivery_id: expect.stringMatching(UUID),
      event_id: expect.stringMatching(/^evt_/),
      event_type: 'screening.step_up_required',
      occurred_at: expect.stringMatching(TIME),
      status: 'succeeded',
      attempt_count: 1,
      last_attempt_at: expect.stringMatching(TIME),
      last_http_status: 200,
      last_error_code: null,
      next_attempt_at: null,
    });
    const request = receiver.requests.findLast(({ headers }) => headers['service-delivery-id'] === item.delivery_id);
    expect(new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {})).toMatchObject({
      id: item.event_id,
      type: item.event_type,
      environment: 'test',
      account_id: credentials.accounts.demo.accountId,
    });
    const reply = await call('GET', `/${id}/deliveries/${item.delivery_id}`);
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        ...item,
        attempts: [
          {
            attempted_at: item.last_attempt_at,
            http_status: 200,
            error_code: null,
            latency_ms: expect.any(Number),
            response_excerpt: expect.stringContaining('screening.step_up_required'),
          },
        ],
      },
    ]);
    expect(await listed()).toMatchObject({ last_success_at: expect.stringMatching(TIME), last_failure_at: null });
  });

  it('answers 200 with consecutive pages and with filters', async () => {
    const { id } = await created();
    for (let count = 0; count < 3; count++) await call('POST', `/${id}/test`);
    await happens();
    await delivered(id, 'succeeded', 4);
    const all = (await deliveries(id)).items;
    expect([all.length, (await deliveries(id)).next_cursor]).toEqual([4, null]);
    const first = await deliveries(id, '?limit=3');
    expect([first.items, typeof first.next_cursor]).toEqual([all.slice(0, 3), 'string']);
    expect(await deliveries(id, `?limit=3&cursor=${first.next_cursor}`)).toEqual({
      items: all.slice(3),
      next_cursor: null,
    });
    expect(await deliveries(id, '?limit=4')).toEqual({ items: all, next_cursor: null });
    expect(await deliveries(id, '?limit=1000000')).toEqual({ items: all, next_cursor: null });
    expect((await deliveries(id, '?event_type=ping&status=succeeded')).items).toHaveLength(3);
    expect((await deliveries(id, '?event_type=screening.step_up_required')).items).toHaveLength(1);
    expect(await deliveries(id, '?status=exhausted')).toEqual({ items: [], next_cursor: null });
    expect(await deliveries(id, '?event_type=report.shared')).toEqual({ items: [], next_cursor: null });
    expect(await deliveries(id, '?status=&event_type=&cursor=')).toEqual({ items: all, next_cursor: null });
  });

  it('has 20 deliveries on a page by default, and at most 100', async () => {
    const { id } = await created();
    await Promise.all(Array.from({ length: 101 }, () => call('POST', `/${id}/test`)));
    expect((await deliveries(id)).items).toHaveLength(20);
    for (const limit of ['101', '5000', '00100'])
      expect((await deliveries(id, `?limit=${limit}`)).items).toHaveLength(100);
  });

  it.each([
    'status=delivered',
    'status=SUCCEEDED',
    'status=pending&status=failed',
    'event_type=x',
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'limit=1&limit=2',
    'cursor=x',
    `cursor=${UNKNOWN}`,
    'cursor=AAAAAAAAAAAAAAAAAAAAAB',
  ])('answers 400 VALIDATION_ERROR for ?%s', async (query) => {
    const { id } = await created();
    expect(faulty(await call('GET', `/${id}/deliveries?${query}`))).toEqual([
      400,
      'VALIDATION_ERROR',
      query.split('=')[0],
    ]);
  });
});

describe('POST /tsp/webhooks/{id}/deliveries/{deliveryId}/redeliver', () => {
  it('answers 202 and sends the same event id and bytes again; 429 with Retry-After within a minute', async () => {
    const { id } = await created({ url: receiver.url('/again') });
    await happens();
    const [item] = await delivered(id, 'succeeded');
    const reply = await call('POST', `/${id}/deliveries/${item.delivery_id}/redeliver`);
    expect([reply.status, reply.body]).toEqual([
      202,
      { delivery_id: item.delivery_id, event_id: item.event_id, status: 'pending' },
    ]);
    const sent = () => receiver.requests.filter(({ headers }) => headers['service-delivery-id'] === item.delivery_id);
    await until('it came again', () => sent().length === 2);
    const [one, other] = sent();
    expect([other?.headers['webhook-id'], other?.body]).toEqual([item.event_id, one?.body]);
    await until(
      'it is in the log',
      async () => (await call('GET', `/${id}/deliveries/${item.delivery_id}`)).body.attempts.at(1)?.http_status === 200,
    );
    const again = await call('POST', `/${id}/deliveries/${item.delivery_id}/redeliver`);
    expect(refused(again)).toEqual([429, 'WEBHOOK_REDELIVERY_TOO_SOON']);
    const wait = Number(again.headers.get('retry-after'));
    expect(wait > 30 && wait <= 60).toBe(true);
  });
});

describe('the endpoint of an account that has turned its clock', () => {
  it('gets signatures of the real time for events of the turned time, at once, and redeliveries as before', async () => {
    const { id, secret } = await created({}, 'unrelated');
    const { secretKey } = credentials.accounts.unrelated;
    const headers = { 'x-secret-key': secretKey };
    const days = 400 * 86_400;
    await service.request('POST', '/v1/test_helpers/clock', { headers, body: { advance: days } });
    await (await service.signIn('unrelated')).submit({ lastName: 'Otptest' });
    const arrived = () => receiver.requests.filter(({ headers }) => headers['webhook-id'] === eventId);
    let [item]: any[] = [];
    await until('the delivery is in the log', async () => {
      [item] = (await call('GET', `/${id}/deliveries`, undefined, 'unrelated')).body.items;
      return item?.status === 'succeeded';
    });
    const eventId = item.event_id;
    expect(Date.parse(item.occurred_at)).toBeGreaterThan(Date.now() + (days - 60) * 1_000);
    const again = await call('POST', `/${id}/deliveries/${item.delivery_id}/redeliver`, undefined, 'unrelated');
    expect(again.status).toBe(202);
    await until('it came again', () => arrived().length === 2);
    for (const { body, headers } of arrived()) {
      expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(60);
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        occurred_at: item.occurred_at,
      });
    }
    const tooSoon = await call('POST', `/${id}/deliveries/${item.delivery_id}/redeliver`, undefined, 'unrelated');
    expect([tooSoon.status, Number(tooSoon.headers.get('retry-after')) <= 60]).toEqual([429, true]);
  });
});

describe('an endpoint that fails', () => {
  it('becomes disabled: a redelivery and a ping are then refused with 409 WEBHOOK_ENDPOINT_DISABLED, a PUT enables the endpoint, and a POST replaces it', async () => {
    const { id } = await created({ url: receiver.url('/status/503') });
    await happens();
    const [item] = await delivered(id, 'exhausted');
    expect(item).toMatchObject({
      attempt_count: 2,
      last_http_status: 503,
      last_error_code: 'HTTP_STATUS',
      next_attempt_at: null,
    });
    await until('it is disabled', async () => (await listed()).status === 'disabled');
    expect(await listed()).toMatchObject({
      consecutive_failures: 1,
      disabled_reason: expect.any(String),
      last_failure_at: expect.stringMatching(TIME),
    });
    expect(refused(await call('POST', `/${id}/deliveries/${item.delivery_id}/redeliver`))).toEqual([
      409,
      'WEBHOOK_ENDPOINT_DISABLED',
    ]);
    expect(refused(await call('POST', `/${id}/test`))).toEqual([409, 'WEBHOOK_ENDPOINT_DISABLED']);
    const back = await call('PUT', `/${id}`, {});
    expect([back.status, back.body]).toMatchObject([
      200,
      { id, status: 'active', consecutive_failures: 0, disabled_reason: null },
    ]);
    expect((await call('POST', `/${id}/deliveries/${item.delivery_id}/redeliver`)).status).toBe(202);
    await happens();
    await until('it is disabled again', async () => (await listed()).status === 'disabled');
    const other = await created();
    expect(other.id).not.toBe(id);
    expect((await call('GET', '')).body.map((one: { id: string }) => one.id)).toEqual([other.id]);
    expect(refused(await call('PUT', `/${id}`, {}))).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
  });
});

it('the API description has this API surface with all nine routes', async () => {
  const { body } = await service.request('GET', '/openapi/dashboard.json');
  expect(
    Object.entries(body.paths)
      .flatMap(([path, methods]) => Object.keys(methods as object).map((method) => `${method} ${path}`))
      .sort(),
  ).toEqual([
    'delete /tsp/webhooks/{id}',
    'get /tsp/webhooks',
    'get /tsp/webhooks/{id}/deliveries',
    'get /tsp/webhooks/{id}/deliveries/{deliveryId}',
    'post /tsp/webhooks',
    'post /tsp/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    'post /tsp/webhooks/{id}/rotate',
    'post /tsp/webhooks/{id}/test',
    'put /tsp/webhooks/{id}',
  ]);
  expect(body.components.securitySchemes['dashboard-token']).toMatchObject({ type: 'http', scheme: 'bearer' });
});
