// The contract of the payment processor's port. Every adapter must meet the contract, also through a proxy between
// adapter and processor.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  Charge,
  CheckoutPage,
  CheckoutSession,
  CheckoutVerdict,
  IntentVerdict,
  PaymentIntent,
  PaymentProcessor,
} from '../../../src/ports/payment-processor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';

/** The adapter, and the processor as its operator sees it. */
export interface PaymentProcessorHarness {
  open(options: { readonly timeoutMs: number }): Promise<PaymentProcessor>;
  /** Acts as the consumer's browser. Resolves with the HTTP status. */
  confirm(intent: PaymentIntent, paymentMethod: string): Promise<number>;
  authenticate(intent: PaymentIntent): Promise<number>;
  cancel(intentId: string): Promise<void>;
  /** Acts as the consumer on the hosted page. Resolves with the HTTP status. */
  pay(session: CheckoutSession, paymentMethod: string): Promise<number>;
  refund(intentId: string, amountCents: number): Promise<void>;
  /** Makes the bank return the newest refund. */
  failRefund(intentId: string): Promise<void>;
  /** Makes the processor refuse the next refund and keep the refusal under its key. */
  refuseNextRefund(): Promise<void>;
  /** Resolves when the processor has reported that the intent succeeded. */
  untilSucceeded(intentId: string): Promise<void>;
  /** Every intent of a transaction, as the processor stores it. */
  intentsOf(transactionId: string): Promise<
    readonly {
      id: string;
      amount: number;
      applicationFee: number | null;
      destination: string | null;
      metadata: Record<string, string>;
    }[]
  >;
  /** The refund of the successful charge of a transaction: its amount, and the returned parts of a destination charge. */
  refundOf(
    transactionId: string,
  ): Promise<{ readonly refunded: number; readonly takenBack?: { readonly transfer: boolean; readonly fee: boolean } }>;
  /** Successful charges of a transaction. */
  chargesOf(transactionId: string): Promise<number>;
  calls(attemptId: string): Promise<{ readonly received: number; readonly executed: number }>;
  loseNextAnswer(): Promise<void>;
  outage(seconds: number): Promise<void>;
  slow(ms: number): Promise<void>;
  close(): Promise<void>;
}

export function newCall(): VendorCall {
  return { attemptId: `attempt-${randomUUID()}`, correlationId: randomUUID(), environment: 'test', subject: null };
}

export function newNames(): { readonly transactionId: string; readonly sessionId: string } {
  return { transactionId: `txn_${randomUUID()}`, sessionId: randomUUID() };
}

export function aCharge(more: Partial<Charge> = {}): Charge {
  return { amountCents: 2_500, currency: 'usd', connectedAccount: null, applicationFeeCents: 300, ...more };
}

export function intentOf(verdict: IntentVerdict): PaymentIntent {
  if (verdict.kind !== 'intent') throw new Error(`expected an intent, got ${JSON.stringify(verdict)}`);
  return verdict.intent;
}

export function aPage(more: Partial<CheckoutPage> = {}): CheckoutPage {
  return {
    reference: `chk_${randomUUID()}_0`,
    sessionId: randomUUID(),
    successUrl: 'https://app.example.test/done?checkout={CHECKOUT_SESSION_ID}',
    cancelUrl: 'https://app.example.test/canceled',
    description: '1 Main St, Springfield IL 62701',
    email: 'jo@example.test',
    notes: { consumer_id: 'c-1' },
    ...more,
  };
}

export function sessionOf(verdict: CheckoutVerdict): CheckoutSession {
  if (verdict.kind !== 'checkout') throw new Error(`expected a checkout session, got ${JSON.stringify(verdict)}`);
  return verdict.session;
}

export function describePaymentProcessor(name: string, start: () => Promise<PaymentProcessorHarness>): void {
  describe(`the payment processor ${name}`, () => {
    let harness: PaymentProcessorHarness;
    let processor: PaymentProcessor;

    beforeAll(async () => {
      harness = await start();
      processor = await harness.open({ timeoutMs: 10_000 });
    });
    afterAll(() => harness.close());

    const create = async (charge = aCharge(), names = newNames()): Promise<PaymentIntent> =>
      intentOf(await processor.createIntent(newCall(), charge, names));
    const retrieve = async (id: string): Promise<PaymentIntent> =>
      intentOf(await processor.retrieveIntent(newCall(), id));

    describe('creating an intent', () => {
      it('returns an open intent that carries our names', async () => {
        const names = newNames();
        expect(await create(aCharge(), names)).toEqual({
          id: expect.stringMatching(/^pi_/),
          status: 'requires_payment_method',
          amountCents: 2_500,
          receivedCents: 0,
          refundedCents: 0,
          currency: 'usd',
          lastErrorCode: null,
          transactionId: names.transactionId,
          clientSecret: expect.stringMatching(/^pi_.*_secret_/),
        });
        const [kept] = await harness.intentsOf(names.transactionId);
        expect(kept?.metadata).toEqual({
          transaction_id: names.transactionId,
          session_id: names.sessionId,
          application_fee_cents: '300',
        });
      });

      it('records the fee without splitting the money when the platform keeps the whole amount', async () => {
        const names = newNames();
        await create(aCharge(), names);
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([
          { amount: 2_500, applicationFee: null, destination: null },
        ]);
      });

      it('is a charge to the connected account, with a fee, when an account is connected', async () => {
        const names = newNames();
        await create(aCharge({ connectedAccount: 'acct_1' }), names);
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([
          { amount: 2_500, applicationFee: 300, destination: 'acct_1' },
        ]);
      });

      it('leaves the whole amount to the connected account when the fee is missing', async () => {
        const names = newNames();
        await create(aCharge({ connectedAccount: 'acct_1', applicationFeeCents: 0 }), names);
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([
          { applicationFee: null, destination: 'acct_1' },
        ]);
      });

      it('returns the same intent to a repeated call, and creates only one intent', async () => {
        const [call, names] = [newCall(), newNames()];
        const first = intentOf(await processor.createIntent(call, aCharge(), names));
        expect(intentOf(await processor.createIntent(call, aCharge(), names))).toEqual(first);
        expect(await harness.intentsOf(names.transactionId)).toHaveLength(1);
        expect((await harness.calls(call.attemptId)).executed).toBe(1);
      });

      it('creates one intent when the same call is made twice at once', async () => {
        const [call, names] = [newCall(), newNames()];
        const verdicts = await Promise.all(
          Array.from({ length: 5 }, () => processor.createIntent(call, aCharge(), names)),
        );
        expect(new Set(verdicts.map((verdict) => intentOf(verdict).id)).size).toBe(1);
        expect(await harness.intentsOf(names.transactionId)).toHaveLength(1);
      });

      it('is refused when the key is used for another call', async () => {
        const [call, names] = [newCall(), newNames()];
        await processor.createIntent(call, aCharge(), names);
        expect(await processor.createIntent(call, aCharge({ amountCents: 9_900 }), names)).toEqual({
          kind: 'refused',
          code: 'idempotency_error',
        });
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([{ amount: 2_500 }]);
      });

      it.each([
        ['less than the minimum', aCharge({ amountCents: 49, applicationFeeCents: 0 }), 'amount_too_small', 'amount'],
        ['more than the maximum', aCharge({ amountCents: 100_000_000 }), 'amount_too_large', 'amount'],
        [
          'a fraction of a unit that is counted whole',
          aCharge({ amountCents: 2_550, currency: 'isk' }),
          'parameter_invalid_integer',
          'amount',
        ],
        [
          'a fee above the amount',
          aCharge({ connectedAccount: 'acct_1', applicationFeeCents: 2_501 }),
          'invalid_request_error',
        ],
        ['an unknown connected account', aCharge({ connectedAccount: 'acct_missing1' }), 'resource_missing'],
        ['an unknown currency', aCharge({ currency: 'xxz' }), 'invalid_request_error'],
      ])('is refused: %s', async (_name, charge, code, part = '') => {
        const names = newNames();
        expect(await processor.createIntent(newCall(), charge, names)).toEqual({
          kind: 'refused',
          code,
          ...(part !== '' && { part }),
        });
        expect(await harness.intentsOf(names.transactionId)).toEqual([]);
      });
    });

    describe('the state of an intent', () => {
      it('is succeeded after a card was charged', async () => {
        const intent = await create();
        expect(await harness.confirm(intent, 'pm_card_visa')).toBe(200);
        expect(await retrieve(intent.id)).toEqual({ ...intent, status: 'succeeded', receivedCents: 2_500 });
      });

      it('is open again after a decline, with the decline code, and may succeed later', async () => {
        const names = newNames();
        const intent = await create(aCharge(), names);
        expect(await harness.confirm(intent, 'pm_card_chargeDeclined')).toBe(402);
        expect(await retrieve(intent.id)).toEqual({
          ...intent,
          status: 'requires_payment_method',
          lastErrorCode: 'card_declined',
        });
        await harness.confirm(intent, 'pm_card_visa');
        expect(await retrieve(intent.id)).toMatchObject({ status: 'succeeded', lastErrorCode: null });
        expect(await harness.chargesOf(names.transactionId)).toBe(1);
      });

      it('waits for the consumer, and succeeds after the authentication', async () => {
        const intent = await create();
        await harness.confirm(intent, 'pm_card_authenticationRequired');
        expect(await retrieve(intent.id)).toMatchObject({ status: 'requires_action', receivedCents: 0 });
        await harness.authenticate(intent);
        expect(await retrieve(intent.id)).toMatchObject({ status: 'succeeded', receivedCents: 2_500 });
      });

      it('is processing while the bank takes long', async () => {
        const intent = await create();
        await harness.confirm(intent, 'pm_usBankAccount');
        expect(await retrieve(intent.id)).toMatchObject({ status: 'processing', receivedCents: 0 });
        await harness.untilSucceeded(intent.id);
        expect(await retrieve(intent.id)).toMatchObject({ status: 'succeeded', receivedCents: 2_500 });
      });

      it('includes refunds', async () => {
        const intent = await create();
        await harness.confirm(intent, 'pm_card_visa');
        await harness.refund(intent.id, 700);
        expect(await retrieve(intent.id)).toMatchObject({
          status: 'succeeded',
          receivedCents: 2_500,
          refundedCents: 700,
        });
      });

      it('is canceled after a cancellation', async () => {
        const intent = await create();
        await harness.cancel(intent.id);
        expect(await retrieve(intent.id)).toMatchObject({ status: 'canceled', receivedCents: 0 });
      });

      it.each(['pi_0123456789', 'ch_0123456789', '', '../refunds', 'pi_1?expand=x'])('is not found: %j', async (id) => {
        expect(await processor.retrieveIntent(newCall(), id)).toEqual({ kind: 'not-found' });
      });
    });

    describe('changing an intent', () => {
      it('changes the amount and recorded fee of an open intent', async () => {
        const names = newNames();
        const intent = await create(aCharge(), names);
        expect(
          intentOf(
            await processor.changeIntent(newCall(), intent.id, aCharge({ amountCents: 3_100, applicationFeeCents: 0 })),
          ),
        ).toEqual({ ...intent, amountCents: 3_100 });
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([
          { amount: 3_100, metadata: { application_fee_cents: '0', session_id: names.sessionId } },
        ]);
      });

      it('changes the fee of a destination charge, and can remove the fee', async () => {
        const names = newNames();
        const intent = await create(aCharge({ connectedAccount: 'acct_1' }), names);
        await processor.changeIntent(
          newCall(),
          intent.id,
          aCharge({ amountCents: 200, connectedAccount: 'acct_1', applicationFeeCents: 150 }),
        );
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([
          { amount: 200, applicationFee: 150, destination: 'acct_1' },
        ]);
        await processor.changeIntent(
          newCall(),
          intent.id,
          aCharge({ amountCents: 90, connectedAccount: 'acct_1', applicationFeeCents: 0 }),
        );
        expect(await harness.intentsOf(names.transactionId)).toMatchObject([
          { amount: 90, applicationFee: null, destination: 'acct_1' },
        ]);
      });

      it('is executed once for one key', async () => {
        const intent = await create();
        const call = newCall();
        for (let time = 0; time < 2; time += 1)
          intentOf(await processor.changeIntent(call, intent.id, aCharge({ amountCents: 3_100 })));
        expect((await harness.calls(call.attemptId)).executed).toBe(1);
      });

      it.each([
        ['succeeded', (intent: PaymentIntent) => harness.confirm(intent, 'pm_card_visa')],
        ['is under way', (intent: PaymentIntent) => harness.confirm(intent, 'pm_usBankAccount')],
        ['was canceled', (intent: PaymentIntent) => harness.cancel(intent.id)],
      ])('is refused after it %s', async (_name, finish) => {
        const intent = await create();
        await finish(intent);
        expect(await processor.changeIntent(newCall(), intent.id, aCharge({ amountCents: 3_100 }))).toEqual({
          kind: 'refused',
          code: 'payment_intent_unexpected_state',
        });
        expect(await retrieve(intent.id)).toMatchObject({ amountCents: 2_500 });
      });

      it('is refused when it sets a fee for an account for which the intent was not created', async () => {
        const intent = await create();
        expect(await processor.changeIntent(newCall(), intent.id, aCharge({ connectedAccount: 'acct_1' }))).toEqual({
          kind: 'refused',
          code: 'invalid_request_error',
        });
      });

      it('does not find an unknown intent', async () => {
        expect(await processor.changeIntent(newCall(), 'pi_0123456789', aCharge())).toEqual({ kind: 'not-found' });
      });
    });

    describe('refunding an intent', () => {
      const paid = async (charge: Charge, names = newNames()): Promise<PaymentIntent> => {
        const intent = await create(charge, names);
        await harness.confirm(intent, 'pm_card_visa');
        return intent;
      };

      it.each([
        ['of the platform', aCharge(), { transfer: false, fee: false }],
        ['of a connected account', aCharge({ connectedAccount: 'acct_1' }), { transfer: true, fee: true }],
        [
          'of a connected account without a fee',
          aCharge({ connectedAccount: 'acct_1', applicationFeeCents: 0 }),
          { transfer: true, fee: false },
        ],
      ])('refunds the whole charge %s', async (_whose, charge, takenBack) => {
        const names = newNames();
        const { id } = await paid(charge, names);
        expect(await processor.refundIntent(newCall(), id)).toEqual({ kind: 'refunded' });
        expect(await harness.refundOf(names.transactionId)).toMatchObject({ refunded: 2_500, takenBack });
        expect(await retrieve(id)).toMatchObject({ status: 'succeeded', refundedCents: 2_500 });
      });

      // The last requested change may never have reached the processor.
      it.each([
        [0, { transfer: true, fee: false }],
        [100, { transfer: true, fee: true }],
      ])('refunds the parts that the intent finally has, with a fee of %s', async (fee, takenBack) => {
        const names = newNames();
        const charge = aCharge({ connectedAccount: 'acct_1', applicationFeeCents: fee === 0 ? 100 : 0 });
        const intent = await create(charge, names);
        await processor.changeIntent(newCall(), intent.id, { ...charge, applicationFeeCents: fee });
        await harness.confirm(intent, 'pm_card_visa');
        expect(await processor.refundIntent(newCall(), intent.id)).toEqual({ kind: 'refunded' });
        expect(await harness.refundOf(names.transactionId)).toMatchObject({ refunded: 2_500, takenBack });
      });

      it('reports no refund when the bank has returned the refund, and reports the next refund', async () => {
        const { id } = await paid(aCharge());
        await processor.refundIntent(newCall(), id);
        await harness.failRefund(id);
        expect(await retrieve(id)).toMatchObject({ status: 'succeeded', refundedCents: 0 });
        await harness.refund(id, 2_500);
        expect((await retrieve(id)).refundedCents).toBe(2_500);
      });

      it('refunds the rest after a part was refunded', async () => {
        const { id } = await paid(aCharge());
        await harness.refund(id, 700);
        expect(await processor.refundIntent(newCall(), id)).toEqual({ kind: 'refunded' });
        expect((await retrieve(id)).refundedCents).toBe(2_500);
      });

      it('refunds once under one key, even when the answer is lost', async () => {
        const { id } = await paid(aCharge());
        const call = newCall();
        await harness.loseNextAnswer();
        expect(await processor.refundIntent(call, id)).toEqual({ kind: 'refunded' });
        expect(await processor.refundIntent(call, id)).toEqual({ kind: 'refunded' });
        expect(await harness.calls(call.attemptId)).toMatchObject({ executed: 1 });
        expect((await retrieve(id)).refundedCents).toBe(2_500);
      });

      it('keeps a refusal under its key, and executes a call with another key', async () => {
        const { id } = await paid(aCharge());
        const call = newCall();
        const refused = { kind: 'refused', code: 'balance_insufficient' };
        await harness.refuseNextRefund();
        expect(await processor.refundIntent(call, id)).toEqual(refused);
        expect(await processor.refundIntent(call, id)).toEqual(refused);
        expect(await processor.refundIntent(newCall(), id)).toEqual({ kind: 'refunded' });
      });

      it('refuses an intent that is already refunded, and one that was never paid', async () => {
        const { id } = await paid(aCharge());
        await harness.refund(id, 2_500);
        expect(await processor.refundIntent(newCall(), id)).toEqual({
          kind: 'refused',
          code: 'charge_already_refunded',
        });
        expect(await processor.refundIntent(newCall(), (await create()).id)).toMatchObject({
          kind: 'refused',
        });
      });

      it.each(['ch_0123456789', '', '../refunds'])('does not find %j', async (id) => {
        expect(await processor.refundIntent(newCall(), id)).toEqual({ kind: 'not-found' });
      });
    });

    describe('a hosted checkout', () => {
      const open = async (page = aPage(), charge = aCharge()): Promise<CheckoutSession> =>
        sessionOf(await processor.createCheckout(newCall(), charge, page));
      const look = async ({ id }: CheckoutSession): Promise<CheckoutSession> =>
        sessionOf(await processor.retrieveCheckout(newCall(), id));
      const intentId: unknown = expect.stringMatching(/^pi_/);

      it('is open, has an address, and is not paid', async () => {
        const session = await open();
        expect(session).toEqual({
          id: expect.stringMatching(/^cs_/),
          status: 'open',
          url: expect.stringMatching(/^https?:/),
          expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.000Z$/),
          payment: null,
        });
        expect(await look(session)).toEqual(session);
      });

      it('is paid once, into an intent that has our names for account and session and the fee', async () => {
        const page = aPage();
        const session = await open(page, aCharge({ connectedAccount: 'acct_1' }));
        expect(await harness.pay(session, 'pm_card_visa')).toBe(303);
        expect(await harness.pay(session, 'pm_card_visa')).toBe(303);
        expect(await look(session)).toEqual({
          ...session,
          status: 'complete',
          url: null,
          payment: { intentId, amountCents: 2_500, currency: 'usd' },
        });
        expect(await harness.chargesOf(page.reference)).toBe(1);
        expect(await harness.intentsOf(page.reference)).toMatchObject([
          {
            amount: 2_500,
            applicationFee: 300,
            destination: 'acct_1',
            metadata: { transaction_id: page.reference, session_id: page.sessionId },
          },
        ]);
      });

      it('records the fee without splitting the money when the platform keeps the whole amount, and needs neither description nor mail address', async () => {
        const page = aPage({ description: null, email: null, notes: {} });
        await harness.pay(await open(page), 'pm_card_visa');
        expect(await harness.intentsOf(page.reference)).toMatchObject([
          { applicationFee: null, destination: null, metadata: { application_fee_cents: '300' } },
        ]);
      });

      it('stays open after a decline', async () => {
        const session = await open();
        expect(await harness.pay(session, 'pm_card_chargeDeclined')).toBe(402);
        expect(await look(session)).toEqual(session);
        await harness.pay(session, 'pm_card_visa');
        expect(await look(session)).toMatchObject({ status: 'complete' });
      });

      it('can no longer be paid when it has been expired', async () => {
        const [call, page] = [newCall(), aPage()];
        const session = await open(page);
        const expired = { ...session, status: 'expired', url: null };
        expect(sessionOf(await processor.expireCheckout(call, session.id))).toEqual(expired);
        // A repeated call under the same key gets the same answer.
        expect(sessionOf(await processor.expireCheckout(call, session.id))).toEqual(expired);
        expect(await harness.pay(session, 'pm_card_visa')).toBe(400);
        expect(await look(session)).toEqual(expired);
        expect(await harness.chargesOf(page.reference)).toBe(0);
      });

      it.each([
        ['paid', async (session: CheckoutSession) => harness.pay(session, 'pm_card_visa')],
        ['expired', async (session: CheckoutSession) => processor.expireCheckout(newCall(), session.id)],
      ])('cannot be expired when it is already %s: the processor refuses', async (_name, end) => {
        const session = await open();
        await end(session);
        expect(await processor.expireCheckout(newCall(), session.id)).toMatchObject({ kind: 'refused' });
      });

      it('is opened once under one key, even if the answer to the first call was lost', async () => {
        const [call, page] = [newCall(), aPage()];
        await harness.loseNextAnswer();
        const first = sessionOf(await processor.createCheckout(call, aCharge(), page));
        expect(sessionOf(await processor.createCheckout(call, aCharge(), page))).toEqual(first);
        expect((await harness.calls(call.attemptId)).executed).toBe(1);
      });

      it.each([
        ['less than the minimum', aCharge({ amountCents: 49, applicationFeeCents: 0 }), 'amount_too_small'],
        ['an unknown connected account', aCharge({ connectedAccount: 'acct_missing1' }), 'resource_missing'],
      ])('is refused: %s', async (_name, charge, code) => {
        expect(await processor.createCheckout(newCall(), charge, aPage())).toEqual({ kind: 'refused', code });
      });

      it.each([
        ['email', 'email_invalid', { email: 'o\u2019neil@example.com' }],
        ['successUrl', 'url_invalid', { successUrl: 'https://' }],
        ['cancelUrl', 'url_invalid', { cancelUrl: 'https://' }],
      ])('is refused for an invalid %s of the caller, which the verdict names', async (part, code, wrong) => {
        const verdict = await processor.createCheckout(newCall(), aCharge(), { ...aPage(), ...wrong });
        expect(verdict).toEqual({ kind: 'refused', code, part });
      });

      it.each(['cs_test_0123456789', 'pi_0123456789', '', '../refunds', 'cs_1?expand=x'])(
        'is not found: %j',
        async (id) => {
          expect(await processor.retrieveCheckout(newCall(), id)).toEqual({ kind: 'not-found' });
          expect(await processor.expireCheckout(newCall(), id)).toEqual({ kind: 'not-found' });
        },
      );

      it('is unavailable while the processor is down', async () => {
        const session = await open();
        await harness.outage(60);
        expect(await processor.createCheckout(newCall(), aCharge(), aPage())).toEqual({ kind: 'unavailable' });
        expect(await processor.retrieveCheckout(newCall(), session.id)).toEqual({ kind: 'unavailable' });
        expect(await processor.expireCheckout(newCall(), session.id)).toEqual({ kind: 'unavailable' });
        await harness.outage(0);
        expect(await look(session)).toEqual(session);
      });
    });

    describe('a fault of the processor', () => {
      it('is reported as a value: unavailable while the processor is down, and the same call works afterwards', async () => {
        const [call, names] = [newCall(), newNames()];
        const intent = await create();
        await harness.outage(60);
        expect(await processor.createIntent(call, aCharge(), names)).toEqual({ kind: 'unavailable' });
        expect(await processor.changeIntent(newCall(), intent.id, aCharge())).toEqual({ kind: 'unavailable' });
        expect(await processor.retrieveIntent(newCall(), intent.id)).toEqual({ kind: 'unavailable' });
        await harness.outage(0);
        expect(await processor.createIntent(call, aCharge(), names)).toMatchObject({ kind: 'intent' });
        expect(await harness.intentsOf(names.transactionId)).toHaveLength(1);
      });

      it('makes one intent when the answer of a call was lost', async () => {
        const [call, names] = [newCall(), newNames()];
        await harness.loseNextAnswer();
        await processor.createIntent(call, aCharge(), names);
        expect(await processor.createIntent(call, aCharge(), names)).toMatchObject({ kind: 'intent' });
        expect(await harness.intentsOf(names.transactionId)).toHaveLength(1);
        expect((await harness.calls(call.attemptId)).executed).toBe(1);
      });

      it('times out within its limit when the processor is too slow; the processor still executes the call', async () => {
        const [call, names] = [newCall(), newNames()];
        const impatient = await harness.open({ timeoutMs: 200 });
        await harness.slow(500);
        expect(await impatient.createIntent(call, aCharge(), names)).toEqual({ kind: 'timed-out' });
        await harness.slow(0);
        // The call is still running. Afterwards the processor answers it under the same key.
        expect(await processor.createIntent(call, aCharge(), names)).toMatchObject({ kind: 'intent' });
        expect(await harness.intentsOf(names.transactionId)).toHaveLength(1);
      });
    });
  });
}
