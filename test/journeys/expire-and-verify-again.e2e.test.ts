// A report is read and expires. The same person verifies again and reads a new report
// (docs/contract/platform.md#reports). Locked persons are unlocked in time, and no old report is shown or billed twice.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Processor } from '../support/processor.js';
import { aPerson, type PlatformCaller, type Reply, Service } from '../support/service.js';
import { until } from '../support/eventually.js';

const FEE = 3_500;
const VALIDITY_SECONDS = 4;
const BLOCK_SECONDS = 2;

let service: Service;
let processor: Processor;
let nopay: PlatformCaller;
let demo: PlatformCaller;

beforeAll(async () => {
  service = await Service.start({
    REPORT_VALIDITY: String(VALIDITY_SECONDS),
    STEP_UP_ATTEMPTS: '2',
    BLOCK_DURATION: String(BLOCK_SECONDS),
  });
  processor = new Processor(service.sandboxUrl);
  [nopay, demo] = await Promise.all([service.signIn('nopay'), service.signIn('demo')]);
});
afterAll(() => service?.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];

async function expired(caller: PlatformCaller, id: string): Promise<Reply> {
  let reply = await caller.get(`/reports/${id}`);
  await until('the report is expired', async () => (reply = await caller.get(`/reports/${id}`)).status !== 200);
  return reply;
}

async function billed(): Promise<number> {
  return ((await (await fetch(`${service.sandboxUrl}/control/calls`)).json()) as any).operations.report.billed;
}

describe('a person whose report has expired', () => {
  it('is already registered before the expiry, verifies again afterwards, and gets a new report while the old report stays expired', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    const first = (await nopay.submit(person)).body.id;
    const report = await nopay.get(`/reports/${first}`);
    expect(report.status).toBe(200);
    expect(Date.parse(report.body.expiresAt) - Date.parse(report.body.generatedAt)).toBe(VALIDITY_SECONDS * 1_000);
    expect(refused(await nopay.submit(person))).toEqual([409, 'ALREADY_REGISTERED']);

    const gone = await expired(nopay, first);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(report.body.expiresAt));
    expect(refused(gone)).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    expect(refused(await nopay.get(`/reports/${first}`, { accept: 'text/html' }))).toEqual([
      410,
      'SCREENING_REPORT_EXPIRED',
    ]);
    expect(refused(await nopay.post(`/reports/${first}/consent-to-share`, {}))).toEqual([
      410,
      'SCREENING_REPORT_EXPIRED',
    ]);
    expect(await billed()).toBe(1);
    // The session keeps its own status, because it was verified.
    expect((await nopay.status(first)).body).toMatchObject({ status: 'VERIFIED', overallStatus: 'COMPLETED' });

    const again = await nopay.submit(person);
    expect([again.status, again.body.status]).toEqual([200, 'VERIFIED']);
    expect(again.body.id).not.toBe(first);
    const fresh = await nopay.get(`/reports/${again.body.id}`);
    expect(fresh.status).toBe(200);
    expect(fresh.body.id).not.toBe(report.body.id);
    expect(fresh.body.score).toEqual(report.body.score);
    expect(refused(await nopay.get(`/reports/${first}`))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    expect(await billed()).toBe(2);
    // The check against a second registration is active again.
    expect(refused(await nopay.submit(person))).toEqual([409, 'ALREADY_REGISTERED']);
  });

  it('may verify again when two submits run at once while the report expires', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    const first = (await nopay.submit(person)).body.id;
    expect((await nopay.get(`/reports/${first}`)).status).toBe(200);
    const seen = new Set<string>();
    await until('it is let in again', async () => {
      const replies = await Promise.all([nopay.submit(person), nopay.submit(person)]);
      for (const reply of replies) seen.add(reply.status === 200 ? '200' : refused(reply).join(' '));
      return replies.some(({ status }) => status === 200);
    });
    expect([...seen].sort()).toEqual(['200', '409 ALREADY_REGISTERED']);
    expect(refused(await expired(nopay, first))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
  });

  it('pays again if consumers pay, because the earlier payment belonged to the session of the expired report', async () => {
    const person = aPerson({ lastName: 'Alreadytest' });
    const read = async (): Promise<{ id: string; transactionId: string }> => {
      const { body } = await demo.submit(person);
      expect(body.status).toBe('VERIFIED');
      expect(refused(await demo.get(`/reports/${body.id}`))).toEqual([402, 'PAYMENT_REQUIRED']);
      const intent = await demo.post('/payments/create-intent', { amount: FEE, screeningId: body.id });
      await processor.confirm(intent.body.client_secret, 'pm_card_visa');
      expect((await demo.post(`/payments/${intent.body.transaction_id}/confirm`)).body.status).toBe('SUCCEEDED');
      expect((await demo.get(`/reports/${body.id}`)).status).toBe(200);
      return { id: body.id, transactionId: intent.body.transaction_id };
    };
    const first = await read();
    expect(refused(await demo.submit(person))).toEqual([409, 'ALREADY_REGISTERED']);
    expect(refused(await expired(demo, first.id))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    // A consumer cannot pay again for an expired report.
    expect(refused(await demo.post('/payments/create-intent', { amount: FEE, screeningId: first.id }))).toEqual([
      409,
      'PAYMENT_ALREADY_COMPLETED',
    ]);
    const second = await read();
    expect(second.transactionId).not.toBe(first.transactionId);
    for (const { transactionId } of [first, second])
      expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, received: FEE });
  });

  it('no longer sees the report, and the recipient of a share still sees its snapshot', async () => {
    const { accountId } = (await service.credentials()).accounts.unrelated;
    const page = await service.signInUnderGrant('nopay', { recipient_account_id: accountId });
    const id = (await page.submit(aPerson())).body.id;
    const report = await page.get(`/reports/${id}`);
    expect((await page.post(`/reports/${id}/consent-to-share`)).status).toBe(200);
    expect(refused(await expired(page, id))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    const recipient = await service.signIn('unrelated');
    const snapshot = await recipient.get(`/reports/${id}`);
    expect([snapshot.status, snapshot.body.report]).toEqual([200, report.body.report]);
  });
});

describe('a person who was locked out after wrong answers', () => {
  it('stays locked out for the configured time, then verifies again; the locked session never gives a report', async () => {
    const person = aPerson({ lastName: 'Otptest' });
    const { id } = (await nopay.submit(person)).body;
    expect((await nopay.post(`/screening/${id}/otp`, { code: '000000' })).body).toMatchObject({
      status: 'OTP_PENDING',
      attemptsRemaining: 1,
    });
    const began = Date.now();
    const { status, blockedUntil } = (await nopay.post(`/screening/${id}/otp`, { code: '000000' })).body;
    expect(status).toBe('BLOCKED');
    expect(Date.parse(blockedUntil)).toBeGreaterThanOrEqual(began + BLOCK_SECONDS * 1_000);
    expect(Date.parse(blockedUntil)).toBeLessThan(Date.now() + BLOCK_SECONDS * 1_000 + 1);
    expect(refused(await nopay.get(`/reports/${id}`))).toEqual([403, 'SCREENING_USER_BLOCKED']);
    expect(refused(await nopay.submit(person))).toEqual([423, 'USER_BLOCKED']);

    let again: Reply = await nopay.submit(person);
    await until('the lock is over', async () => (again = await nopay.submit(person)).status === 200);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(blockedUntil));
    expect(refused(await nopay.get(`/reports/${id}`))).toEqual([429, 'SCREENING_TOO_MANY_ATTEMPTS']);
    expect((await nopay.post(`/screening/${again.body.id}/otp`, { code: '123456' })).body.status).toBe('VERIFIED');
    expect((await nopay.get(`/reports/${again.body.id}`)).status).toBe(200);
    expect((await nopay.status(id)).body).toMatchObject({ status: 'BLOCKED', overallStatus: 'BLOCKED' });
  });
});
