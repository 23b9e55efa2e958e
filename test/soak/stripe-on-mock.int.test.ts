// The processor's own mock checks the requests of the Stripe adapter against the API's schema. The public mock knows an older version of
// the API than the SDK names.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { StripePaymentProcessor } from '../../src/vendors/stripe/payment.js';
import type { Charge, CheckoutPage } from '../../src/ports/payment-processor.js';
import { vendorCall } from '../../src/ports/vendor-call.js';
import { describeForeign, ForeignServer } from '../support/foreign.js';
import { freePort } from '../support/redis.js';

/** A field that the public mock does not know yet. */
const NEWER = 'allowed_payment_method_types';
const PAGE: CheckoutPage = {
  reference: 'chk_1',
  sessionId: 'session',
  successUrl: 'https://example.com/paid?id={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://example.com/back',
  description: 'A screening',
  email: 'renter@example.com',
  notes: { property: 'p1' },
};

interface Judged {
  readonly asked: string;
  readonly status: number;
  readonly answer: string;
}

describeForeign('stripe-mock', "the Stripe adapter before the processor's mock", (program) => {
  let mock: ForeignServer;
  let between: Server;
  let processor: StripePaymentProcessor;
  const judged: Judged[] = [];
  let without: string | null = null;

  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    mock = await ForeignServer.start(program, ['-http-addr', `127.0.0.1:${port}`], url);
    between = createServer((request, response) => {
      void (async () => {
        const fields = [...new URLSearchParams(await text(request))].filter(
          ([name]) => without === null || !name.startsWith(without),
        );
        const headers = new Headers();
        for (const [name, value] of Object.entries(request.headers))
          if (!['host', 'connection', 'content-length'].includes(name)) headers.set(name, String(value));
        const { method = '' } = request;
        const answer = await fetch(`${url}${request.url}`, {
          method,
          headers,
          body: method === 'POST' ? new URLSearchParams(fields).toString() : null,
        });
        const body = await answer.text();
        judged.push({ asked: `${method} ${request.url}`, status: answer.status, answer: body });
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
      })();
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    const baseUrl = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
    processor = new StripePaymentProcessor({ secretKey: 'sk_test_123', baseUrl, timeoutMs: 10_000 });
  });
  afterAll(async () => {
    await processor?.close();
    between?.closeAllConnections();
    between?.close();
    await mock?.stop();
  });
  beforeEach(() => {
    judged.length = 0;
    without = null;
  });

  let calls = 0;
  const call = () =>
    vendorCall({
      id: 'session',
      attemptId: `attempt-${calls++}`,
      subject: null,
      context: { correlationId: 'c', environment: 'test', accountId: null },
    });
  const taken = (asked: string): void =>
    expect(judged.map((one) => [one.asked, one.status, one.status === 200 ? '' : one.answer])).toEqual([
      [asked, 200, ''],
    ]);
  const charge = (connectedAccount: string | null, applicationFeeCents: number): Charge => ({
    amountCents: 3_900,
    currency: 'usd',
    connectedAccount,
    applicationFeeCents,
  });

  describe.each([
    ['the platform', charge(null, 500)],
    ['a connected account', charge('acct_1', 500)],
    ['a connected account, without a fee', charge('acct_1', 0)],
  ])('for %s', (_, money) => {
    it('the request that creates and changes an intent is accepted', async () => {
      await processor.createIntent(call(), money, { transactionId: 'txn_1', sessionId: 'session' });
      taken('POST /v1/payment_intents');
      judged.length = 0;
      await processor.changeIntent(call(), 'pi_1', money);
      taken('POST /v1/payment_intents/pi_1');
    });

    it(`the request that creates a checkout without ${NEWER}, which this mock does not know, is accepted`, async () => {
      await processor.createCheckout(call(), money, PAGE);
      expect(judged.map(({ status }) => status)).toEqual([400]);
      expect(judged[0]?.answer).toContain('additional properties are not allowed');
      judged.length = 0;
      without = NEWER;
      await processor.createCheckout(call(), money, PAGE);
      taken('POST /v1/checkout/sessions');
    });
  });

  it('the requests that retrieve an intent and a checkout, and that expire a checkout, are accepted', async () => {
    await processor.retrieveIntent(call(), 'pi_1');
    await processor.retrieveCheckout(call(), 'cs_1');
    await processor.expireCheckout(call(), 'cs_1');
    expect(judged.map(({ asked, status }) => [asked.replace(/\?.*/, ''), status])).toEqual([
      ['GET /v1/payment_intents/pi_1', 200],
      ['GET /v1/checkout/sessions/cs_1', 200],
      ['POST /v1/checkout/sessions/cs_1/expire', 200],
    ]);
  });
});
