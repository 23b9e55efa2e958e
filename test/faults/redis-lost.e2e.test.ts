// Redis holds no data whose loss would matter. The service restores read models and queues from the events
// automatically.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

let service: Service;
let caller: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '5', OTP_RESEND_INTERVAL: '0' });
  caller = await service.signIn('nopay');
});
afterAll(() => service.stop());

/** The service can answer a request for a status from the log. */
async function statusesAreRead(
  verified: string,
  questions: { readonly id: string; readonly stepUp: unknown },
): Promise<void> {
  const { secretKey } = (await service.credentials()).accounts.nopay;
  const server = (id: string): Promise<Reply> =>
    service.request('GET', `/v1/screenings/${id}/status`, { headers: { 'x-secret-key': secretKey } });
  const unknown = newId();
  const replies = await Promise.all([
    caller.status(verified),
    caller.status(questions.id),
    caller.status(unknown),
    server(verified),
    server(unknown),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 404, 200, 404]);
  expect(replies[0].body.status).toBe('VERIFIED');
  expect(replies[1].body.stepUp).toEqual(questions.stepUp);
  expect(replies[3].body.status).toBe('VERIFIED');
}

describe('a Redis that is killed and restarts empty', () => {
  it('loses no session, key or step-up, and the service recovers without a restart', async () => {
    const verified = (await caller.submit()).body.id;
    const stepUp = (await caller.submit({ lastName: 'Otptest' })).body.id;
    const questions = (await caller.submit({ lastName: 'Kbatest' })).body;

    await service.redis.kill9();
    const meanwhile = await caller.submit();
    expect([meanwhile.status, meanwhile.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await statusesAreRead(verified, questions);
    expect((await service.request('GET', '/health/ready')).status).toBe(503);
    expect((await service.request('GET', '/health/live')).status).toBe(200);

    await service.redis.startAgainEmpty();
    await until(
      'the service is ready again',
      async () => (await service.request('GET', '/health/ready')).status === 200,
    );
    expect((await caller.status(verified)).body.status).toBe('VERIFIED');
    expect((await caller.status(questions.id)).body.stepUp).toEqual(questions.stepUp);
    expect((await caller.post(`/screening/${stepUp}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    // Keys are stored in read models too.
    await service.signIn('nopay');
    expect((await caller.submit()).body.status).toBe('VERIFIED');

    // The read models are complete again: a rebuild finds no difference from the log.
    const rebuild = await service.ops('projections', 'rebuild');
    expect(rebuild.exitCode).toBe(0);
    for (const line of rebuild.stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ differences: [] });
  });

  it('loses the queue entry of a vendor call, and the call still gets its result and runs once', async () => {
    const registrations = async (): Promise<number> =>
      (
        (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as {
          operations: { registration: { received: number } };
        }
      ).operations.registration.received;
    const before = await registrations();
    const asked = caller.submit({ lastName: 'Slowtest' });
    await until('the vendor was asked', async () => (await registrations()) > before);
    await service.redis.startAgainEmpty();
    const reply = await asked;
    expect([200, 503, 504]).toContain(reply.status);
    await until(
      'the service is ready again',
      async () => (await service.request('GET', '/health/ready')).status === 200,
    );
    if (reply.status === 200)
      await until('the session is settled', async () =>
        ['VERIFIED', 'ERROR', 'EXPIRED'].includes((await caller.status(reply.body.id)).body.status),
      );
    const calls = (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as { receivedTwice: string[] };
    expect(calls.receivedTwice).toEqual([]);
  });
});

describe('a Redis that is frozen', () => {
  it('makes a submission fail with 503 in time, still allows token exchanges, and leaves no fault when it resumes', async () => {
    const person = aPerson();
    const verified = (await caller.submit()).body.id;
    const questions = (await caller.submit({ lastName: 'Kbatest' })).body;
    service.redis.freeze();
    await statusesAreRead(verified, questions);
    const reply = await caller.submit(person);
    expect(reply.status).toBe(503);
    const { publishableKey, allowedOrigins } = (await service.credentials()).accounts.nopay;
    const exchange = await service.request('POST', '/auth/token/exchange', {
      headers: { 'x-publishable-key': publishableKey, origin: allowedOrigins[0] as string },
    });
    // The log has the keys and accounts. When a limit cannot be counted, every caller is allowed.
    expect([exchange.status, typeof exchange.body.token]).toEqual([200, 'string']);
    service.redis.resume();
    await until(
      'the service is ready again',
      async () => (await service.request('GET', '/health/ready')).status === 200,
    );
    expect((await caller.submit(person)).body.status).toBe('VERIFIED');
  });
});
