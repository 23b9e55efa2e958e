// Refunds on the whole service (docs/contract/server.md#refunds): by the account's server, by an operator, and automatically.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { checkoutPaymentId } from '../../../src/modules/payments/domain/payment.js';
import { DirectCaller } from '../../support/direct.js';
import { EndpointOwner } from '../../support/endpoint-owner.js';
import { until } from '../../support/eventually.js';
import { HttpsReceiver } from '../../support/https-receiver.js';
import { intentIn, paymentStream, Processor, shownEvents } from '../../support/processor.js';
import { type Credentials, type Person, type PlatformCaller, type Reply, Service } from '../../support/service.js';

const FEE = 3_500;
/** One minute, in days. When this time has passed, the service asks the processor without a request. */
const MINUTE = 1 / 1_440;
type Account = keyof Credentials['accounts'];

let folder: string;
let receiver: HttpsReceiver;
let service: Service;
let credentials: Credentials;
let processor: Processor;
let demo: PlatformCaller;
let direct: DirectCaller;

beforeAll(async () => {
  [folder, receiver] = await Promise.all([mkdtemp(join(tmpdir(), 'receiver-')), HttpsReceiver.start()]);
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, receiver.ca);
  service = await Service.start({
    NODE_EXTRA_CA_CERTS: authority,
    WEBHOOK_EGRESS_ALLOW: '127.0.0.1/32',
    VENDOR_TIMEOUT: '1',
  });
  credentials = await service.credentials();
  processor = new Processor(service.sandboxUrl);
  demo = await service.signIn('demo');
  direct = await DirectCaller.of(service, 'demo');
  await new EndpointOwner(service, credentials.accounts.demo).register(receiver.url('/status/200'), {
    enabled_events: ['payment.refunded', 'payment.succeeded', 'screening.completed'],
  });
});
afterAll(async () => {
  await service?.stop();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

const refused = ({ status, body }: Reply): [number, string] => [status, body?.error?.code];
const refund = (transactionId: string, reason: unknown = 'requested_by_consumer', account: Account = 'demo') =>
  refundWith(transactionId, { reason }, credentials.accounts[account].secretKey);
const refundWith = (transactionId: string, body: unknown, secretKey: string) =>
  service.request('POST', `/v1/payments/${transactionId}/refund`, { headers: { 'x-secret-key': secretKey }, body });
const statuses = async (id: string): Promise<[string, string]> => {
  const { body } = await demo.status(id);
  return [body.paymentStatus, body.overallStatus];
};

interface Paid {
  readonly id: string;
  readonly transactionId: string;
  readonly secret: string;
}

async function paying(id: string): Promise<Paid> {
  const { status, body } = await demo.post('/payments/create-intent', { amount: FEE, screeningId: id });
  expect(status).toBe(200);
  return { id, transactionId: body.transaction_id, secret: body.client_secret };
}

async function pay(id: string): Promise<Paid> {
  const paid = await paying(id);
  await processor.confirm(paid.secret, 'pm_card_visa');
  expect((await demo.post(`/payments/${paid.transactionId}/confirm`)).body.status).toBe('SUCCEEDED');
  return paid;
}

const submitted = async (person: object = {}): Promise<string> => (await demo.submit(person)).body.id;
const paidFor = async (person: object = {}): Promise<Paid> => pay(await submitted(person));
const types = async (stream: string): Promise<string[]> => (await shownEvents(service, stream)).map(({ type }) => type);
const told = (type: string, session: string): any[] =>
  receiver.requests
    .map(({ body }) => JSON.parse(body.toString()))
    .filter((event) => event.type === type && event.data.session_id === session);

const page = (renterId: string): Promise<Reply> =>
  direct.send('POST', '/pay/payment/checkout-session', {
    renterId,
    successUrl: 'http://localhost:5173/paid',
    cancelUrl: 'http://localhost:5173/canceled',
  });
const checkoutStream = (transactionId: string): string => `payment-${checkoutPaymentId(transactionId)}`;

interface AtCheckout {
  readonly id: string;
  readonly transactionId: string;
  readonly intent: string;
}

async function payAtCheckout(renterId: string): Promise<AtCheckout> {
  const { url, sessionId } = (await page(renterId)).body.payload;
  const body = new URLSearchParams({ payment_method: 'pm_card_visa' });
  expect((await fetch(`${url}/pay`, { method: 'POST', body, redirect: 'manual' })).status).toBe(303);
  const session = await fetch(`${service.sandboxUrl}/v1/checkout/sessions/${sessionId}`, {
    headers: { authorization: 'Bearer sk_test_sandbox_processor' },
  });
  const { client_reference_id: transactionId, payment_intent: intent } = (await session.json()) as any;
  await until('it is recorded', async () => (await types(checkoutStream(transactionId))).length > 0);
  const [made] = await shownEvents(service, checkoutStream(transactionId));
  const id: string = made?.data.sessionId;
  // The processor reports the payment to the service, so no reply waited for the status.
  await until('the session is paid', async () => (await statusesOf(id))[0] === 'SUCCEEDED');
  return { id, transactionId, intent };
}

async function renterWhoPaid(person: Person = {}): Promise<AtCheckout & { readonly renterId: string }> {
  const renterId = `renter-${newId()}`;
  expect((await direct.register('renters', renterId, person)).status).toBe(200);
  return { renterId, ...(await payAtCheckout(renterId)) };
}

const reportOf = (renterId: string): Promise<Reply> => direct.get(`/renters/${renterId}/report?format=json`);
const onServer = (path: string): Promise<Reply> =>
  service.request('GET', `/v1${path}`, { headers: { 'x-secret-key': credentials.accounts.demo.secretKey } });
const statusesOf = async (id: string): Promise<[string, string]> => {
  const { body } = await onServer(`/screenings/${id}/status`);
  return [body.payment_status, body.overall_status];
};

describe('POST /v1/payments/{transaction_id}/refund', () => {
  it('200: refunds the whole payment once and reports the refund once, and the consumer may pay again', async () => {
    const { id, transactionId, secret } = await paidFor();
    const reply = await refund(transactionId);
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        transaction_id: transactionId,
        session_id: id,
        status: 'REFUNDED',
        amount: FEE,
        currency: 'usd',
        reason: 'requested_by_consumer',
      },
    ]);
    expect(await statuses(id)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
    expect(refused(await demo.get(`/reports/${id}`))).toEqual([402, 'PAYMENT_REQUIRED']);
    expect((await demo.post(`/payments/${transactionId}/confirm`)).body).toEqual({
      transaction_id: transactionId,
      status: 'SUCCEEDED',
      amount: FEE,
      currency: 'usd',
    });
    const again = await refund(transactionId, 'duplicate');
    expect([again.status, again.body]).toEqual([200, reply.body]);
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, refunded: FEE });
    expect(await processor.calls(`${transactionId}:refund`)).toMatchObject({ received: 1, executed: 1 });
    await processor.settled(intentIn(secret));

    const { refundedAt } = (await demo.status(id)).body;
    expect(Date.now() - Date.parse(refundedAt)).toBeLessThan(600_000);
    await paying(id);
    await until('the new payment has begun', async () => (await statuses(id))[0] === 'PENDING');
    expect((await demo.status(id)).body).toMatchObject({ overallStatus: 'PAYMENT_PENDING', refundedAt });
    const second = await pay(id);
    expect(second.transactionId).not.toBe(transactionId);
    expect(await statuses(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    expect((await demo.status(id)).body).not.toHaveProperty('refundedAt');
    expect((await demo.get(`/reports/${id}`)).status).toBe(200);
    await until('the account has the webhook', async () => told('payment.succeeded', id).length === 2);
    expect(told('payment.refunded', id).map(({ data }) => data)).toEqual([
      {
        session_id: id,
        transaction_id: transactionId,
        amount_cents: FEE,
        currency: 'usd',
        reason_code: 'requested_by_consumer',
      },
    ]);
    expect(told('screening.completed', id)).toHaveLength(1);
    expect(await types(paymentStream(transactionId))).toEqual([
      'PaymentOpened',
      'PaymentIntentCreated',
      'PaymentSucceeded',
      'PaymentRefundRequested',
      'PaymentRefunded',
    ]);
  });

  it('200: /v1 shows REFUNDED and PAYMENT_PENDING for the session', async () => {
    const { id, transactionId } = await paidFor();
    await refund(transactionId, 'other');
    const { body } = await service.request('GET', `/v1/screenings/${id}/status`, {
      headers: { 'x-secret-key': credentials.accounts.demo.secretKey },
    });
    expect(body).toMatchObject({ payment_status: 'REFUNDED', overall_status: 'PAYMENT_PENDING' });
  });

  it.each([
    {},
    ...[null, '', 'fraud', 'OTHER', 'other ', ['other'], 1, { reason: 'other' }].map((reason) => ({ reason })),
  ])('400 VALIDATION_ERROR: for the body %j nothing is refunded', async (body) => {
    const { id, transactionId } = await (kept ??= paidFor());
    const reply = await refundWith(transactionId, body, credentials.accounts.demo.secretKey);
    expect([...refused(reply), reply.body.error.field]).toEqual([400, 'VALIDATION_ERROR', 'reason']);
    expect(await statuses(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
  });
  let kept: Promise<Paid> | undefined;

  it('401 AUTH_UNAUTHORIZED without a secret key', async () => {
    expect(refused(await service.request('POST', '/v1/payments/txn_x/refund', { body: { reason: 'other' } }))).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
    ]);
    expect(refused(await demo.post('/v1/payments/txn_x/refund', { reason: 'other' }))).toEqual([
      401,
      'AUTH_UNAUTHORIZED',
    ]);
  });

  it('404 PAYMENT_NOT_FOUND, with one reply for unknown and malformed ids, and for payments of a child, a parent or the other environment', async () => {
    const { transactionId } = await paidFor();
    const replies = [
      await refund('x'),
      await refund('txn_'),
      await refund('txn_01890000-0000-7000-8000-000000000000'),
      await refund('chk_01890000-0000-7000-8000-000000000000_0'),
      await refund(transactionId, 'other', 'child'),
      await refund(transactionId, 'other', 'unrelated'),
      await refundWith(transactionId, { reason: 'other' }, credentials.accounts.demo.liveSecretKey ?? ''),
    ];
    for (const reply of replies) expect(refused(reply)).toEqual([404, 'PAYMENT_NOT_FOUND']);
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ refunded: 0 });
  });

  it('409 PAYMENT_NOT_COMPLETED before the payment', async () => {
    const { id, transactionId } = await paying(await submitted());
    expect(refused(await refund(transactionId))).toEqual([409, 'PAYMENT_NOT_COMPLETED']);
    expect(await types(`report-${id}`)).toEqual([]);
  });

  it('409 REPORT_ALREADY_RELEASED after the release of the report; an operator can refund the payment, and nothing stays locked', async () => {
    const { id, transactionId } = await paidFor();
    expect((await demo.get(`/reports/${id}`)).status).toBe(200);
    expect(refused(await refund(transactionId))).toEqual([409, 'REPORT_ALREADY_RELEASED']);
    const bare = await service.ops('payments', 'refund', transactionId);
    expect([bare.exitCode, bare.stdout]).toEqual([1, expect.stringContaining('--reason')]);
    const { exitCode, stdout } = await service.ops(
      'payments',
      'refund',
      transactionId,
      '--reason',
      'goodwill, ticket 12',
    );
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      { transaction: transactionId, session: id, refund: 'requested', reasonCode: 'other' },
    ]);
    await service.passDays(MINUTE);
    await until('it is refunded', async () => (await processor.money({ transaction: transactionId })).refunded === FEE);
    await until('the account has the webhook', async () => told('payment.refunded', id).length === 1);
    expect(await statuses(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    expect((await demo.get(`/reports/${id}`)).status).toBe(200);
    expect(refused(await demo.post('/payments/create-intent', { amount: FEE, screeningId: id }))).toEqual([
      409,
      'PAYMENT_ALREADY_COMPLETED',
    ]);
    const again = await service.ops('payments', 'refund', transactionId, '--reason', 'duplicate');
    expect(JSON.parse(again.stdout)).toMatchObject({ refund: 'made', reasonCode: 'other' });
    const [requested] = (await shownEvents(service, `report-${id}`)).filter(({ type }) => type === 'ReportPullsEnded');
    expect(requested?.metadata).toMatchObject({ actor: { kind: 'operator' }, reason: 'goodwill, ticket 12' });
  });

  it('409 REPORT_IN_PROGRESS while the service pulls the report', async () => {
    const { id, transactionId } = await paidFor();
    await fetch(`${service.sandboxUrl}/control/fault`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ fault: 'silent' }),
    });
    const reading = demo.get(`/reports/${id}`);
    await until('it is requested', async () => (await types(`report-${id}`)).includes('ReportRequested'));
    const reply = await refund(transactionId);
    expect([...refused(reply), reply.body.error.recoverable]).toEqual([409, 'REPORT_IN_PROGRESS', true]);
    await reading;
    await service.passDays(MINUTE);
    await until('it is released', async () => (await demo.get(`/reports/${id}`)).status === 200);
    expect(refused(await refund(transactionId))).toEqual([409, 'REPORT_ALREADY_RELEASED']);
  });

  it('200 SUCCEEDED while the processor cannot be reached; until the refund runs, the payment allows no pull and no new payment', async () => {
    const { id, transactionId } = await paidFor();
    await processor.control('outage', { seconds: 600 });
    try {
      const reply = await refund(transactionId, 'report_unavailable');
      expect([reply.status, reply.body.status]).toEqual([200, 'SUCCEEDED']);
      expect(refused(await demo.get(`/reports/${id}`))).toEqual([402, 'PAYMENT_REQUIRED']);
      expect(refused(await demo.post('/payments/create-intent', { amount: FEE, screeningId: id }))).toEqual([
        409,
        'PAYMENT_ALREADY_COMPLETED',
      ]);
    } finally {
      await processor.control('outage', { seconds: 0 });
    }
    await service.passDays(MINUTE);
    await until('it is refunded', async () => (await statuses(id))[0] === 'REFUNDED');
    expect(await processor.calls(`${transactionId}:refund`)).toMatchObject({ executed: 1 });
  });

  it('200 SUCCEEDED when the processor refuses the refund; the service requests the refund again under another key', async () => {
    const { id, transactionId } = await paidFor();
    await processor.control('refunds', { refuse: 1 });
    expect((await refund(transactionId)).body.status).toBe('SUCCEEDED');
    await service.passDays(MINUTE);
    await until('it is refunded', async () => (await statuses(id))[0] === 'REFUNDED');
    expect(await processor.calls(`${transactionId}:refund:1`)).toMatchObject({ executed: 1 });
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ refunded: FEE });
  });
});

describe("a renter's payment at a hosted checkout", () => {
  it('200: is refunded once and reported once; the report then answers 402, and the renter may pay again at once', async () => {
    const { renterId, id, transactionId } = await renterWhoPaid();
    expect(transactionId).toMatch(/^chk_/);
    expect(await statusesOf(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    const reply = await refund(transactionId);
    const given = { transaction_id: transactionId, session_id: id, status: 'REFUNDED' };
    const money = { amount: FEE, currency: 'usd', reason: 'requested_by_consumer' };
    expect([reply.status, reply.body]).toEqual([200, { ...given, ...money }]);
    expect((await refund(transactionId, 'other')).body).toEqual(reply.body);
    expect(await statusesOf(id)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
    expect((await reportOf(renterId)).status).toBe(402);
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ succeeded: 1, refunded: FEE });
    expect(await processor.calls(`${transactionId}:refund`)).toMatchObject({ received: 1, executed: 1 });
    expect((await payAtCheckout(renterId)).transactionId).not.toBe(transactionId);
    expect(await statusesOf(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    expect((await reportOf(renterId)).status).toBe(200);
    await until('the account has the webhook', async () => told('payment.succeeded', id).length === 2);
    expect(told('payment.refunded', id).map(({ data }) => data)).toEqual([
      {
        session_id: id,
        transaction_id: transactionId,
        amount_cents: FEE,
        currency: 'usd',
        reason_code: 'requested_by_consumer',
      },
    ]);
    expect((await service.ops('timeline', id)).stdout).toContain('PaymentRefundRequested');
  });

  it('404 PAYMENT_NOT_FOUND, with one reply for another account and for a malformed id', async () => {
    const { transactionId } = await renterWhoPaid();
    const replies = [
      await refund(transactionId, 'other', 'unrelated'),
      await refund(`txn_${checkoutPaymentId(transactionId)}`),
      await refund(`${transactionId}0`),
      await refund(transactionId.replace('chk_', 'txn_')),
    ];
    for (const reply of replies) expect(refused(reply)).toEqual([404, 'PAYMENT_NOT_FOUND']);
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ refunded: 0 });
  });

  it('409 after the release of the report of one of its sessions; an operator can refund it, and nothing stays locked', async () => {
    const { renterId, id, transactionId } = await renterWhoPaid();
    expect((await reportOf(renterId)).status).toBe(200);
    expect((await direct.register('renters', renterId)).status).toBe(200);
    expect(refused(await refund(transactionId))).toEqual([409, 'REPORT_ALREADY_RELEASED']);
    const { exitCode, stdout } = await service.ops('payments', 'refund', transactionId, '--reason', 'goodwill');
    const { session: newer, ...shown } = JSON.parse(stdout);
    const requested = { transaction: transactionId, refund: 'requested', reasonCode: 'other' };
    expect([exitCode, shown, newer === id]).toEqual([0, requested, false]);
    await service.passDays(MINUTE);
    await until('it is refunded', async () => (await statusesOf(newer))[0] === 'REFUNDED');
    expect(await processor.money({ transaction: transactionId })).toMatchObject({ refunded: FEE });
    expect(await statusesOf(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    expect((await onServer(`/reports/${id}`)).status).toBe(200);
    expect((await page(renterId)).status).toBe(200);
  });

  it('no longer counts for any of its sessions after its refund, so each of them is unpaid', async () => {
    const { renterId, id, transactionId } = await renterWhoPaid();
    expect((await direct.register('renters', renterId)).status).toBe(200);
    const { status, body } = await refund(transactionId);
    expect([status, body.status, body.session_id === id]).toEqual([200, 'REFUNDED', false]);
    for (const session of [id, body.session_id]) {
      expect(await statusesOf(session)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
      expect(refused(await onServer(`/reports/${session}`))).toEqual([402, 'PAYMENT_REQUIRED']);
    }
  });

  it('is recorded as refunded when the processor refunds it on its own; no webhook is sent, and the report stays open', async () => {
    const { renterId, id, transactionId, intent } = await renterWhoPaid();
    await processor.refund(intent);
    await until('it is recorded', async () => (await types(checkoutStream(transactionId))).includes('PaymentRefunded'));
    expect(await statusesOf(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    expect((await reportOf(renterId)).status).toBe(200);
    expect(told('payment.refunded', id)).toEqual([]);
    // The refunded payment does not count for a newer session, so the renter may pay for that session.
    await direct.registered('renters', renterId);
    await until('the renter may pay', async () => (await page(renterId)).status === 200);
  });
});

describe('a refund that the bank returns', () => {
  const alarms = async (): Promise<number> => {
    const { text } = await service.request('GET', '/metrics');
    return Number(/^payment_refunds_reversed_total\{environment="test"\} (\d+)/m.exec(text)?.[1] ?? 0);
  };

  it.each([
    [
      'a payment intent',
      async () => {
        const { id, transactionId, secret } = await paidFor();
        return { id, transactionId, intent: intentIn(secret), stream: paymentStream(transactionId) };
      },
    ],
    [
      'a hosted checkout',
      async () => {
        const paid = await renterWhoPaid();
        return { ...paid, stream: checkoutStream(paid.transactionId) };
      },
    ],
  ])('of %s raises one alarm: an event, a metric and a log line', async (_of, paid) => {
    const { id, transactionId, intent, stream } = await paid();
    expect((await refund(transactionId)).body.status).toBe('REFUNDED');
    const before = await alarms();
    await processor.control('refunds/fail', { intent });
    await until('it is noticed', async () => (await alarms()) > before);
    await processor.settled(intent);
    expect(await alarms()).toBe(before + 1);
    expect((await types(stream)).slice(-2)).toEqual(['PaymentRefunded', 'PaymentRefundReversed']);
    expect(service.program.output).toContain('a refund came back to the processor');
    expect(service.program.output).toContain(stream.slice('payment-'.length));
    expect(await statusesOf(id)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
    expect(await processor.calls(`${transactionId}:refund`)).toMatchObject({ executed: 1 });
  });
});

describe('a payment whose report the bureau refuses', () => {
  it('is refunded automatically after the number of days that the account sets, has an event, and may be paid again', async () => {
    const { id, transactionId } = await paidFor({ lastName: 'Frozentest' });
    expect(refused(await demo.get(`/reports/${id}`))).toEqual([422, 'REPORT_FILE_FROZEN']);
    await until('the refund is planned', async () =>
      (await types(paymentStream(transactionId))).includes('PaymentRefundPlanned'),
    );
    const frozen = await renterWhoPaid({ lastName: 'Frozentest' });
    expect((await reportOf(frozen.renterId)).status).not.toBe(200);
    const lockedOut = await renterWhoPaid({ lastName: 'Lockedtest' });
    expect((await direct.post(`/renters/${lockedOut.renterId}/otp`, { code: '000000' })).status).toBe(423);
    for (const renter of [frozen, lockedOut])
      await until('the refund at the checkout is planned', async () =>
        (await types(checkoutStream(renter.transactionId))).includes('PaymentRefundPlanned'),
      );
    await service.passDays(13);
    demo = await service.signIn('demo');
    expect(await statuses(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    await service.passDays(1);
    demo = await service.signIn('demo');
    for (const stream of [
      paymentStream(transactionId),
      ...[frozen, lockedOut].map((renter) => checkoutStream(renter.transactionId)),
    ])
      await until('the refund is requested', async () => (await types(stream)).includes('PaymentRefundRequested'));
    await service.passDays(MINUTE);
    await until('it is refunded', async () => (await statuses(id))[0] === 'REFUNDED');
    expect(await statuses(id)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
    await until('the account has the webhook', async () => told('payment.refunded', id).length === 1);
    const { transactionId: second } = await pay(id);
    expect(second).not.toBe(transactionId);
    expect(await statuses(id)).toEqual(['SUCCEEDED', 'COMPLETED']);
    for (const renter of [frozen, lockedOut])
      await until('it is refunded', async () => (await statusesOf(renter.id))[0] === 'REFUNDED');
    expect(await statusesOf(frozen.id)).toEqual(['REFUNDED', 'PAYMENT_PENDING']);
    const [given] = (await shownEvents(service, checkoutStream(frozen.transactionId))).slice(-1);
    expect(given?.data).toEqual({ refundedCents: FEE, reasonCode: 'report_unavailable' });
    await until('the renter may pay again', async () => (await page(frozen.renterId)).status === 200);
  });
});
