// Test traffic may fill only a share of the embedded log. A public test key therefore cannot use up the space of live
// traffic.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type PlatformCaller, Service } from '../../support/service.js';

let service: Service;
let test: PlatformCaller;

beforeAll(async () => {
  // A share that is large enough for about ten screenings.
  service = await Service.start({ EVENT_LOG_MAX_BYTES: String(64 * 2 ** 20), TEST_LOG_SHARE: '0.002' });
  test = await service.signIn('demo');
});
afterAll(() => service.stop());

const used = async (): Promise<number> =>
  Number(/^event_store_test_used_ratio (.+)$/m.exec((await service.request('GET', '/metrics')).text)?.[1]);

it('503: a new test session cannot begin, an open test session continues, and live traffic is not affected', async () => {
  const begun = (await test.submit({ lastName: 'Otptest' })).body.id;
  const statuses: number[] = [];
  while (statuses.at(-1) !== 503 && statuses.length < 28) statuses.push((await test.submit()).status);
  expect([statuses.at(0), statuses.at(-1)]).toEqual([200, 503]);
  expect(await used()).toBeGreaterThanOrEqual(1);

  const refused = await test.submit();
  expect([refused.status, refused.body.error]).toEqual([503, expect.objectContaining({ recoverable: true })]);
  const mint = async (secretKey = ''): Promise<number> =>
    (await service.request('POST', '/v1/sessions', { headers: { 'x-secret-key': secretKey }, body: {} })).status;
  const { secretKey, liveSecretKey } = (await service.credentials()).accounts.demo;
  expect([await mint(secretKey), await mint(liveSecretKey)]).toEqual([503, 200]);
  expect((await test.post('/voie/sessions', {})).status).toBe(503);

  expect((await test.post(`/screening/${begun}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
});
