// The vendor is unavailable. The service answers 503 in time, leaves state and attempts unchanged, and recovers without
// a restart.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformCaller, Service } from '../support/service.js';
import { until } from '../support/eventually.js';
import { Processor } from '../support/processor.js';

let service: Service;
let caller: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '5', OTP_RESEND_INTERVAL: '0' }, { alone: ['sandbox'] });
  caller = await service.signIn('nopay');
});
afterAll(() => service.stop());

async function controls(): Promise<{ receivedTwice: string[] }> {
  return (await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as { receivedTwice: string[] };
}

describe('the service while a vendor is unavailable', () => {
  it('answers 503 to submit, otp, kba and resend, and leaves the session unchanged', async () => {
    const otp = (await caller.submit({ lastName: 'Otptest' })).body.id;
    expect((await caller.post(`/screening/${otp}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(2);
    const kba = (await caller.submit({ lastName: 'Kbatest' })).body;
    const answers = kba.stepUp.kbaQuestions.map(({ id }: { id: number }, index: number) => ({
      questionId: id,
      answerId: index + 1,
    }));

    await service.sandbox.end('SIGTERM');
    const replies = [
      await caller.submit(),
      await caller.post(`/screening/${otp}/otp`, { code: '123456' }),
      await caller.post(`/screening/${otp}/otp/resend`),
      await caller.post(`/screening/${kba.id}/kba`, { answers }),
    ];
    for (const { status, body } of replies)
      expect([status, body.error.code, body.error.recoverable]).toEqual([503, 'SERVICE_UNAVAILABLE', true]);
    // The log has each 503 under its request id, with the vendor and the reason.
    const lines = service.program.output
      .split('\n')
      .filter((line) => line.includes('"vendor call"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const operations = replies.map(({ headers }) => {
      const ofRequest = lines.filter(({ requestId }) => requestId === headers.get('x-request-id'));
      expect(ofRequest).toEqual([
        expect.objectContaining({
          level: 'info',
          vendor: 'identity-vendor',
          outcome: 'unavailable',
          ends: ['not-sent'],
          ms: expect.any(Number),
          environment: 'test',
          accountId: expect.any(String),
          attemptId: expect.any(String),
        }),
      ]);
      return [ofRequest[0]?.operation, ofRequest[0]?.aggregateId];
    });
    expect(operations.slice(1)).toEqual([
      ['verifyOtp', otp],
      ['resendOtp', otp],
      ['verifyKba', kba.id],
    ]);
    expect((await caller.status(otp)).body).toMatchObject({ status: 'OTP_PENDING', attemptsRemaining: 2 });
    expect((await caller.status(kba.id)).body).toMatchObject({ status: 'STEP_UP_REQUIRED' });

    service.sandbox.spawn();
    await until('the vendor is back', async () => (await caller.submit()).status === 200);
    expect((await caller.post(`/screening/${otp}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    expect((await caller.post(`/screening/${kba.id}/kba`, { answers })).body.status).toBe('VERIFIED');
  });

  it('answers 504 when the vendor hangs while it checks a code, and the recovery job learns the result later', async () => {
    const { id } = (await caller.submit({ lastName: 'Otptest' })).body;
    const pid = service.sandbox.pid as number;
    process.kill(pid, 'SIGSTOP');
    const reply = await caller.post(`/screening/${id}/otp`, { code: '123456' });
    expect([reply.status, reply.body.error.code, reply.body.error.recoverable]).toEqual([
      504,
      'UPSTREAM_TIMEOUT',
      true,
    ]);
    const again = await caller.post(`/screening/${id}/otp`, { code: '123456' });
    expect([again.status, again.body.error.code]).toEqual([409, 'ATTEMPT_IN_PROGRESS']);
    process.kill(pid, 'SIGCONT');
    await until(
      'the recovery job has settled the attempt',
      async () =>
        ['VERIFIED', 'OTP_PENDING'].includes((await caller.status(id)).body.status) &&
        (await caller.post(`/screening/${id}/otp`, { code: '123456' })).status !== 409,
    );
    expect((await caller.status(id)).body.status).toBe('VERIFIED');
    expect((await controls()).receivedTwice).toEqual([]);
  });

  it('answers 504 UPSTREAM_TIMEOUT when the processor does not answer a confirm, and changes nothing', async () => {
    const demo = await service.signIn('demo');
    const { id } = (await demo.submit()).body;
    const { body: intent } = await demo.post('/payments/create-intent', { amount: 3_500, screeningId: id });
    await new Processor(service.sandboxUrl).confirm(intent.client_secret, 'pm_card_chargeDeclined');
    await until('the payment has failed', async () => (await demo.status(id)).body.overallStatus === 'PAYMENT_FAILED');
    const confirm = () => demo.post(`/payments/${intent.transaction_id}/confirm`);
    const pid = service.sandbox.pid as number;
    process.kill(pid, 'SIGSTOP');
    try {
      const reply = await confirm();
      expect([reply.status, reply.body.error.code]).toEqual([504, 'UPSTREAM_TIMEOUT']);
      expect((await demo.status(id)).body.overallStatus).toBe('PAYMENT_FAILED');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until('it answers again', async () => (await confirm()).status === 200);
  });

  it('asks the vendor for the result of a call whose answer was lost, and does not repeat the call', async () => {
    await fetch(`${service.sandboxUrl}/control/lost-answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"calls":1}',
    });
    expect((await caller.submit()).body.status).toBe('VERIFIED');
    expect((await controls()).receivedTwice).toEqual([]);
  });

  it('expires an unanswered step-up, whether the timer or a status request comes first', async () => {
    const short = await Service.start({ STEP_UP_TTL: '1' });
    try {
      const nopay = await short.signIn('nopay');
      const [read, left] = [
        (await nopay.submit({ lastName: 'Otptest' })).body.id,
        (await nopay.submit({ lastName: 'Otptest' })).body.id,
      ];
      await until('it is expired when read', async () => (await nopay.status(read)).body.status === 'EXPIRED');
      const reply = await nopay.post(`/screening/${read}/otp`, { code: '123456' });
      expect([reply.status, reply.body.error.code]).toEqual([410, 'SESSION_EXPIRED']);
      await until('the timer expired the step-up without a read', async () =>
        (await short.ops('stream', 'show', left)).stdout.includes('"SessionExpired"'),
      );
      expect((await short.ops('stream', 'show', left)).stdout).toContain('"screening-sweep"');
    } finally {
      await short.stop();
    }
  });
});
