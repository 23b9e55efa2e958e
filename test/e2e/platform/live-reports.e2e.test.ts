// Live traffic, which only production has: a report of an account that was withdrawn from it.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../../support/redis.js';
import { aPerson, Service, type Reply } from '../../support/service.js';
import { until } from '../../support/eventually.js';

describe('GET /reports/{id}', () => {
  let service: Service | undefined;
  afterEach(() => service?.stop());

  it('409 ACCOUNT_NOT_LIVE: of a live session whose account was withdrawn from live traffic; test traffic has no vendor in production but its own', async () => {
    service = await Service.start(await production());
    const { accountId } = await ops(
      service,
      'accounts',
      'create',
      '--name',
      'Example',
      '--live',
      'yes',
      '--prepaid',
      'yes',
    );
    const live = await callerOf(service, accountId, 'live');
    const { status, body } = await live('POST', '/screening/submit', aPerson());
    expect([status, body.status]).toEqual([200, 'VERIFIED']);
    expect(service.program.output).toContain(
      '"reason":"a test on one machine","msg":"plain HTTP is taken in production',
    );
    await ops(service, 'accounts', 'set', accountId, '--live', 'no');
    // Settings may be a second old.
    await until(
      'the report is refused',
      async () => (await live('GET', `/reports/${body.id}`)).body.error.code === 'ACCOUNT_NOT_LIVE',
    );
    expect((await live('GET', `/reports/${body.id}`)).status).toBe(409);

    const test = await callerOf(service, accountId, 'test');
    const refused = await test('POST', '/screening/submit', aPerson());
    expect([refused.status, refused.body.error.code]).toEqual([409, 'ACCOUNT_NOT_PROVISIONED']);
  });
});

const ORIGIN = 'https://app.example.com';

/** Everything that production must be told; the sandbox stands for the live vendors, and there are none for test traffic. */
async function production(): Promise<Record<string, string>> {
  const sandboxPort = String(await freePort());
  const vendor = `http://127.0.0.1:${sandboxPort}`;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://api.example.com',
    REQUIRE_TLS: 'false',
    ACCEPT_PLAIN_HTTP: 'a test on one machine',
    SANDBOX_PORT: sandboxPort,
    SANDBOX_URL: '',
    VAULT_MASTER_KEY: `k1:${randomBytes(32).toString('base64')}`,
    JWT_SIGNING_KEY: JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] }),
    IDENTITY_VENDOR_URL: vendor,
    // Not what the sandbox has by default, which production refuses.
    SANDBOX_API_KEY: 'live-vendor-key',
    IDENTITY_VENDOR_KEY: 'live-vendor-key',
    INCOME_VENDOR_URL: vendor,
    INCOME_VENDOR_KEY: 'live-vendor-key',
    PROCESSOR_URL: vendor,
    PROCESSOR_SECRET_KEY: 'sk_live_example',
    PROCESSOR_WEBHOOK_SECRET: 'whsec_example',
  };
}

async function ops(service: Service, ...args: string[]): Promise<any> {
  const { exitCode, stdout } = await service.ops(...args);
  expect([exitCode, stdout]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

async function callerOf(
  service: Service,
  accountId: string,
  environment: 'live' | 'test',
): Promise<(method: string, path: string, body?: object) => Promise<Reply>> {
  const { key } = await ops(
    service,
    'keys',
    'issue',
    accountId,
    '--kind',
    'publishable',
    '--environment',
    environment,
    '--origins',
    ORIGIN,
  );
  const { body } = await service.request('POST', '/auth/token/exchange', {
    headers: { 'x-publishable-key': key, origin: ORIGIN },
  });
  const headers = { authorization: `Bearer ${body.token}`, origin: ORIGIN };
  return (method, path, content) => service.request(method, path, { headers, ...(content && { body: content }) });
}
