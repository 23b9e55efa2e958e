// /v1/test_helpers on the whole service (docs/contract/server.md#test-helpers).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { VENDOR_BEHAVIOURS } from '../../../src/kernel/vendor-behaviour.js';
import { until as eventually } from '../../support/eventually.js';
import { type Credentials, type Reply, Service } from '../../support/service.js';

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.shared('plain');
  ({ accounts } = await service.credentials());
});
afterAll(() => service.stop());

const ask = (body: unknown, secretKey = accounts.demo.secretKey): Promise<Reply> =>
  service.request('POST', '/v1/test_helpers/vendor', { headers: { 'x-secret-key': secretKey }, body });
const behaviours = (secretKey = accounts.demo.secretKey): Promise<Reply> =>
  service.request('GET', '/v1/test_helpers/vendor', { headers: { 'x-secret-key': secretKey } });
const submitted = async (account: 'demo' | 'child', person: object = {}): Promise<unknown[]> => {
  const { status, body } = await (await service.signIn(account)).submit(person);
  return [status, body.error?.code ?? body.status];
};

describe('POST /v1/test_helpers/vendor', () => {
  it.each([
    ['down', 'Downtest'],
    ['reset', 'Resettest'],
    ['redirect', 'Redirecttest'],
    ['garbled', 'Garbledtest'],
  ])(
    '200: with "%s" every person of the account is treated like %s, and persons of its child as usual',
    async (behaviour, lastName) => {
      const usual = await submitted('child');
      const before = Date.now();
      const { status: taken, body } = await ask({ capability: 'identity', behaviour });
      expect([taken, body.capability, body.behaviour]).toEqual([200, 'identity', behaviour]);
      expect(Date.parse(body.until) - before).toBeGreaterThanOrEqual(3_600_000);
      expect((await behaviours()).body).toEqual({ object: 'list', data: [body] });
      const failed = await submitted('child', { lastName });
      expect(failed).not.toEqual(usual);
      expect([await submitted('demo'), await submitted('child')]).toEqual([failed, usual]);
      expect((await ask({ capability: 'identity', behaviour: 'normal' })).body).toEqual({
        capability: 'identity',
        behaviour: 'normal',
        until: null,
      });
      expect([await submitted('demo'), (await behaviours()).body.data]).toEqual([usual, []]);
    },
  );

  it('200: with "down" the payment processor accepts no payment of the account until the behaviour ends', async () => {
    const caller = await service.signIn('demo');
    const screeningId: string = (await caller.submit()).body.id;
    const begin = async (): Promise<number> =>
      (await caller.post('/payments/create-intent', { amount: 3_500, screeningId })).status;
    await ask({ capability: 'payment', behaviour: 'down' });
    const failed = await begin();
    await ask({ capability: 'payment', behaviour: 'normal' });
    expect([failed, await begin()]).toEqual([503, 200]);
  });

  it('200: a behaviour ends at the time that the caller names, and affects no other account', async () => {
    const until = new Date(Date.now() + 1_000).toISOString();
    expect((await ask({ capability: 'credit', behaviour: 'slow', until })).body.until).toBe(until);
    expect((await behaviours(accounts.child.secretKey)).body.data).toEqual([]);
    await eventually('the time is over', async () => (await behaviours()).body.data.length === 0);
  });

  it.each([
    [{ capability: 'identity' }, 'behaviour'],
    [{ behaviour: 'down' }, 'capability'],
    [{ capability: 'identity', behaviour: 'moody' }, 'behaviour'],
    [{ capability: 'weather', behaviour: 'down' }, 'capability'],
    [{ capability: 'identity', behaviour: 'down', until: 'tomorrow' }, 'until'],
    [{ capability: 'identity', behaviour: 'down', until: '2026-01-31T12:00:00' }, 'until'],
    [{ capability: 'identity', behaviour: 'down', until: '2020-01-01T00:00:00Z' }, 'until'],
    [{ capability: 'identity', behaviour: 'down', until: '2999-01-01T00:00:00Z' }, 'until'],
  ])('400: %j names the field', async (body, field) => {
    const reply = await ask(body);
    expect([reply.status, reply.body.error.field]).toEqual([400, field]);
  });

  it('403: a live key cannot set or read a behaviour', async () => {
    const liveKey = accounts.demo.liveSecretKey!;
    for (const reply of [await ask({ capability: 'identity', behaviour: 'down' }, liveKey), await behaviours(liveKey)])
      expect([reply.status, reply.body.error.code]).toEqual([403, 'AUTH_FORBIDDEN']);
  });

  it('401: a call without a key sets nothing', async () => {
    const body = { capability: 'identity', behaviour: VENDOR_BEHAVIOURS[0] };
    expect((await service.request('POST', '/v1/test_helpers/vendor', { body })).status).toBe(401);
  });
});
