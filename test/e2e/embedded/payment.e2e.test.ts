// Payment in the embedded component, with the processor's browser library from the sandbox: its card fields, declined
// cards and the authentication step (docs/sandbox.md#the-payment-processor).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { FrameLocator, Locator } from 'playwright-core';
import { FRAME } from '../../../web/frame/texts.js';
import { ONE_PROCESS } from '../../support/browsers.js';
import { Embedding, type HostPage } from '../../support/embedding.js';
import { until } from '../../support/eventually.js';
import { intentIn, Processor } from '../../support/processor.js';
import type { PlatformCaller } from '../../support/service.js';

const FEE = 3_500;
const CARDS = {
  good: '4242424242424242',
  declined: '4000000000000002',
  poor: '4000000000009995',
  authenticated: '4000002500003155',
  slow: '4000000000007775',
} as const;

let embedding: Embedding;
let processor: Processor;
let demo: PlatformCaller;
let host: HostPage;

beforeAll(async () => {
  embedding = await Embedding.start({}, { isolation: ONE_PROCESS });
  processor = new Processor(embedding.service.sandboxUrl);
  demo = await embedding.service.signIn('demo');
});
afterAll(() => embedding?.stop());
afterEach(async () => host?.close());

async function verified(): Promise<string> {
  const { body } = await demo.submit();
  expect(body.status).toBe('VERIFIED');
  return body.id;
}

/** Opens the payment step of a verified person. */
async function atPayment(options: Record<string, unknown> = {}, init: Record<string, unknown> = {}): Promise<string> {
  const screeningId = await verified();
  host = await embedding.open();
  await host.mount({ options: { screeningId, ...options }, init });
  return screeningId;
}

/** The card fields, which the processor shows in a frame of its own. */
const fields = (): FrameLocator => host.frame.frameLocator('iframe[src*="payment-element"]');
const payButton = (name = 'Pay $35.00'): Locator => host.frame.getByRole('button', { name });

async function typeCard(number: string): Promise<void> {
  await payButton().waitFor();
  await fields().getByLabel('Card number').fill(number);
  await fields().getByLabel('Expiration date').fill('12 / 39');
  await fields().getByLabel('Security code').fill('123');
  await fields().getByLabel('ZIP code').fill('78701');
}

async function pay(number: string): Promise<void> {
  await typeCard(number);
  await host.press(payButton());
}

async function transactionOf(screeningId: string): Promise<string> {
  return (await demo.status(screeningId)).body.transactionId;
}

/** The callbacks about the steps and about the payment. */
async function toldSteps(): Promise<[string, unknown][]> {
  return (await host.told()).filter(([name]) => name.startsWith('onStep') || name === 'onPaymentSuccess') as [
    string,
    unknown,
  ][];
}

describe('a consumer who pays in the component', () => {
  it('sees the price, pays by card and continues to the report; only the processor receives the card', async () => {
    const sessionId = await atPayment();
    expect(await host.hears('onStepStart')).toEqual({ step: 'payment' });
    await pay(CARDS.good);
    expect(await host.hears('onPaymentSuccess')).toEqual({
      sessionId,
      transactionId: await transactionOf(sessionId),
      amount: FEE,
      currency: 'usd',
    });
    await host.hears('onStepStart', 2);
    expect((await toldSteps()).slice(0, 4)).toEqual([
      ['onStepStart', { step: 'payment' }],
      ['onPaymentSuccess', expect.anything()],
      ['onStepComplete', { step: 'payment' }],
      ['onStepStart', { step: 'report' }],
    ]);
    expect(await host.hears('onChange')).toEqual({ step: 'payment', complete: expect.any(Boolean) });

    const withCard = host.requests.filter(({ url, body }) =>
      `${url} ${body ?? ''}`.replaceAll(/[\s+]|%20/g, '').includes(CARDS.good),
    );
    expect(new Set(withCard.map(({ url }) => new URL(url).origin))).toEqual(new Set([embedding.service.sandboxUrl]));
    expect(JSON.stringify([await host.told(), host.console])).not.toContain(CARDS.good);
  });

  it('sees what they pay for, and sees the application fee as a separate amount', async () => {
    await atPayment({ applicationFee: 500 });
    await payButton().waitFor();
    const lines = await host.frame.locator('.order').locator('dt, dd').allTextContents();
    expect(lines).toEqual([
      ...['Identity check, credit report, background', '$30.00'],
      ...['Application fee', '$5.00'],
      ...['Amount to pay', '$35.00'],
    ]);
    await host.frame.getByText('You will be charged once.').waitFor();
  });

  it('pays by pressing Enter in a card field', async () => {
    await atPayment();
    await typeCard(CARDS.good);
    await fields().getByLabel('ZIP code').press('Enter');
    await host.hears('onPaymentSuccess');
  });

  it('sees why the card was declined, and pays once with another card', async () => {
    const sessionId = await atPayment();
    await pay(CARDS.poor);
    const alert = host.frame.getByRole('alert');
    await alert.getByText('does not have enough funds').waitFor();
    await pay(CARDS.declined);
    await alert.getByText('Your bank declined the card').waitFor();
    await typeCard(CARDS.good);
    await payButton().dblclick();
    await host.hears('onPaymentSuccess');
    const { succeeded, received } = await processor.money({ transaction: await transactionOf(sessionId) });
    expect([succeeded, received]).toEqual([1, FEE]);
    expect((await host.told()).filter(([name]) => name === 'onError')).toEqual([]);
  });

  it('fails the authentication at the bank once, and passes it at the next try', async () => {
    await atPayment();
    const bank = host.frame.frameLocator('iframe[src*="authentication"]');
    await pay(CARDS.authenticated);
    await bank.getByRole('button', { name: 'Fail' }).click();
    await host.frame.getByRole('alert').getByText('could not confirm that it is you').waitFor();
    await pay(CARDS.authenticated);
    await bank.getByRole('button', { name: 'Complete' }).click();
    await host.hears('onPaymentSuccess');
  });

  it('sees the wait while the processor decides about the payment', async () => {
    await atPayment();
    await pay(CARDS.slow);
    await host.frame.getByText('Your payment is being processed.', { exact: true }).first().waitFor();
    expect(await host.hears('onPaymentSuccess')).toMatchObject({ amount: FEE });
  });

  it('continues the same payment after a reload, even when the payment waits for the bank', async () => {
    const screeningId = await atPayment();
    await pay(CARDS.authenticated);
    await host.frame.frameLocator('iframe[src*="authentication"]').getByRole('button', { name: 'Fail' }).waitFor();
    const before = await transactionOf(screeningId);
    await host.page.reload();
    await host.mount({ options: { screeningId } });
    await pay(CARDS.good);
    expect(await host.hears('onPaymentSuccess')).toMatchObject({ sessionId: screeningId, transactionId: before });
  });

  it('sees that an earlier payment was refunded, and pays again', async () => {
    const screeningId = await verified();
    const { body: first } = await demo.post('/payments/create-intent', { amount: FEE, screeningId });
    await processor.confirm(first.client_secret, 'pm_card_visa');
    await demo.post(`/payments/${first.transaction_id}/confirm`);
    const { secretKey } = (await embedding.service.credentials()).accounts.demo;
    const refund = await embedding.service.request('POST', `/v1/payments/${first.transaction_id}/refund`, {
      headers: { 'x-secret-key': secretKey },
      body: { reason: 'report_unavailable' },
    });
    expect(refund.body.status).toBe('REFUNDED');
    host = await embedding.open();
    await host.mount({ options: { screeningId } });
    await host.frame.getByText('We gave your earlier payment back to you on').waitFor();
    await pay(CARDS.good);
    const { transactionId } = (await host.hears('onPaymentSuccess')) as { readonly transactionId: string };
    expect(transactionId).not.toBe(first.transaction_id);
    expect((await demo.status(screeningId)).body).toMatchObject({
      paymentStatus: 'SUCCEEDED',
      overallStatus: 'COMPLETED',
    });
  });

  it('is not charged again when another tab has paid and the service has not learned of that payment', async () => {
    const screeningId = await verified();
    const { body } = await demo.post('/payments/create-intent', { amount: FEE, screeningId });
    await processor.control('delivery', { drop: 10 });
    await processor.confirm(body.client_secret, 'pm_card_visa');
    host = await embedding.open();
    await host.mount({ options: { screeningId } });
    expect(await host.hears('onPaymentSuccess')).toMatchObject({ transactionId: body.transaction_id, amount: FEE });
    expect(await processor.money({ intent: intentIn(body.client_secret) })).toMatchObject({ succeeded: 1 });
    await processor.control('delivery', { drop: 0 });
  });

  it('pays no application fee when the page sets one above the price, and the page receives a warning', async () => {
    await atPayment({ applicationFee: FEE + 1 });
    expect(await host.hears('onWarning')).toEqual({ code: 'INVALID_APPLICATION_FEE', message: expect.any(String) });
    await pay(CARDS.good);
    await host.hears('onPaymentSuccess');
  });

  it("tries again when the processor's library cannot be loaded", async () => {
    const screeningId = await verified();
    host = await embedding.open();
    await host.page.route('**/browser/processor.js', (route) => route.abort());
    await host.mount({ options: { screeningId } });
    expect(await host.hears('onError')).toEqual({
      code: 'COMPONENT_RENDER_FAILED',
      message: expect.any(String),
      recoverable: true,
    });
    await host.page.unroute('**/browser/processor.js');
    await host.press(host.frame.getByRole('button', { name: 'Try again' }));
    await pay(CARDS.good);
    await host.hears('onPaymentSuccess');
  });

  it("continues when the card was charged, although the processor's library never reports the payment", async () => {
    const screeningId = await verified();
    host = await embedding.open();
    await host.page.addInitScript(() => {
      const frame = globalThis as any;
      const { setTimeout } = frame;
      frame.setTimeout = (run: (value: unknown) => void, ms: number, value: unknown) =>
        ms === 600_000 ? (frame.passLimit = () => run(value)) : setTimeout(run, ms, value);
    });
    await host.page.route('**/browser/processor.js', async (route) => {
      const reply = await route.fetch();
      const silent = `{ const real = Stripe; Object.defineProperty(globalThis, 'Stripe', { value: (key) => {
        const stripe = real(key);
        const confirmPayment = (options) => stripe.confirmPayment(options).then(() => new Promise(() => undefined));
        return { elements: (options) => stripe.elements(options), confirmPayment };
      } }); }`;
      await route.fulfill({ response: reply, body: `${await reply.text()};${silent}` });
    });
    await host.mount({ options: { screeningId } });
    await pay(CARDS.good);
    await until('the card is charged', async () => {
      const transaction = await transactionOf(screeningId);
      return (await processor.money({ transaction })).succeeded === 1;
    });
    expect((await toldSteps()).map(([name]) => name)).toEqual(['onStepStart']);
    await host.frame.locator('html').evaluate(() => (globalThis as any).passLimit());
    expect(await host.hears('onPaymentSuccess')).toMatchObject({ sessionId: screeningId, amount: FEE });
  });

  it('sees the step again after a rendering error', async () => {
    const screeningId = await verified();
    host = await embedding.open();
    await host.page.addInitScript(() => {
      const { Intl } = globalThis as any;
      const { NumberFormat } = Intl;
      // Formatting the price fails once.
      Intl.NumberFormat = function (...options: unknown[]) {
        Intl.NumberFormat = NumberFormat;
        if (options.length > 0) throw new RangeError('no such currency');
      };
    });
    await host.mount({ options: { screeningId } });
    expect(await host.hears('onError')).toEqual({
      code: 'COMPONENT_RENDER_FAILED',
      message: expect.any(String),
      recoverable: true,
    });
    await host.frame.getByRole('heading', { name: FRAME.en.crashed }).waitFor();
    await host.press(host.frame.getByRole('button', { name: 'Try again' }));
    await pay(CARDS.good);
    await host.hears('onPaymentSuccess');
    expect((await host.told()).filter(([name]) => name === 'onError')).toHaveLength(1);
  });

  it('reads the whole step in Spanish', async () => {
    await atPayment({}, { locale: 'es' });
    await payButton('Pagar $35.00').waitFor();
    await fields().getByLabel('Número de tarjeta').fill(CARDS.declined);
    await fields().getByLabel('Fecha de vencimiento').fill('12 / 39');
    await fields().getByLabel('Código de seguridad').fill('123');
    await fields().getByLabel('Código postal').fill('78701');
    await host.press(payButton('Pagar $35.00'));
    await host.frame.getByRole('alert').getByText('Su banco rechazó la tarjeta').waitFor();
  });
});
