// The whole journey of a consumer who pays: verify, pay, read the report, share it, revoke the share.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Service, type PlatformCaller } from '../support/service.js';
import { until } from '../support/eventually.js';

const FEE = 3_500;
let service: Service;
let consumer: PlatformCaller;

beforeAll(async () => {
  service = await Service.shared('plain');
  consumer = await service.signIn('demo');
});
afterAll(() => service?.stop());

/** Acts as the processor's library in the consumer's browser. */
async function confirmCard(clientSecret: string, paymentMethod: string): Promise<number> {
  const intent = clientSecret.slice(0, clientSecret.indexOf('_secret_'));
  const reply = await fetch(`${service.sandboxUrl}/v1/payment_intents/${intent}/confirm`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_secret: clientSecret, payment_method: paymentMethod }),
  });
  await reply.text();
  return reply.status;
}

async function verified(): Promise<string> {
  const reply = await consumer.submit();
  expect([reply.status, reply.body.status]).toEqual([200, 'VERIFIED']);
  return reply.body.id;
}

describe('a consumer who pays', () => {
  it('sees a decline, pays, reads the report, shares it and revokes the share', async () => {
    const id = await verified();
    expect((await consumer.status(id)).body).toMatchObject({
      overallStatus: 'PAYMENT_PENDING',
      paymentStatus: 'PENDING',
    });
    expect((await consumer.get(`/reports/${id}`)).body.error).toMatchObject({ code: 'PAYMENT_REQUIRED' });

    const intent = await consumer.post('/payments/create-intent', {
      amount: FEE,
      applicationFee: 500,
      screeningId: id,
    });
    expect(intent).toMatchObject({
      status: 200,
      body: { transaction_id: expect.stringMatching(/^txn_/), amount: FEE, currency: 'usd' },
    });
    const { transaction_id: transactionId, client_secret: secret } = intent.body;

    expect(await confirmCard(secret, 'pm_card_chargeDeclined')).toBe(402);
    expect((await consumer.post(`/payments/${transactionId}/confirm`)).body).toMatchObject({ status: 'FAILED' });
    expect((await consumer.status(id)).body).toMatchObject({
      overallStatus: 'PAYMENT_FAILED',
      paymentStatus: 'FAILED',
    });

    expect(await confirmCard(secret, 'pm_card_visa')).toBe(200);
    await until(
      'the processor has reported the payment',
      async () => (await consumer.status(id)).body.overallStatus === 'COMPLETED',
    );
    expect((await consumer.post(`/payments/${transactionId}/confirm`)).body).toEqual({
      transaction_id: transactionId,
      status: 'SUCCEEDED',
      amount: FEE,
      currency: 'usd',
    });

    const report = await consumer.get(`/reports/${id}`);
    expect(report).toMatchObject({ status: 200, body: { sessionId: id, score: { min: 300, max: 850 } } });
    const page = await consumer.get(`/reports/${id}`, { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain(String(report.body.score.value));

    const recipient = await service.signIn('child');
    const { accountId } = (await service.credentials()).accounts.child;
    expect((await recipient.get(`/reports/${id}`)).body.error.code).toBe('REPORT_SHARING_NOT_FOUND');
    const shared = await consumer.post(`/reports/${id}/consent-to-share`, { recipientAccountId: accountId });
    expect(shared).toMatchObject({
      status: 200,
      body: { reportId: report.body.id, recipientAccountId: accountId, status: 'SHARED' },
    });
    expect((await recipient.get(`/reports/${id}`)).body.report).toEqual(report.body.report);

    expect((await consumer.post(`/reports/${id}/revoke-sharing`, { recipientAccountId: accountId })).status).toBe(200);
    expect((await recipient.get(`/reports/${id}`)).body.error.code).toBe('REPORT_SHARING_REVOKED');
    expect(
      (await consumer.post(`/reports/${id}/consent-to-share`, { recipientAccountId: accountId })).body.error.code,
    ).toBe('REPORT_SHARING_ALREADY_REVOKED');
  });

  it('pays in two tabs at once and is charged once', async () => {
    const id = await verified();
    const body = { amount: FEE, screeningId: id };
    const tabs = await Promise.all(Array.from({ length: 4 }, () => consumer.post('/payments/create-intent', body)));
    expect(tabs.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(tabs.map(({ body: one }) => `${one.transaction_id} ${one.client_secret}`)).size).toBe(1);
    await Promise.all(tabs.map(({ body: one }) => confirmCard(one.client_secret, 'pm_card_visa')));
    const { transaction_id: transactionId } = tabs[0]?.body;
    const confirmed = await Promise.all(tabs.map(() => consumer.post(`/payments/${transactionId}/confirm`)));
    expect(confirmed.map((one) => one.body.status)).toEqual(Array(4).fill('SUCCEEDED'));
    expect((await consumer.status(id)).body.overallStatus).toBe('COMPLETED');
    expect((await consumer.post('/payments/create-intent', body)).body.error.code).toBe('PAYMENT_ALREADY_COMPLETED');
  });

  it('continues the same payment after the page was closed, even with another amount', async () => {
    const id = await verified();
    const first = await consumer.post('/payments/create-intent', { amount: FEE, screeningId: id });
    const again = await consumer.post('/payments/create-intent', { amount: FEE, screeningId: id });
    expect(again.body).toEqual(first.body);
    const more = await consumer.post('/payments/create-intent', { amount: FEE + 500, screeningId: id });
    expect(more.body).toEqual({ ...first.body, amount: FEE + 500 });
  });
});
