// The whole service on the EventStoreDB adapter and a test double of its wire protocol. The service works, answers 503
// in time while the store is down, and recovers without a restart.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fault } from '../support/eventstoredb-double/faults.js';
import { EventStoreDbDouble } from '../support/eventstoredb-double/server.js';
import { type PlatformCaller, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

let double: EventStoreDbDouble;
let service: Service;
let caller: PlatformCaller;

beforeAll(async () => {
  double = await EventStoreDbDouble.start();
  service = await Service.start({
    EVENT_STORE: 'eventstoredb',
    EVENTSTORE_URL: double.connectionString,
    VENDOR_TIMEOUT: '3',
  });
  caller = await service.signIn('nopay');
});
afterAll(async () => {
  await service.stop();
  await double.stop();
});

describe('an event store that becomes unavailable', () => {
  it('makes the service answer 503 in time, and the service recovers when the store is back', async () => {
    const { id } = (await caller.submit({ lastName: 'Otptest' })).body;
    expect((await caller.post(`/screening/${id}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(2);

    const { log, port } = double;
    await double.stop();
    const replies = await Promise.all([caller.submit(), caller.post(`/screening/${id}/otp`, { code: '123456' })]);
    for (const { status, body } of replies) expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect((await service.request('GET', '/health/ready')).status).toBe(503);
    // The service still answers with data from the read models.
    expect((await caller.status(id)).body).toMatchObject({ status: 'OTP_PENDING', attemptsRemaining: 2 });

    double = await EventStoreDbDouble.start({ log, port });
    await until(
      'the service is ready again',
      async () => (await service.request('GET', '/health/ready')).status === 200,
    );
    expect((await caller.post(`/screening/${id}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    expect((await caller.submit()).body.status).toBe('VERIFIED');
    await until('the projections caught up again', async () =>
      /projection_lag_seconds\{projection="screening_status"\} 0\n/.test(
        (await service.request('GET', '/metrics')).text,
      ),
    );
  });
});

describe('an event store that accepts no appends', () => {
  it('makes every submission fail with 503, even while waiting submissions have used up the limit of vendor calls', async () => {
    const node = await EventStoreDbDouble.start();
    const hung = await Service.start({
      EVENT_STORE: 'eventstoredb',
      EVENTSTORE_URL: node.connectionString,
      VENDOR_TIMEOUT: '3',
      VENDOR_CONCURRENCY: '4',
      VENDOR_SHARE: '0.5',
    });
    try {
      const callers = await hung.signIn('nopay');
      expect((await callers.submit()).status).toBe(200);
      node.faults.plan('append', ...Array<Fault>(1_000).fill({ kind: 'swallow', stored: false }));
      const first = callers.submit();
      await until('it waits for the log', () => node.appends.length > 0 && node.faults.left('append') < 1_000);
      const redis = hung.redis.client();
      await until('it has no place any more', async () => (await redis.keys('vendor-places:*')).length === 0);
      const replies = await Promise.all([first, ...Array.from({ length: 8 }, () => callers.submit())]);
      for (const { status, body } of replies) expect([status, body.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    } finally {
      await hung.stop();
      await node.stop();
    }
  });
});
