// A test clock in several processes (docs/adr/0030): each goes by the new time before the reply, and the workers do what is due.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EndpointOwner } from '../support/endpoint-owner.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/redis.js';
import { type Credentials, type Reply, Service } from '../support/service.js';

const DAY = 86_400;

let service: Service;
let accounts: Credentials['accounts'];

beforeAll(async () => {
  service = await Service.start(
    { WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32', WEBHOOK_TIMEOUT: '1' },
    { roles: ['projector', 'worker', 'worker', 'api', 'api'] },
  );
  ({ accounts } = await service.credentials());
});
afterAll(() => service?.stop());

const ask = (method: string, body?: unknown): Promise<Reply> =>
  service.request(method, '/v1/test_helpers/clock', {
    // Each request may reach another process.
    headers: { 'x-secret-key': accounts.nopay.secretKey, connection: 'close' },
    body,
  });

it('every process goes by the new time after the reply, and the workers make the nine attempts of a delivery', async () => {
  const owner = new EndpointOwner(service, accounts.nopay);
  await owner.register(`https://127.0.0.1:${await freePort()}/hooks`);
  const caller = await service.signIn('nopay');
  const { id } = (await caller.submit({ lastName: 'Otptest' })).body;
  await owner.only('has failed once', ({ attempt_count }) => attempt_count === 1);
  for (let turns = 1; turns <= 3; turns++) {
    expect((await ask('POST', { advance: DAY })).status).toBe(200);
    const shown = await Promise.all(Array.from({ length: 20 }, () => ask('GET')));
    expect(new Set(shown.map(({ body }) => body.offset_seconds))).toEqual(new Set([turns * DAY]));
    expect(shown.every(({ body }) => Date.parse(body.now) > Date.now() + (turns * DAY - 60) * 1_000)).toBe(true);
  }
  await until('everything is done', async () => (await ask('GET')).body.status === 'ready');
  const { attempt_count, status } = await owner.only('has ended', (delivery) => delivery.status !== 'retrying');
  expect([attempt_count, status]).toEqual([9, 'exhausted']);
  expect((await caller.status(id)).body.status).toBe('EXPIRED');
});
