// How the processor's refunds are read (docs/contract/server.md#refunds).
import { describe, expect, it } from '@jest/globals';
import type Stripe from 'stripe';
import { readIntent, readParts } from '../../../src/vendors/stripe/payment-wire.js';

const answer = (fields: object): Stripe.Response<Stripe.PaymentIntent> =>
  ({
    id: 'pi_1',
    object: 'payment_intent',
    status: 'succeeded',
    amount: 3_500,
    amount_received: 3_500,
    currency: 'usd',
    client_secret: 'pi_1_secret_1',
    metadata: {},
    last_payment_error: null,
    lastResponse: { statusCode: 200 },
    ...fields,
  }) as unknown as Stripe.Response<Stripe.PaymentIntent>;

describe('the refunded amount of an intent', () => {
  const refund = (status: string, amount: number) => ({ object: 'refund', status, amount });
  const read = (amountRefunded: number, refunds?: object): unknown =>
    readIntent(
      answer({ latest_charge: { status: 'succeeded', amount_refunded: amountRefunded, ...(refunds && { refunds }) } }),
      () => true,
    );
  const list = (data: object[], more = false) => ({ object: 'list', data, has_more: more });

  // The sum of the charge may or may not include a failed refund.
  it.each([
    ['made', 3_500, list([refund('succeeded', 3_500)]), 3_500],
    ['on its way', 3_500, list([refund('pending', 3_500)]), 3_500],
    ['failed, and the charge counts it', 3_500, list([refund('failed', 3_500)]), 0],
    ['failed, and the charge leaves it out', 0, list([refund('failed', 3_500)]), 0],
    ['failed, and made again', 3_500, list([refund('succeeded', 3_500), refund('failed', 3_500)]), 3_500],
    ['canceled in part', 3_500, list([refund('canceled', 500), refund('succeeded', 3_000)]), 3_000],
    ['one of more than are listed', 3_500, list([refund('failed', 500)], true), 3_500],
    ['not listed', 3_500, undefined, 3_500],
  ])('is correct when a refund is %s', (_which, sum, refunds, refundedCents) => {
    expect(read(sum, refunds)).toMatchObject({ kind: 'intent', intent: { refundedCents } });
  });
});

describe("the parts of an intent's money", () => {
  it.each([
    ['of the platform', {}, {}],
    ['with a fee that is only noted', { application_fee_amount: 100 }, {}],
    ['of a connected account', { transfer_data: { destination: 'acct_1' } }, { reverse_transfer: true }],
    [
      'of a connected account with a fee',
      { transfer_data: { destination: 'acct_1' }, application_fee_amount: 100 },
      { reverse_transfer: true, refund_application_fee: true },
    ],
  ])('are reversed by the refund of one %s', (_whose, fields, parts) => {
    expect(readParts(answer(fields), 'pi_1')).toEqual({
      kind: 'parts',
      parameters: { payment_intent: 'pi_1', ...parts },
    });
  });

  it.each([
    { id: 'pi_2' },
    { object: 'charge' },
    { application_fee_amount: '100' },
    { lastResponse: { statusCode: 201 } },
  ])('cannot be read from %j', (fields) => {
    expect(readParts(answer(fields), 'pi_1')).toEqual({ kind: 'unintelligible' });
  });
});
