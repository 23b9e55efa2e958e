// Live traffic, which exists only in production: reports of an account that may no longer use live traffic.
import { afterEach, describe, expect, it } from '@jest/globals';
import { productionHere } from '../../support/production.js';
import { aPerson, Service, type Reply } from '../../support/service.js';
import { until } from '../../support/eventually.js';

describe('GET /reports/{id}', () => {
  let service: Service | undefined;
  afterEach(() => service?.stop());

  it('409 ACCOUNT_NOT_LIVE when live traffic was withdrawn from the account of a live session; 409 ACCOUNT_NOT_PROVISIONED for a test submission', async () => {
    service = await Service.start(await productionHere());
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
      '"reason":"a test on one machine","msg":"the service accepts plain HTTP in production',
    );
    await ops(service, 'accounts', 'set', accountId, '--live', 'no');
    // The service may use account settings that are one second old.
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
    '--reason',
    'a test',
    '--yes',
  );
  const { body } = await service.request('POST', '/auth/token/exchange', {
    headers: { 'x-publishable-key': key, origin: ORIGIN },
  });
  const headers = { authorization: `Bearer ${body.token}`, origin: ORIGIN };
  return (method, path, content) => service.request(method, path, { headers, ...(content && { body: content }) });
}
