// Tests every object that expires, on the whole service with the documented limits. The tests move the clock of the processes
// forward.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { childOf } from '../../support/child-account.js';
import { DirectCaller } from '../../support/direct.js';
import { until } from '../../support/eventually.js';
import { paymentStream, Processor, shownEvents } from '../../support/processor.js';
import { type PlatformCaller, type Reply, Service } from '../../support/service.js';

const MINUTE = 1 / 1_440;
const RIGHT = { code: '123456' };
const DEVICE = { jscPayload: 'fingerprint', ipAddress: '203.0.113.7' };

let service: Service;
let direct: DirectCaller;

beforeAll(async () => {
  service = await Service.start({ VENDOR_TIMEOUT: '1' });
  direct = await DirectCaller.of(service);
});
afterAll(() => service?.stop());

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
/** The HTTP status, and the number and field of the first error. */
const told = ({ status, body }: Reply): unknown[] => {
  const [error] = body.errors;
  return error ? [status, error.errorCode, error.errorOnField] : [status];
};
/** Tokens are valid for an hour. */
const nopay = (): Promise<PlatformCaller> => service.signIn('nopay');

describe('a submission that the vendor never answers', () => {
  it('becomes ERROR when its time limit has passed', async () => {
    const { id } = (await (await nopay()).submit({ lastName: 'Timeouttest' })).body;
    await service.passDays(MINUTE);
    const caller = await nopay();
    await until('the attempt is given up', async () => (await caller.status(id)).body.status === 'ERROR');
  });
});

describe('a payment about which the processor sends no event', () => {
  it('is found by the service itself when the consumer closed the page while the bank was working', async () => {
    const processor = new Processor(service.sandboxUrl);
    const demo = await service.signIn('demo');
    const { id } = (await demo.submit()).body;
    const { transaction_id, client_secret } = (
      await demo.post('/payments/create-intent', { amount: 3_500, screeningId: id })
    ).body;
    await processor.control('delivery', { drop: 1_000 });
    try {
      await processor.confirm(client_secret, 'pm_usBankAccount');
      expect((await demo.post(`/payments/${transaction_id}/confirm`)).body.status).toBe('PROCESSING');
      await until(
        'the bank has paid',
        async () => (await processor.money({ transaction: transaction_id })).succeeded === 1,
      );
      await service.passDays(MINUTE);
      const caller = await service.signIn('demo');
      await until('it is paid', async () => (await caller.status(id)).body.overallStatus === 'COMPLETED');
    } finally {
      await processor.control('delivery', { drop: 0 });
    }
    expect((await shownEvents(service, paymentStream(transaction_id))).map(({ type }) => type)).toEqual([
      'PaymentOpened',
      'PaymentIntentCreated',
      'PaymentProcessing',
      'PaymentLookedUp',
      'PaymentSucceeded',
    ]);
  });
});

describe('a report that the bureau refuses', () => {
  it('200 for Frozentest when the freeze is lifted and the interval has passed, and the report is billed once', async () => {
    const control = async (path: string, init?: RequestInit): Promise<any> =>
      (await fetch(`${service.sandboxUrl}/control/${path}`, init)).json();
    const caller = await nopay();
    const id: string = (await caller.submit({ lastName: 'Frozentest' })).body.id;
    const pulls = async (): Promise<{ received: number; executed: number; billed: number }> =>
      (await control('calls')).operations.report ?? { received: 0, executed: 0, billed: 0 };
    const { received, executed, billed } = await pulls();
    expect(refused(await caller.get(`/reports/${id}`))).toEqual([422, 'REPORT_FILE_FROZEN']);
    const headers = { 'content-type': 'application/json' };
    expect(await control('lift-freeze', { method: 'POST', headers, body: '{}' })).toEqual({ lifted: 1 });
    expect(refused(await caller.get(`/reports/${id}`))).toEqual([422, 'REPORT_FILE_FROZEN']);
    await service.passDays(11 * MINUTE);
    expect((await caller.get(`/reports/${id}`)).status).toBe(200);
    expect(await pulls()).toEqual({
      received: received + 2,
      executed: executed + 2,
      billed: billed + 1,
    });
  });
});

describe('a share', () => {
  it('410 SCREENING_REPORT_EXPIRED for the owner after 30 days; 403 REPORT_SHARING_EXPIRED for owner and recipient after 24 months', async () => {
    const { accountId: recipientAccountId, key } = await childOf(service, 'nopay');
    const child = (): Promise<PlatformCaller> => service.signIn('nopay', key);
    const consent = async (id: string, body?: object): Promise<Reply> =>
      (await nopay()).post(`/reports/${id}/consent-to-share`, body);
    const sharing = async (id: string): Promise<Reply> => (await nopay()).get(`/reports/${id}/sharing`);
    const id: string = (await (await nopay()).submit()).body.id;
    const { reportId, expiresAt } = (await consent(id, { recipientAccountId })).body;
    const own: string = (await (await nopay()).submit()).body.id;
    const { expiresAt: ownEnd, sharedAt } = (await consent(own)).body;

    await service.passDays(31);
    expect(refused(await (await nopay()).get(`/reports/${id}`))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    const shared = await (await child()).get(`/reports/${id}`);
    expect([shared.status, shared.body.id, shared.body.expiresAt]).toEqual([200, reportId, expiresAt]);
    expect(refused(await consent(id, {}))).toEqual([410, 'SCREENING_REPORT_EXPIRED']);
    expect((await sharing(own)).body.status).toBe('SHARED');

    await service.passDays(701);
    expect(refused(await (await child()).get(`/reports/${id}`))).toEqual([403, 'REPORT_SHARING_EXPIRED']);
    expect(refused(await consent(id, { recipientAccountId }))).toEqual([403, 'REPORT_SHARING_EXPIRED']);
    expect((await sharing(own)).body).toMatchObject({ status: 'EXPIRED', expiresAt: ownEnd, sharedAt });
  });
});

describe('a party of the direct API', () => {
  async function aConfirmed(lastName: string): Promise<string> {
    const id = randomUUID();
    const reply = await direct.register('agents', id, { lastName });
    if (reply.body.payload.otpEnabled) expect(told(await direct.post(`/agents/${id}/otp`, RIGHT))).toEqual([200]);
    return id;
  }

  it('200: an agent of the persona Alreadytest registers again when the confirmation has expired', async () => {
    const id = await aConfirmed('Alreadytest');
    expect(told(await direct.register('agents', id, { lastName: 'Alreadytest' }))).toEqual([409, 292, null]);
    await service.passDays(366);
    expect(told(await direct.register('agents', id, { lastName: 'Alreadytest' }))).toEqual([200]);
  });

  it('423/300 until the time of AGENT_LOCK has passed', async () => {
    const path = `/agents/${await aConfirmed('Otptest')}`;
    await direct.post(`${path}/auth`, DEVICE);
    for (let number = 0; number < 3; number++) await direct.post(`${path}/auth/otp`, { code: '000000' });
    expect(told(await direct.get(`${path}/auth/status`))).toEqual([423, 300, null]);
    await service.passDays(1);
    expect(told(await direct.get(`${path}/auth/status`))).toEqual([200]);
    expect(told(await direct.post(`${path}/auth`, DEVICE))).toEqual([200]);
    expect(told(await direct.post(`${path}/auth/otp`, RIGHT))).toEqual([200]);
  });

  it('429/121 with Retry-After: another code is requested within 30 seconds; this reply is not kept for the idempotency key', async () => {
    const id = randomUUID();
    await direct.registered('agents', id, { lastName: 'Otptest' });
    const resend = (key: string): Promise<Reply> => direct.get(`/agents/${id}/otp/resend`, { 'idempotency-key': key });
    const early = await resend('early');
    expect([told(early), Number(early.headers.get('retry-after')) > 0]).toEqual([[429, 121, null], true]);
    expect((await resend('early')).headers.get('idempotent-replayed')).not.toBe('true');
    expect(early.headers.get('cache-control')).toBe('no-store');
    await service.passDays(MINUTE);
    expect(told(await resend('early'))).toEqual([200]);
  });
});
