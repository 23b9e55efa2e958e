import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { FeeTerms } from '../../../src/kernel/consumer-price.js';
import { admitPrice, applicationFeeOf } from '../../../src/modules/payments/domain/price.js';
import {
  checkoutPaymentId,
  isRefunded,
  isRefundOpen,
  isReturned,
  lookAt,
  payment,
  paymentId,
  paymentIdIn,
  refundKeyOf,
  statusOf,
  transactionIdOf,
  type IntentStatus,
  type ObservedIntent,
  type Payment,
  type PaymentCommand,
  type PaymentEvent,
  type PaymentState,
} from '../../../src/modules/payments/domain/payment.js';
import { splitFunds } from '../../../src/modules/payments/domain/split-funds.js';
import { given, refusalOf } from '../../support/decider.js';

const OPEN: PaymentCommand = {
  kind: 'open',
  sessionId: 'session',
  ordinal: 0,
  amountCents: 3_500,
  applicationFeeCents: 0,
  currency: 'usd',
  connectedAccount: null,
};
const OPENED: PaymentEvent = {
  type: 'PaymentOpened',
  data: {
    sessionId: 'session',
    ordinal: 0,
    amountCents: 3_500,
    applicationFeeCents: 0,
    currency: 'usd',
    connectedAccount: null,
  },
};
const CREATED: PaymentEvent = { type: 'PaymentIntentCreated', data: { paymentIntentId: 'pi_1' } };
const SUCCEEDED: PaymentEvent = {
  type: 'PaymentSucceeded',
  data: { paymentIntentId: 'pi_1', amountCents: 3_500, currency: 'usd' },
};

const intent = (status: IntentStatus, fields: Partial<ObservedIntent> = {}): ObservedIntent => ({
  id: 'pi_1',
  status,
  amountCents: 3_500,
  receivedCents: status === 'succeeded' ? 3_500 : 0,
  refundedCents: 0,
  currency: 'usd',
  lastErrorCode: null,
  ...fields,
});
const observe = (seen: ObservedIntent, basedOn = 99): PaymentCommand => ({ kind: 'observe', basedOn, intent: seen });
const DECLINED = intent('requires_payment_method', { lastErrorCode: 'card_declined' });

const FREE: FeeTerms = { fixedByAccount: null, saidByGrant: null, most: null };

describe('a payment', () => {
  it('is opened once for any number of requests', () => {
    given(payment).when(OPEN).then(OPENED).when(OPEN).then();
  });

  it('learns its intent from the first read at the processor', () => {
    given(payment, OPENED)
      .when(observe(intent('requires_payment_method')))
      .then(CREATED)
      .when(observe(intent('requires_payment_method')))
      .then();
  });

  it('moves to a newer session when it has succeeded, was not refunded and counts for the named session', () => {
    const carry: PaymentCommand = { kind: 'carry-over', from: 'session', to: 'newer' };
    const carried: PaymentEvent = { type: 'PaymentCarriedOver', data: { sessionId: 'newer' } };
    given(payment, OPENED, CREATED).when(carry).then();
    const asked = { kind: 'request-refund', sessionId: 'session', reasonCode: 'other', keepsReport: false } as const;
    given(payment, OPENED, CREATED, SUCCEEDED).when(asked).decided.when(carry).then();
    const seen = (refundedCents: number): PaymentEvent => ({ type: 'PaymentRefunded', data: { refundedCents } });
    given(payment, OPENED, CREATED, SUCCEEDED, seen(3_500)).when(carry).then();
    given(payment, OPENED, CREATED, SUCCEEDED, seen(1)).when(carry).then(carried);
    given(payment, OPENED, CREATED, SUCCEEDED)
      .when(carry)
      .then(carried)
      .when({ ...carry, to: 'newest' })
      .then();
  });

  it('records once each amount or currency that the service did not request', () => {
    const altered = (amountCents: number, currency = 'usd'): PaymentEvent => ({
      type: 'PaymentIntentAltered',
      data: { amountCents, currency },
    });
    const seen = (amountCents: number, currency = 'usd') =>
      observe(intent('requires_payment_method', { amountCents, currency }));
    const chosen = { kind: 'choose-amount', amountCents: 3_600, applicationFeeCents: 0, intentCents: 3_500 } as const;
    given(payment, OPENED, CREATED)
      .when(chosen)
      .decided.when(seen(3_500))
      .then()
      .when(seen(3_600))
      .then()
      .when(seen(50))
      .then(altered(50))
      .when(seen(50))
      .then()
      .when(seen(3_600, 'eur'))
      .then(altered(3_600, 'eur'));
  });

  it('ignores an intent of another payment', () => {
    given(payment, OPENED, CREATED)
      .when(observe(intent('succeeded', { id: 'pi_other' })))
      .then();
  });

  it('may be declined and then paid', () => {
    given(payment, OPENED, CREATED)
      .when(observe(DECLINED))
      .then({ type: 'PaymentDeclined', data: { declineCode: 'card_declined' } })
      .when(observe(DECLINED))
      .then()
      .when(observe(intent('processing', { lastErrorCode: 'card_declined' })))
      .then({ type: 'PaymentProcessing', data: {} })
      .when(observe(intent('succeeded')))
      .then(SUCCEEDED);
  });

  it('records the received amount and currency, even if it was opened with others', () => {
    const received = { receivedCents: 3_400, currency: 'eur' };
    const { state } = given(payment, OPENED, CREATED).when(observe(intent('succeeded', received))).decided;
    expect(state).toMatchObject({ status: 'SUCCEEDED', price: { amountCents: 3_400 }, currency: 'eur' });
  });

  it('stays succeeded, even if another status is seen later', () => {
    const paid = given(payment, OPENED, CREATED, SUCCEEDED);
    for (const status of ['requires_payment_method', 'requires_action', 'processing', 'canceled', 'succeeded'] as const)
      paid.when(observe(intent(status))).then();
  });

  it('records the total of its refunds, and stays succeeded', () => {
    const refunded = given(payment, OPENED, CREATED, SUCCEEDED)
      .when(observe(intent('succeeded', { refundedCents: 1_000 })))
      .then({ type: 'PaymentRefunded', data: { refundedCents: 1_000 } })
      .when(observe(intent('succeeded', { refundedCents: 1_000 })))
      .then()
      .when(observe(intent('succeeded', { refundedCents: 3_500 })))
      .then({ type: 'PaymentRefunded', data: { refundedCents: 3_500 } });
    expect(refunded.state).toMatchObject({ status: 'SUCCEEDED', refundedCents: 3_500 });
  });

  describe('a payment with a refund', () => {
    const REQUEST: PaymentCommand = {
      kind: 'request-refund',
      sessionId: 'session',
      reasonCode: 'report_unavailable',
      keepsReport: false,
    };
    const REQUESTED: PaymentEvent = {
      type: 'PaymentRefundRequested',
      data: { reasonCode: 'report_unavailable' },
    };
    const WHOLE: PaymentEvent = {
      type: 'PaymentRefunded',
      data: { refundedCents: 3_500, reasonCode: 'report_unavailable' },
    };
    const paid = given(payment, OPENED, CREATED, SUCCEEDED);
    const refundOf = (cents: number): PaymentCommand => observe(intent('succeeded', { refundedCents: cents }));

    it('records one refund request, with the first reason', () => {
      paid
        .when(REQUEST)
        .then(REQUESTED)
        .when({ kind: 'request-refund', sessionId: 'session', reasonCode: 'duplicate', keepsReport: true })
        .then();
    });

    it('rejects a refund request before it has succeeded', () => {
      for (const before of [[OPENED], [OPENED, CREATED], [OPENED, { type: 'PaymentCanceled', data: {} } as const]])
        given(payment, ...before)
          .when(REQUEST)
          .thenRefused('payment.not_completed');
    });

    it('is returned when the processor has refunded the whole amount, and its status stays succeeded', () => {
      const returned = paid.when(REQUEST).then(REQUESTED).when(refundOf(3_500)).then(WHOLE);
      expect(returned.state).toMatchObject({ status: 'SUCCEEDED', refundedCents: 3_500 });
      expect(isReturned(returned.state as Payment)).toBe(true);
      returned.when(refundOf(3_500)).then();
      expect(lookAt(returned.state, '2026-03-01T12:00:00.000Z')).toBeNull();
    });

    it('is not returned by a partial refund, because such a refund has no reason', () => {
      const part = paid
        .when(REQUEST)
        .then(REQUESTED)
        .when(refundOf(1_000))
        .then({ type: 'PaymentRefunded', data: { refundedCents: 1_000 } });
      expect(isReturned(part.state as Payment)).toBe(false);
      expect(isRefundOpen(part.state)).toBe(true);
    });

    it('is returned immediately when the processor had refunded the whole amount before the request', () => {
      const returned = paid
        .when(refundOf(3_500))
        .then({ type: 'PaymentRefunded', data: { refundedCents: 3_500 } })
        .when(REQUEST)
        .then(REQUESTED, WHOLE);
      expect(isReturned(returned.state as Payment)).toBe(true);
    });

    it('is refunded but not returned when the session keeps its report', () => {
      const refunded = paid
        .when({ ...REQUEST, keepsReport: true } as PaymentCommand)
        .then({ type: 'PaymentRefundRequested', data: { reasonCode: 'report_unavailable', keepsReport: true } })
        .when(refundOf(3_500))
        .then(WHOLE);
      expect([isRefunded(refunded.state as Payment), isReturned(refunded.state as Payment)]).toEqual([true, false]);
    });

    // The consumer may have paid again in the meantime, and the processor would only refuse. An operator has to examine
    // the refund.
    it('stays returned when the bank reverses the refund, and each reversal is recorded once', () => {
      const reversed: PaymentEvent = { type: 'PaymentRefundReversed', data: { refundedCents: 0 } };
      const again = paid
        .when(REQUEST)
        .then(REQUESTED)
        .when(refundOf(3_500))
        .then(WHOLE)
        .when(observe(intent('succeeded'), 4))
        .then()
        .when(observe(intent('succeeded'), 5))
        .then(reversed)
        .when(refundOf(0))
        .then();
      expect([isReturned(again.state as Payment), isRefundOpen(again.state)]).toEqual([true, false]);
      expect(lookAt(again.state, '2026-03-01T12:00:00.000Z')).toBeNull();
      again
        .when(refundOf(3_500))
        .then({ type: 'PaymentRefunded', data: { refundedCents: 3_500 } })
        .when(refundOf(0))
        .then(reversed);
    });

    it('repeats a refused refund under a new key, with growing pauses', () => {
      const since = '2026-03-01T12:00:00.000Z';
      const delays: number[] = [];
      const keys: string[] = [];
      let decision = paid.when(REQUEST).then(REQUESTED);
      for (let refusals = 0; refusals < 40; refusals += 1) {
        delays.push((lookAt(decision.state, since)?.getTime() ?? NaN) - Date.parse(since));
        keys.push(refundKeyOf('id', refusals));
        const { events } = decision.state as Payment;
        decision = decision
          .when({ kind: 'look-up', basedOn: events })
          .then({ type: 'PaymentLookedUp', data: {} })
          .when({ kind: 'refuse-refund', refusals, code: 'balance_insufficient' })
          .then({ type: 'PaymentRefundRefused', data: { code: 'balance_insufficient' } });
        decision.when({ kind: 'refuse-refund', refusals, code: 'balance_insufficient' }).then();
      }
      expect(delays.slice(0, 4)).toEqual([10_000, 40_000, 160_000, 640_000]);
      expect(delays).toEqual([...delays].sort((one, other) => one - other));
      expect(delays.at(-1)).toBe(86_400_000);
      expect(keys.slice(0, 3)).toEqual(['txn_id:refund', 'txn_id:refund:1', 'txn_id:refund:2']);
    });

    describe('a payment with an automatic refund', () => {
      const refusedAt = new Date('2026-03-01T12:00:00.000Z');
      const PLAN: PaymentCommand = { kind: 'plan-refund', sessionId: 'session', refusedAt };
      const delayed: PaymentEvent = {
        ...OPENED,
        data: { ...OPENED.data, refundAfterDays: 14 },
      } as PaymentEvent;
      const PLANNED: PaymentEvent = {
        type: 'PaymentRefundPlanned',
        data: { refundAt: '2026-03-15T12:00:00.000Z' },
      };

      it('is due a number of days after the first refusal of the report', () => {
        const planned = given(payment, delayed, CREATED, SUCCEEDED).when(PLAN).then(PLANNED);
        planned.when({ ...PLAN, refusedAt: new Date('2026-03-09T12:00:00.000Z') }).then();
        expect(lookAt(planned.state, '2026-03-01T12:00:00.000Z')).toEqual(new Date('2026-03-15T12:00:00.000Z'));
      });

      it('is never due before the payment, or when the account had no automatic refunds at the opening', () => {
        paid.when(PLAN).then();
        given(payment, delayed, CREATED).when(PLAN).then();
      });

      it('has its refund planned for its session, and planned again when it moves to a newer session', () => {
        const carried = given(payment, delayed, CREATED, SUCCEEDED, PLANNED)
          .when({ kind: 'carry-over', from: 'session', to: 'newer' })
          .then({ type: 'PaymentCarriedOver', data: { sessionId: 'newer' } });
        expect(lookAt(carried.state, '2026-03-01T12:00:00.000Z')).toBeNull();
        carried.when(PLAN).then();
        carried.when({ ...PLAN, sessionId: 'newer' }).then(PLANNED);
      });

      it('is no longer due when the plan is dropped or a refund is requested', () => {
        const planned = given(payment, delayed, CREATED, SUCCEEDED).when(PLAN).then(PLANNED);
        const dropped = planned.when({ kind: 'drop-refund-plan' }).then({ type: 'PaymentRefundPlanDropped', data: {} });
        expect(lookAt(dropped.state, '2026-03-01T12:00:00.000Z')).toBeNull();
        planned.when(REQUEST).then(REQUESTED).when({ kind: 'drop-refund-plan' }).then();
      });
    });

    it('is never charged twice without a refund in between, whatever the order of events', () => {
      const cents = fc.constantFrom(0, 1_000, 3_500);
      const steps = fc.oneof(
        fc.record({ what: fc.constant('pay' as const), refunded: cents, basedOn: fc.nat(9) }),
        fc.record({ what: fc.constant('request' as const), keepsReport: fc.boolean() }),
        fc.record({ what: fc.constant('refuse' as const), refusals: fc.nat(2) }),
        fc.record({ what: fc.constant('open' as const) }),
        fc.record({ what: fc.constant('cancel' as const) }),
      );
      fc.assert(
        fc.property(fc.array(steps, { maxLength: 40 }), (sequence) => {
          let ordinal = 0;
          let state: PaymentState = payment.initial;
          let charges = 0;
          let returned = 0;
          const run = (command: PaymentCommand): void => {
            if (command.kind === 'request-refund' && (state.status === 'NONE' || state.status !== 'SUCCEEDED')) return;
            for (const event of payment.decide(command, state)) {
              state = payment.evolve(state, event);
              if (event.type === 'PaymentSucceeded') charges += 1;
              if (
                event.type === 'PaymentRefunded' &&
                event.data.reasonCode !== undefined &&
                isReturned(state as Payment)
              )
                returned += 1;
            }
          };
          for (const step of sequence) {
            if (step.what === 'open') {
              // `CreateIntent` follows the same rule: the next transaction follows a canceled or returned one.
              if (state.status !== 'NONE' && (state.canceled || isReturned(state))) {
                ordinal += 1;
                state = payment.initial;
              }
              run({ ...OPEN, ordinal } as PaymentCommand);
            } else if (step.what === 'pay')
              run(observe(intent('succeeded', { refundedCents: step.refunded }), step.basedOn));
            else if (step.what === 'cancel') run(observe(intent('canceled')));
            else if (step.what === 'refuse')
              run({ kind: 'refuse-refund', refusals: step.refusals, code: 'balance_insufficient' });
            else
              run({ kind: 'request-refund', sessionId: 'session', reasonCode: 'other', keepsReport: step.keepsReport });
            expect(charges - returned).toBeLessThanOrEqual(1);
            expect(charges - returned).toBeGreaterThanOrEqual(0);
          }
        }),
        { numRuns: 500 },
      );
    });
  });

  describe('a payment from a hosted checkout', () => {
    const made = {
      ...{ sessionId: 'session', reference: 'chk_renter_0', ordinal: 0, amountCents: 3_500, currency: 'usd' },
      ...{ paymentIntentId: 'pi_1', applicationFeeCents: 100, connectedAccount: null, refundAfterDays: 14 },
    };
    const asked = { amountCents: 3_500, currency: 'usd' };
    const TAKE: PaymentCommand = { kind: 'take-from-checkout', ...made, asked };
    const MADE: PaymentEvent = { type: 'PaymentMadeAtCheckout', data: made };
    const EXTENDED: PaymentEvent = { type: 'PaymentExtended', data: { sessionId: 'newer' } };
    const extend = (to: string): PaymentCommand => ({ kind: 'extend', to, newer: [] });
    const request = (sessionId: string, more: object = {}): PaymentCommand => ({
      ...{ kind: 'request-refund', sessionId, reasonCode: 'other', keepsReport: false },
      ...more,
    });

    it('is recorded once as succeeded, with the id that account holders know', () => {
      const { state } = given(payment).when(TAKE).then(MADE).when(TAKE).then();
      expect(state).toMatchObject({ status: 'SUCCEEDED', sessionId: 'session', paymentIntentId: 'pi_1' });
      expect(transactionIdOf('id', 'chk_renter_0')).toBe('chk_renter_0');
      expect(refundKeyOf('id', 1, 'chk_renter_0')).toBe('chk_renter_0:refund:1');
      expect(paymentIdIn('chk_renter_0')).toBe(checkoutPaymentId('chk_renter_0'));
    });

    it.each([
      [3_400, 'usd'],
      [3_500, 'eur'],
    ])("records a difference when %s %s was received instead of the checkout's amount", (amountCents, currency) => {
      const altered: PaymentEvent = { type: 'PaymentIntentAltered', data: { amountCents, currency } };
      const data = { ...made, amountCents, currency };
      given(payment)
        .when({ kind: 'take-from-checkout', ...data, asked })
        .then({ type: 'PaymentMadeAtCheckout', data }, altered)
        .when(observe(intent('succeeded', { amountCents, receivedCents: amountCents, currency })))
        .then();
    });

    it('counts once for each further session, and the newest session decides about the refund', () => {
      const extended = given(payment, MADE).when(extend('session')).then().when(extend('newer')).then(EXTENDED);
      extended.when(extend('newer')).then().when(extend('session')).then();
      extended.when(request('session')).then();
      const others = ['session'];
      extended
        .when(request('newer', { others }))
        .then({ type: 'PaymentRefundRequested', data: { reasonCode: 'other', others } })
        .when(extend('newest'))
        .then();
    });

    it('counts for no further session after a full refund, and for each further session after a partial one', () => {
      given(payment, MADE, { type: 'PaymentRefunded', data: { refundedCents: 3_500 } })
        .when(extend('newer'))
        .then();
      given(payment, MADE, { type: 'PaymentRefunded', data: { refundedCents: 3_499 } })
        .when(extend('newer'))
        .then(EXTENDED);
    });

    it('has its planned refund dropped when the renter registers again', () => {
      const refusedAt = new Date('2026-03-01T12:00:00.000Z');
      const plan = (sessionId: string): PaymentCommand => ({ kind: 'plan-refund', sessionId, refusedAt });
      const planned: PaymentEvent = { type: 'PaymentRefundPlanned', data: { refundAt: '2026-03-15T12:00:00.000Z' } };
      const extended = given(payment, MADE).when(plan('session')).then(planned).when(extend('newer')).then(EXTENDED);
      expect(lookAt(extended.state, '2026-03-01T12:00:00.000Z')).toBeNull();
      extended.when(plan('session')).then().when(plan('newer')).then(planned);
    });
  });

  it('ignores a look-up that may be out of date, unless it shows a success', () => {
    const processing = given(payment, OPENED, CREATED, { type: 'PaymentProcessing', data: {} });
    processing.when(observe(intent('requires_action'), 2)).then();
    processing.when(observe(intent('requires_action'), 3)).then({ type: 'PaymentActionRequired', data: {} });
    processing.when(observe(intent('succeeded'), 0)).then(SUCCEEDED);
  });

  it('ends when the processor has canceled it', () => {
    const canceled = given(payment, OPENED, CREATED)
      .when(observe(intent('canceled')))
      .then({ type: 'PaymentCanceled', data: {} });
    expect(canceled.state).toMatchObject({ status: 'FAILED', canceled: true });
    canceled.when(observe(intent('requires_payment_method'))).then();
    canceled.when({ kind: 'choose-amount', amountCents: 9_000, applicationFeeCents: 0, intentCents: 3_500 }).then();
  });

  it('ends when the processor refuses to make its intent, and for no other failure', () => {
    given(payment, OPENED)
      .when({ kind: 'abandon' })
      .then({ type: 'PaymentCanceled', data: {} })
      .when({ kind: 'abandon' })
      .then();
    given(payment, OPENED, CREATED).when({ kind: 'abandon' }).then();
    given(payment).when({ kind: 'abandon' }).then();
  });

  it('is looked up by one process at a time, and only while it can still change', () => {
    const look = (basedOn: number): PaymentCommand => ({ kind: 'look-up', basedOn });
    given(payment, OPENED, CREATED)
      .when(look(2))
      .then({ type: 'PaymentLookedUp', data: {} })
      .when(look(2))
      .then()
      .when(look(3))
      .then({ type: 'PaymentLookedUp', data: {} });
    given(payment).when(look(0)).then();
    given(payment, OPENED).when(look(1)).then();
    given(payment, OPENED, CREATED, SUCCEEDED).when(look(3)).then();
    given(payment, OPENED, CREATED, { type: 'PaymentCanceled', data: {} }).when(look(3)).then();
  });

  const OTHER = [60, 240, 960, 3_840, 15_360, 61_440, 245_760, 345_600, 345_600, 345_600, 345_600, 345_600, 345_600];
  it.each([
    [[CREATED], OTHER],
    [[CREATED, { type: 'PaymentDeclined', data: { declineCode: 'card_declined' } }], OTHER],
    [
      [CREATED, { type: 'PaymentProcessing', data: {} }],
      [10, 40, 160, 640, 2_560, 10_240, 40_960, 163_840, 345_600, 345_600, 345_600, 345_600, 345_600, 345_600],
    ],
    [[], []],
    [[CREATED, SUCCEEDED], []],
    [[CREATED, { type: 'PaymentCanceled', data: {} }], []],
  ] as const)(
    'is looked up with growing pauses over a month, and each pause counts from the last look-up: %j',
    (events, seconds) => {
      let since = '2026-03-01T12:00:00.000Z';
      let { state } = given(payment, OPENED, ...events);
      const looks: number[] = [];
      for (let at = lookAt(state, since); at !== null; at = lookAt(state, since)) {
        looks.push((at.getTime() - Date.parse(since)) / 1_000);
        // A look-up may run later than planned.
        since = new Date(at.getTime() + 5_000_000).toISOString();
        state = payment.evolve(state, { type: 'PaymentLookedUp', data: {} });
      }
      expect(looks).toEqual(seconds);
      expect(looks.reduce((sum, delay) => sum + delay, 0)).toBeLessThanOrEqual(30 * 86_400);
    },
  );

  it('is looked up soon after a change', () => {
    const { state } = given(
      payment,
      OPENED,
      CREATED,
      { type: 'PaymentLookedUp', data: {} },
      { type: 'PaymentLookedUp', data: {} },
      { type: 'PaymentActionRequired', data: {} },
    );
    expect(lookAt(state, '2026-03-01T12:00:00.000Z')).toEqual(new Date('2026-03-01T12:01:00.000Z'));
  });

  it('accepts another amount while it is open, and remembers the amount of its opening', () => {
    const changed = given(payment, OPENED, CREATED)
      .when({ kind: 'choose-amount', amountCents: 3_500, applicationFeeCents: 0, intentCents: 3_500 })
      .then()
      .when({ kind: 'choose-amount', amountCents: 4_000, applicationFeeCents: 100, intentCents: 3_500 })
      .then({ type: 'PaymentAmountChosen', data: { change: 1, amountCents: 4_000, applicationFeeCents: 100 } });
    expect(changed.state).toMatchObject({
      opened: { amountCents: 3_500 },
      price: { amountCents: 4_000, applicationFeeCents: 100 },
      changes: 1,
    });
    changed
      .and(SUCCEEDED)
      .when({ kind: 'choose-amount', amountCents: 5_000, applicationFeeCents: 0, intentCents: 4_000 })
      .then();
  });

  // Guarantee: when the intent has another amount than the caller received, the service chooses the amount again.
  it('chooses an amount again when another change at the processor has replaced the amount', () => {
    const chosen = { amountCents: 4_000, applicationFeeCents: 0 };
    given(payment, OPENED, CREATED, { type: 'PaymentAmountChosen', data: { ...chosen, change: 1 } })
      .when({ kind: 'choose-amount', ...chosen, intentCents: 4_000 })
      .then()
      .when({ kind: 'choose-amount', ...chosen, intentCents: 5_000 })
      .then({ type: 'PaymentAmountChosen', data: { ...chosen, change: 2 } });
  });

  it('succeeds once, whatever the order of the reports from the processor', () => {
    const statuses = fc.constantFrom<IntentStatus>(
      'requires_payment_method',
      'requires_confirmation',
      'requires_action',
      'processing',
      'requires_capture',
      'succeeded',
      'canceled',
    );
    const seen = fc.array(
      fc.record({ status: statuses, error: fc.boolean(), basedOn: fc.integer({ min: 0, max: 12 }) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(seen, (looks) => {
        let now = given(payment, OPENED);
        const events: PaymentEvent[] = [];
        for (const { status, error, basedOn } of looks) {
          const decision = now.when(
            observe(intent(status, { lastErrorCode: error ? 'card_declined' : null }), basedOn),
          );
          events.push(...decision.events);
          now = decision.decided;
        }
        const successes = events.filter(({ type }) => type === 'PaymentSucceeded').length;
        expect(successes).toBe(looks.some(({ status }) => status === 'succeeded') ? 1 : 0);
        expect(events.filter(({ type }) => type === 'PaymentIntentCreated').length).toBeLessThanOrEqual(1);
        if (successes === 1) expect(now.state.status).toBe('SUCCEEDED');
      }),
    );
  });

  it('has one id for each transaction of a session', () => {
    expect(paymentId('session', 0)).toBe(paymentId('session', 0));
    expect(new Set([paymentId('session', 0), paymentId('session', 1), paymentId('other', 0)]).size).toBe(3);
  });
});

describe('the status of an intent', () => {
  it.each([
    ['requires_payment_method', null, 'PENDING'],
    ['requires_payment_method', 'card_declined', 'FAILED'],
    ['requires_confirmation', null, 'PENDING'],
    ['requires_action', null, 'REQUIRES_ACTION'],
    ['processing', null, 'PROCESSING'],
    ['requires_capture', null, 'PROCESSING'],
    ['succeeded', null, 'SUCCEEDED'],
    ['canceled', null, 'FAILED'],
  ] as const)('%s with last error %s means %s', (status, lastErrorCode, means) => {
    expect(statusOf({ status, lastErrorCode })).toBe(means);
  });
});

describe('a price', () => {
  const refused = (amountCents: number, applicationFeeCents: number, feeCents: number): string | undefined =>
    refusalOf(() => admitPrice({ amountCents, applicationFeeCents }, feeCents, FREE)).detail.field;

  it('is at least the fee of the account and 50 cents, and at most 99,999,999 cents', () => {
    expect(() => admitPrice({ amountCents: 50, applicationFeeCents: 0 }, 0, FREE)).not.toThrow();
    expect(() => admitPrice({ amountCents: 99_999_999, applicationFeeCents: 1_000_000 }, 3_500, FREE)).not.toThrow();
    expect([
      refused(49, 0, 0),
      refused(3_499, 0, 3_500),
      refused(100_000_000, 0, 0),
      refused(50.5, 0, 0),
      refused(Number.NaN, 0, 0),
    ]).toEqual(Array(5).fill('payment.amount'));
  });

  it('has an application fee of at most the amount and 1,000,000 cents', () => {
    expect(() => admitPrice({ amountCents: 60, applicationFeeCents: 60 }, 0, FREE)).not.toThrow();
    expect([refused(60, 61, 0), refused(60, -1, 0), refused(9_000_000, 1_000_001, 0), refused(60, 0.5, 0)]).toEqual(
      Array(4).fill('payment.applicationFee'),
    );
  });
});

describe('splitting the funds', () => {
  it('gives the platform the application fee and the connected account the rest', () => {
    expect(splitFunds(3_500, 500, 'acct_1')).toEqual({
      destination: 'acct_1',
      applicationFeeCents: 500,
      toAccountCents: 3_000,
      toPlatformCents: 500,
    });
  });

  it('gives the platform everything when no account is connected', () => {
    expect(splitFunds(3_500, 500, null)).toEqual({
      destination: null,
      applicationFeeCents: null,
      toAccountCents: 0,
      toPlatformCents: 3_500,
    });
  });

  it('never creates or loses a cent', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 99_999_999 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (amount, share, connected) => {
          const { toAccountCents, toPlatformCents } = splitFunds(
            amount,
            Math.floor(amount * share),
            connected ? 'acct_1' : null,
          );
          expect(toAccountCents + toPlatformCents).toBe(amount);
        },
      ),
    );
  });

  it('refuses an application fee that is negative, fractional or above the amount', () => {
    expect(() => splitFunds(100, 101, null)).toThrow(RangeError);
    expect(() => splitFunds(100.5, 0, null)).toThrow(RangeError);
    expect(() => splitFunds(100, -1, 'acct_1')).toThrow(RangeError);
  });

  it('uses the application fee of the account, or else of the grant, or else of the page', () => {
    const [account, grant] = [
      { ...FREE, fixedByAccount: 100 },
      { ...FREE, saidByGrant: 200 },
    ];
    expect([
      applicationFeeOf(null, FREE),
      applicationFeeOf(300, FREE),
      applicationFeeOf(300, account),
      applicationFeeOf(null, grant),
      applicationFeeOf(200, grant),
      applicationFeeOf(null, { ...account, ...{ saidByGrant: 200 } }),
    ]).toEqual([0, 300, 100, 200, 200, 100]);
    expect(refusalOf(() => applicationFeeOf(300, grant)).detail.field).toBe('payment.applicationFee');
  });

  it("limits the application fee to the account's maximum, and requires an amount that covers a fixed fee", () => {
    expect(
      refusalOf(() => admitPrice({ amountCents: 3_500, applicationFeeCents: 501 }, 0, { ...FREE, most: 500 })).detail
        .field,
    ).toBe('payment.applicationFee');
    // The operator lowered the maximum after the grant was minted.
    expect(() =>
      admitPrice({ amountCents: 3_500, applicationFeeCents: 700 }, 0, { ...FREE, saidByGrant: 700, most: 500 }),
    ).not.toThrow();
    expect(
      refusalOf(() => admitPrice({ amountCents: 99, applicationFeeCents: 100 }, 0, { ...FREE, fixedByAccount: 100 }))
        .detail.field,
    ).toBe('payment.amount');
  });
});
