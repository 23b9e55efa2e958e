// An account that chose acme, which answers later, lets people decide, and whose bureau needs the person again. On a running service over HTTP.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/eventually.js';
import { Processor } from '../support/processor.js';
import { type PlatformCaller, type Reply, Service } from '../support/service.js';

const FEE = 3_500;
const PAYMENT = ['--payer', 'consumer', '--payment-account', 'acct_sandbox_acme'];
const DAY_SECONDS = 86_400;

let service: Service;
let key: string;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '3', OTP_RESEND_INTERVAL: '0' });
  const acme = ['--identity-vendor', 'acme', '--credit-vendor', 'acme', '--income-vendor', 'acme'];
  const { accountId } = await told('accounts', 'create', '--name', 'Acme', '--fee', String(FEE), ...PAYMENT, ...acme);
  const { allowedOrigins } = (await service.credentials()).accounts.demo;
  const use = ['--kind', 'publishable', '--environment', 'test', '--origins', allowedOrigins[0] as string];
  ({ key } = await told('keys', 'issue', accountId, ...use));
});
afterAll(() => service?.stop());

async function told(...command: string[]): Promise<any> {
  const { exitCode, stdout } = await service.ops(...command);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stdout}`);
  return JSON.parse(stdout);
}

/** Tokens end when the clock is turned. */
const consumer = (): Promise<PlatformCaller> => service.signIn('demo', key);

async function control(path: string, body?: object): Promise<any> {
  const headers = { 'content-type': 'application/json' };
  const post = body && { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(`${service.sandboxUrl}/vendors/acme/control/${path}`, post)).json();
}

const statusOf = async (id: string): Promise<string> => (await (await consumer()).status(id)).body.status;

async function paid(id: string): Promise<Reply> {
  const caller = await consumer();
  const intent = await caller.post('/payments/create-intent', { amount: FEE, screeningId: id });
  expect(intent.status).toBe(200);
  await new Processor(service.sandboxUrl).confirm(intent.body.client_secret, 'pm_card_visa');
  await until('it is paid', async () => (await caller.status(id)).body.overallStatus === 'COMPLETED');
  return caller.get(`/reports/${id}`);
}

describe('a person of an account with acme', () => {
  it('is verified at once, pays, and gets the report of the bureau of acme', async () => {
    const { body } = await (await consumer()).submit({ firstName: 'Quillonora' });
    expect(body.status).toBe('VERIFIED');
    const report = await paid(body.id);
    expect([report.status, report.body.score.model]).toEqual([200, 'Acme Rent Score 4']);
    expect(report.text).toContain('Quillonora Example');
  });

  it('is verified with the right code', async () => {
    const caller = await consumer();
    const { id, status } = (await caller.submit({ lastName: 'Otptest' })).body;
    expect(status).toBe('STEP_UP_REQUIRED');
    expect((await caller.post(`/screening/${id}/otp`, { code: '000000' })).body.attemptsRemaining).toBe(2);
    expect((await caller.post(`/screening/${id}/otp/resend`)).status).toBe(200);
    expect((await caller.post(`/screening/${id}/otp`, { code: '123456' })).body).toEqual({ id, status: 'VERIFIED' });
  });

  it('is verified with the right answers to the questions', async () => {
    const caller = await consumer();
    const { id, stepUp } = (await caller.submit({ lastName: 'Kbatest' })).body;
    const answers = stepUp.kbaQuestions.map((question: { id: number }, place: number) => ({
      questionId: question.id,
      answerId: place + 1,
    }));
    expect((await caller.post(`/screening/${id}/kba`, { answers })).body).toEqual({ id, status: 'VERIFIED' });
  });

  it('is refused when acme declines', async () => {
    const declined = await (await consumer()).submit({ lastName: 'Notfound' });
    expect([declined.status, declined.body.error.code]).toEqual([404, 'IDENTITY_NOT_FOUND']);
  });

  it('gets a report after a verdict that came late', async () => {
    const { id, status } = (await (await consumer()).submit({ lastName: 'Latetest' })).body;
    expect(status).toBe('SUBMITTED');
    await control('clock', { seconds: 60 });
    await until('the verdict is known', async () => (await statusOf(id)) === 'VERIFIED');
    const report = await paid(id);
    expect([report.status, report.body.score.model]).toEqual([200, 'Acme Rent Score 4']);
  });

  it('waits for the people who review, and is verified when they approve', async () => {
    const { id, status } = (await (await consumer()).submit({ lastName: 'Reviewtest' })).body;
    expect(status).toBe('SUBMITTED');
    await service.passDays(1);
    expect((await (await consumer()).status(id)).body).toMatchObject({
      status: 'SUBMITTED',
      reviewUntil: expect.any(String),
    });
    await service.passDays(1);
    await control('clock', { seconds: DAY_SECONDS });
    await until('the decision is known', async () => (await statusOf(id)) === 'VERIFIED');
    expect((await paid(id)).status).toBe(200);
  });

  it('is refused at once when the people who review decline, because acme sends a notice', async () => {
    const { id } = (await (await consumer()).submit({ lastName: 'Reviewtest' })).body;
    const { verifications } = await control('verifications');
    const reviewed = verifications.find(({ state }: { state: string }) => state === 'manual_review');
    expect(await control(`verifications/${reviewed.id}/decision`, { decision: 'declined' })).toEqual({ notice: 200 });
    await until('the decision is known', async () => (await statusOf(id)) === 'BLOCKED');
  });

  it('shows a document on the page of acme, and is then verified', async () => {
    const { id, status } = (await (await consumer()).submit({ lastName: 'Documenttest' })).body;
    const shown = (await (await consumer()).status(id)).body;
    expect([status, shown.status, shown.reviewUntil]).toEqual(['SUBMITTED', 'SUBMITTED', undefined]);
    expect(shown.userAction).toEqual({ until: expect.any(String), url: expect.any(String) });
    await fetch(shown.userAction.url, { method: 'POST' });
    await until('the person is verified', async () => (await statusOf(id)) === 'VERIFIED');
    expect((await (await consumer()).status(id)).body).not.toHaveProperty('userAction');
  });

  it('proves the income in two rounds at acme, and a person who does not act ends the session as expired', async () => {
    const caller = await consumer();
    const { id: screening } = (await caller.submit({ lastName: 'Payrolltest' })).body;
    const opened = (attempt: number) => caller.post('/voie/sessions', { screening_session_id: screening, attempt });
    const { income_session_id: id } = (await opened(1)).body;
    const statusOfIncome = async (of = id): Promise<any> =>
      (await (await consumer()).get(`/voie/sessions/${of}/status`)).body;
    const roundAfter = async (earlier: string | undefined, of = id): Promise<string> => {
      let url: string | undefined;
      await until('the person must act', async () => {
        ({ url } = (await statusOfIncome(of)).user_action ?? {});
        return url !== undefined && url !== earlier;
      });
      return url as string;
    };
    const first = await roundAfter(undefined);
    expect(await (await fetch(first)).text()).toContain('Log in');
    await fetch(first, { method: 'POST' });
    const second = await roundAfter(first);
    await fetch(second, { method: 'POST' });
    await until('the income is known', async () => (await statusOfIncome()).status === 'COMPLETED');
    expect(await statusOfIncome()).not.toHaveProperty('user_action');
    const report = await caller.get(`/voie/sessions/${id}/report`);
    expect([report.status, report.body.income.pay_frequency]).toEqual([200, 'BIWEEKLY']);
    const other = (await opened(2)).body.income_session_id;
    await roundAfter(undefined, other);
    // The clock of acme is a day ahead of the service by now.
    await service.passDays(2);
    await until('the round is over', async () => (await statusOfIncome(other)).status === 'EXPIRED');
  });
});
