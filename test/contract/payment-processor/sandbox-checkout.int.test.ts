// The hosted checkout of the sandbox's processor: its sessions on the wire, and its page as a consumer uses it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { ProcessorUnderTest, SECRET_KEY, type WireReply } from './harness.js';

let sandbox: ProcessorUnderTest;
let stripe: Stripe;

beforeAll(async () => {
  sandbox = await ProcessorUnderTest.start();
  stripe = sdk();
});

afterAll(() => sandbox.stop());

function sdk(): Stripe {
  const { hostname, port } = new URL(sandbox.url);
  return new Stripe(SECRET_KEY, { host: hostname, port, protocol: 'http', telemetry: false });
}

function wanted(more: Partial<Stripe.Checkout.SessionCreateParams> = {}): Stripe.Checkout.SessionCreateParams {
  return {
    mode: 'payment',
    line_items: [
      { price_data: { currency: 'usd', unit_amount: 2_500, product_data: { name: '<b>Screening</b>' } }, quantity: 1 },
    ],
    success_url: 'http://localhost:5173/done?session={CHECKOUT_SESSION_ID}',
    cancel_url: 'http://localhost:5173/canceled',
    client_reference_id: 'ref-1',
    customer_email: 'jo@example.test',
    metadata: { renter_id: 'r-1' },
    payment_intent_data: { metadata: { transaction_id: 'txn_checkout' } },
    ...more,
  };
}

const page = (path: string): Promise<WireReply> => sandbox.get(path, {});
const press = (id: string, button: Record<string, string>, action = 'pay'): Promise<WireReply> =>
  sandbox.post(`/checkout/${id}/${action}`, button, {});
const journal = (): Promise<string> => readFile(join(sandbox.folder, 'processor.jsonl'), 'utf8');
const PAY = { payment_method: 'pm_card_visa' };

describe('a checkout session', () => {
  it('is open for a day, has an address, and has no intent yet', async () => {
    const session = await stripe.checkout.sessions.create(wanted());
    expect(session).toMatchObject({
      id: expect.stringMatching(/^cs_test_/),
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      amount_total: 2_500,
      currency: 'usd',
      url: `${sandbox.url}/checkout/${session.id}`,
      client_reference_id: 'ref-1',
      metadata: { renter_id: 'r-1' },
      // The processor accepts this value, but does not store it.
      customer_email: null,
    });
    expect(session.expires_at - session.created).toBe(86_400);
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({ id: session.id, status: 'open' });
  });

  it.each([
    [
      'less than the minimum',
      wanted({
        line_items: [{ price_data: { currency: 'usd', unit_amount: 24, product_data: { name: 'x' } }, quantity: 2 }],
      }),
      'line_items',
    ],
    ['nothing to pay', wanted({ line_items: [] }), 'line_items'],
    ['no success address', wanted({ success_url: '' }), 'success_url'],
    ['an invalid address', wanted({ cancel_url: 'javascript:alert(1)' }), 'cancel_url'],
    [
      'a fee above the amount',
      wanted({ payment_intent_data: { application_fee_amount: 2_501, transfer_data: { destination: 'acct_1' } } }),
      'application_fee_amount',
    ],
    ['an expiry in a minute', wanted({ expires_at: Math.floor(Date.now() / 1_000) + 60 }), 'expires_at'],
    ['a subscription', wanted({ mode: 'subscription' }), 'mode'],
  ])('is refused: %s', async (_name, parameters, param) => {
    await expect(stripe.checkout.sessions.create(parameters)).rejects.toMatchObject({ statusCode: 400, param });
  });

  it('is not found when it is unknown: 404', async () => {
    await expect(stripe.checkout.sessions.retrieve('cs_test_1')).rejects.toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
    expect((await page('/checkout/cs_test_1')).status).toBe(404);
  });

  it('expires on demand, and then accepts no payment', async () => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    expect(await stripe.checkout.sessions.expire(id)).toMatchObject({ status: 'expired', url: null });
    await expect(stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 });
    expect((await press(id, PAY)).status).toBe(400);
    await sandbox.receiver.until(() =>
      sandbox.receiver.received.some(
        ({ event }) => event.type === 'checkout.session.expired' && event.data.object.id === id,
      ),
    );
  });
});

describe('the checkout page', () => {
  it("shows the payment's subject as plain text", async () => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    const { status, headers, text } = await page(`/checkout/${id}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('$25.00');
    expect(text).toContain('&#60;b&#62;Screening&#60;/b&#62;');
    expect(text).not.toContain('<b>');
  });

  it('pays once, sends events, and returns to the merchant with the session id', async () => {
    const transaction = `txn_${Date.now()}`;
    const { id } = await stripe.checkout.sessions.create(
      wanted({
        payment_intent_data: {
          application_fee_amount: 300,
          transfer_data: { destination: 'acct_1' },
          metadata: { transaction_id: transaction },
        },
      }),
    );
    for (let time = 0; time < 2; time += 1) {
      const { status, headers } = await press(id, PAY);
      expect([status, headers.get('location')]).toEqual([303, `http://localhost:5173/done?session=${id}`]);
    }
    const session = await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent'] });
    expect(session).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      url: null,
      payment_intent: { object: 'payment_intent', status: 'succeeded', metadata: { transaction_id: transaction } },
    });
    expect(await sandbox.control(`charges?transaction=${transaction}`)).toMatchObject({
      succeeded: 1,
      received: 2_500,
      charges: [{ destination: 'acct_1', applicationFee: 300 }],
    });
    await sandbox.receiver.until(() =>
      sandbox.receiver.received.some(
        ({ event }) => event.type === 'checkout.session.completed' && event.data.object.id === id,
      ),
    );
    const intentId = (session.payment_intent as Stripe.PaymentIntent).id;
    expect(sandbox.receiver.types(intentId).sort()).toEqual([
      'checkout.session.completed',
      'payment_intent.created',
      'payment_intent.succeeded',
    ]);
  });

  it('stays open after a decline, for another try on the same intent', async () => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    const declined = await press(id, { payment_method: 'pm_card_chargeDeclined' });
    expect(declined.status).toBe(402);
    expect(declined.text).toContain('Your card was declined.');
    const before = await stripe.checkout.sessions.retrieve(id);
    expect(before).toMatchObject({ status: 'open', payment_status: 'unpaid' });
    expect((await press(id, PAY)).status).toBe(303);
    expect((await stripe.checkout.sessions.retrieve(id)).payment_intent).toBe(before.payment_intent);
  });

  it.each([
    ['4242 4242 4242 4242', '12/34', '123', 303, null],
    ['4242424242424242', ' 1 / 2034 ', '1234', 303, null],
    ['4000-0000-0000-0002', '12/34', '123', 402, 'Your card was declined.'],
    ['4000 0000 0000 9995', '12/34', '123', 402, 'Your card was declined.'],
    ['4000 0000 0000 0069', '12/34', '123', 402, 'Your card was declined.'],
    ['4012 8888 8888 1881', '12/34', '123', 402, 'none of the test cards'],
    ['', '12/34', '123', 402, 'none of the test cards'],
    ['4242 4242 4242 4242', '12/24', '123', 402, 'in the past'],
    ['4242 4242 4242 4242', '13/34', '123', 402, 'date is incomplete'],
    ['4242 4242 4242 4242', '12/34', '12', 402, 'security code is incomplete'],
  ])('accepts a typed card: %j, %j, %j: %i', async (number, expiry, cvc, status, said) => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    const reply = await press(id, { number, expiry, cvc });
    expect(reply.status).toBe(status);
    if (said !== null) expect(reply.text).toContain(said.replaceAll("'", '&#39;'));
    // The typed text is neither on a later page nor in the journal.
    if (number.startsWith('4012')) expect(reply.text + (await journal())).not.toMatch(/8888\D?1881/);
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe(status === 303 ? 'complete' : 'open');
  });

  it('says that it is paid or no longer open, and then accepts no payment', async () => {
    const [paid, expired] = await Promise.all([1, 2].map(() => stripe.checkout.sessions.create(wanted())));
    await press(paid!.id, PAY);
    await stripe.checkout.sessions.expire(expired!.id);
    expect((await page(`/checkout/${paid!.id}`)).text).toContain('This is paid.');
    expect((await page(`/checkout/${expired!.id}`)).text).toContain('has expired or was replaced');
    const late = await press(expired!.id, { number: '4242424242424242', expiry: '12/34', cvc: '123' });
    expect([late.status, late.text]).toEqual([400, expect.stringContaining('Nothing was paid here.')]);
  });

  it.each([
    ['jpy', 3_500, '¥3,500'],
    ['kwd', 35_000, 'KWD 35.000'],
    ['isk', 350_000, 'ISK 3,500'],
  ])('shows the amount: %s', async (currency, unit_amount, shown) => {
    const { id } = await stripe.checkout.sessions.create(
      wanted({ line_items: [{ quantity: 1, price_data: { currency, unit_amount, product_data: { name: 'x' } } }] }),
    );
    expect((await page(`/checkout/${id}`)).text).toContain(`Pay ${shown.replace(' ', '\u00a0')}`);
  });

  it('works in a browser without scripts', async () => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    expect((await page(`/checkout/${id}`)).text).not.toMatch(/<script|javascript:| on[a-z]+=/i);
  });

  it('returns to the merchant when the consumer cancels, and the session stays open', async () => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    const { status, headers } = await press(id, {}, 'cancel');
    expect([status, headers.get('location')]).toEqual([303, 'http://localhost:5173/canceled']);
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('open');
  });

  it('survives a restart', async () => {
    const { id } = await stripe.checkout.sessions.create(wanted());
    await sandbox.restart();
    stripe = sdk();
    expect((await page(`/checkout/${id}`)).text).toContain('$25.00');
    expect((await press(id, PAY)).status).toBe(303);
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('complete');
  });
});
