// A worker is killed before it calls the vendor. The next worker makes the submission, and the person can continue.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../support/eventually.js';
import { ALONE, type PlatformCaller, Service } from '../support/service.js';

let service: Service;
let caller: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '14' }, { alone: ALONE, roles: ['projector', 'worker', 'api'] });
  caller = await service.signIn('nopay');
});
afterAll(() => service.stop());

async function registrations(): Promise<number> {
  const calls = await (await fetch(`${service.sandboxUrl}/control/calls`)).json();
  expect(calls).toMatchObject({ receivedTwice: [] });
  return (calls as { operations: { registration: { received: number } } }).operations.registration.received;
}

it.each([
  ['Example', 'VERIFIED'],
  ['Otptest', 'STEP_UP_REQUIRED'],
])(
  'when a worker runs again, the submission of %s reaches the vendor once, and its status is %s',
  async (lastName, status) => {
    const before = await registrations();
    const [worker] = service.processesOf('worker');
    process.kill(worker?.pid as number, 'SIGSTOP');
    const { body } = await caller.submit({ lastName });
    expect(body.status).toBe('SUBMITTED');
    process.kill(worker?.pid as number, 'SIGKILL');
    await until('it is settled', async () => (await caller.status(body.id)).body.status !== 'SUBMITTED');
    expect((await caller.status(body.id)).body.status).toBe(status);
    expect((await registrations()) - before).toBe(1);
  },
);
