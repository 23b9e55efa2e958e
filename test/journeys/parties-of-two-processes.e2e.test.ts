// Two processes of one installation decide together about a party of the direct API. parties.e2e.test.ts tests one
// process.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aRegistration, DirectCaller } from '../support/direct.js';
import { until } from '../support/eventually.js';
import { type Reply, Service } from '../support/service.js';

let service: Service;
let beside: Service;
let callers: readonly [DirectCaller, DirectCaller];

beforeAll(async () => {
  service = await Service.start({ OTP_RESEND_INTERVAL: '0' });
  beside = await service.startBeside({});
  const caller = await DirectCaller.of(service);
  callers = [caller, new DirectCaller(beside, caller.headers)];
});
afterAll(async () => {
  await beside?.program.end('SIGTERM');
  await service?.stop();
});

/** The HTTP status, and the number of the first error. */
const told = ({ status, body }: Reply): unknown[] => [status, ...body.errors.map(({ errorCode }: any) => errorCode)];
async function executed(operation: string): Promise<number> {
  const reply = await fetch(`${service.sandboxUrl}/control/calls`);
  return ((await reply.json()) as any).operations[operation]?.executed ?? 0;
}

describe('two processes', () => {
  it('200: two equal registrations get the same answer from one vendor call; a different registration gets 409/121 in the meantime', async () => {
    const path = `/renters/${randomUUID()}`;
    const before = await executed('registration');
    const body = aRegistration({ lastName: 'Slowtest' });
    const both = callers.map((caller) => caller.post(path, body));
    await until('it is with the vendor', async () => (await callers[0].post(path, aRegistration())).status === 409);
    const [one, other] = await Promise.all(both);
    expect([told(one as Reply), one?.text]).toEqual([[200], other?.text]);
    expect((await executed('registration')) - before).toBe(1);
  });

  it('423/300: parallel wrong answers to both processes lock the agent, and only three of them reach the vendor', async () => {
    const path = `/agents/${randomUUID()}`;
    await callers[0].post(path, aRegistration({ lastName: 'Otptest' }));
    expect(told(await callers[0].post(`${path}/otp`, { code: '123456' }))).toEqual([200]);
    const before = await executed('otp');
    const device = { jscPayload: 'fingerprint', ipAddress: '203.0.113.7' };
    expect(told(await callers[1].post(`${path}/auth`, device))).toEqual([200]);
    const statuses: number[] = [];
    while (!statuses.includes(423)) {
      const answers = callers.flatMap((caller) =>
        [1, 2, 3].map(() => caller.post(`${path}/auth/otp`, { code: '000000' })),
      );
      statuses.push(...(await Promise.all(answers)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 422)).toHaveLength(2);
    expect((await executed('otp')) - before).toBe(3);
    for (const caller of callers) expect(told(await caller.get(`${path}/auth/status`))).toEqual([423, 300]);
  });
});
