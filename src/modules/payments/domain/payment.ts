// One payment transaction of a screening session: one intent at the processor, from opened to SUCCEEDED or canceled, and its refund. A paid hosted
// checkout is also recorded as a payment. Source: docs/contract/platform.md#payments and the sections after it.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { derivedId } from '../../../kernel/ids.js';
import type { RefundReason } from '../../../kernel/refund-reason.js';
import { FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { nextLook } from './look-schedule.js';

export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED';

/** Integer cents; `applicationFeeCents` is part of the amount. */
export interface Price {
  readonly amountCents: number;
  readonly applicationFeeCents: number;
}

export type PaymentEvent =
  | DomainEvent<
      'PaymentOpened',
      Price & {
        readonly sessionId: string;
        /** The number of this transaction among those of the session, from 0. */
        readonly ordinal: number;
        /** Lowercase ISO 4217. */
        readonly currency: string;
        /** The account at the processor that receives the money; null means the platform. */
        readonly connectedAccount: string | null;
        /** The vault subject of the browser's secret. Absent in events from before the secret was stored. */
        readonly subjectId?: string;
        /**
         * The account's setting at that time: the days from the first refused pull to the refund. Absent if the account had no automatic refunds.
         */
        readonly refundAfterDays?: number;
        /** The payment processor. Absent in older events, which used the first processor. */
        readonly vendor?: string;
      }
    >
  /** A renter has paid at a hosted checkout. `amountCents`: the amount received. */
  | DomainEvent<
      'PaymentMadeAtCheckout',
      Price & {
        readonly sessionId: string;
        /** `chk_...`: the transaction id that account holders know. */
        readonly reference: string;
        /** The number of this checkout among the renter's checkouts, from 0. */
        readonly ordinal: number;
        readonly currency: string;
        readonly connectedAccount: string | null;
        readonly paymentIntentId: string;
        readonly refundAfterDays?: number;
        /** The processor of the checkout. Absent in older events, which used the first processor. */
        readonly vendor?: string;
      }
    >
  | DomainEvent<'PaymentIntentCreated', { readonly paymentIntentId: string }>
  /** The caller wants another amount. The intent is changed after this is recorded. `change` counts from 1. */
  | DomainEvent<'PaymentAmountChosen', Price & { readonly change: number }>
  /** The intent had an amount or a currency that the service never requested. The intent was changed at the processor. */
  | DomainEvent<'PaymentIntentAltered', { readonly amountCents: number; readonly currency: string }>
  /** The processor waits again for a payment method or a confirmation. */
  | DomainEvent<'PaymentAwaited', Record<never, never>>
  | DomainEvent<'PaymentActionRequired', Record<never, never>>
  | DomainEvent<'PaymentProcessing', Record<never, never>>
  /** An attempt to pay was declined; another may follow on the same intent. `declineCode` is the processor's. */
  | DomainEvent<'PaymentDeclined', { readonly declineCode: string }>
  /** Canceled by the processor, or by the service because the processor refused the intent. */
  | DomainEvent<'PaymentCanceled', Record<never, never>>
  /** The amount that was finally received. Recorded only once for a transaction. */
  | DomainEvent<
      'PaymentSucceeded',
      { readonly paymentIntentId: string; readonly amountCents: number; readonly currency: string }
    >
  /** The paid session can have no report, so the payment counts for a newer session of the same person. */
  | DomainEvent<'PaymentCarriedOver', { readonly sessionId: string }>
  /**
   * The renter has registered again, and the payment counts for the new session too, which is now the newest. `isOlder`: the payment already counts
   * for a newer session.
   */
  | DomainEvent<'PaymentExtended', { readonly sessionId: string; readonly isOlder?: true }>
  /** The payment had no change for some time, so the service will ask the processor. A change in the processor's answer follows as an event. */
  | DomainEvent<'PaymentLookedUp', Record<never, never>>
  /** The bureau has refused the report for the first time. If no report follows, the payment is refunded at this time (ISO 8601 UTC). */
  | DomainEvent<'PaymentRefundPlanned', { readonly refundAt: string }>
  /** The report was released after all, or the account no longer has automatic refunds. */
  | DomainEvent<'PaymentRefundPlanDropped', Record<never, never>>
  /** The whole payment will be refunded. The processor is asked after this event is recorded, once for each transaction. */
  | DomainEvent<
      'PaymentRefundRequested',
      {
        readonly reasonCode: RefundReason;
        /** The session still counts as paid: its report was released, or another transaction has paid for it. */
        readonly keepsReport?: true;
        /** Earlier sessions that also become unpaid. */
        readonly others?: readonly string[];
      }
    >
  /** `code` is the processor's code. Another try follows with a key of its own. */
  | DomainEvent<'PaymentRefundRefused', { readonly code: string }>
  /** The total that was refunded until now. */
  | DomainEvent<
      'PaymentRefunded',
      {
        readonly refundedCents: number;
        /**
         * Present when a refund that the service requested is complete. A refund that was made at the processor has no reason, and the report stays
         * open.
         */
        readonly reasonCode?: RefundReason;
      }
    >
  /** Part of a refund was returned to the processor, so the consumer does not have it. `refundedCents`: the total that remains refunded. */
  | DomainEvent<'PaymentRefundReversed', { readonly refundedCents: number }>;

export interface Payment {
  readonly status: PaymentStatus;
  /** The payment processor of all calls for this payment, even if the account has chosen another since. */
  readonly vendor: string;
  /** The session for which the payment counts now. */
  readonly sessionId: string;
  /** The sessions for which the payment counted before, oldest first. */
  readonly former: readonly string[];
  /** The renter's earlier sessions for which the payment still counts. */
  readonly others: readonly string[];
  /** `chk_...`; null for a payment that was not made at a hosted checkout. */
  readonly reference: string | null;
  readonly ordinal: number;
  readonly currency: string;
  readonly connectedAccount: string | null;
  /** The vault subject; null if no secret is stored. */
  readonly subjectId: string | null;
  /** The price with which the intent is created, so that a repeated creation is the same request. */
  readonly opened: Price;
  readonly price: Price;
  /** Every amount that the service ever requested for the intent. */
  readonly amounts: readonly number[];
  /** The last difference that was seen at the processor; null if none exists. */
  readonly altered: { readonly amountCents: number; readonly currency: string } | null;
  readonly changes: number;
  readonly paymentIntentId: string | null;
  readonly canceled: boolean;
  readonly refundedCents: number;
  readonly refundAfterDays: number | null;
  /** The time of the automatic refund (ISO 8601 UTC); null if none is planned. */
  readonly refundAt: string | null;
  /** The refund that the service requested. `refusals` counts the processor's refusals. `made` stays true even if the money was returned later. */
  readonly refund: {
    readonly reasonCode: RefundReason;
    readonly keepsReport: boolean;
    readonly others: readonly string[];
    readonly refusals: number;
    readonly made: boolean;
  } | null;
  /** The number of look-ups at the processor since the last change. */
  readonly looks: number;
  /** The number of events. A look-up that began before the newest event may be out of date. */
  readonly events: number;
}

export type PaymentState = { readonly status: 'NONE' } | Payment;
type Paid = Payment & { readonly paymentIntentId: string };

/** The words are the processor's own. */
export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled';

/** An intent as it was last seen at the processor. */
export interface ObservedIntent {
  readonly id: string;
  readonly status: IntentStatus;
  readonly amountCents: number;
  readonly receivedCents: number;
  readonly refundedCents: number;
  readonly currency: string;
  readonly lastErrorCode: string | null;
}

export type PaymentCommand =
  /** Does nothing if the payment is already open. */
  | (Price & {
      readonly kind: 'open';
      readonly sessionId: string;
      readonly ordinal: number;
      readonly currency: string;
      readonly connectedAccount: string | null;
      readonly subjectId?: string;
      readonly refundAfterDays?: number;
      readonly vendor?: string;
    })
  /** Does nothing if the payment is already recorded. `asked`: the checkout's price. */
  | (Extract<PaymentEvent, { readonly type: 'PaymentMadeAtCheckout' }>['data'] & {
      readonly kind: 'take-from-checkout';
      readonly asked: { readonly amountCents: number; readonly currency: string };
    })
  /** `newer`: sessions that were registered later. Does nothing if the payment already counts for `to`, or was completely refunded. */
  | { readonly kind: 'extend'; readonly to: string; readonly newer: readonly string[] }
  /**
   * `intentCents`: the intent's amount when it was last seen. The amounts may differ, because two concurrent changes may have run in the other order.
   */
  | (Price & { readonly kind: 'choose-amount'; readonly intentCents: number })
  /** The processor refused to create the intent. Does nothing if an intent exists. */
  | { readonly kind: 'abandon' }
  /** `from`: the session for which the payment counts according to the caller. */
  | { readonly kind: 'carry-over'; readonly from: string; readonly to: string }
  /** When several processes want to look up the payment at the same time, only one of them does so. */
  | { readonly kind: 'look-up'; readonly basedOn: number }
  /**
   * `sessionId`: the session whose report the bureau refuses or cannot give. Does nothing if the payment belongs to another session, or when the
   * account has no automatic refunds.
   */
  | { readonly kind: 'plan-refund'; readonly sessionId: string; readonly refusedAt: Date }
  | { readonly kind: 'drop-refund-plan' }
  /**
   * `sessionId`: the session whose pulls have ended. Does nothing if the payment belongs to another session, or when a refund was already
   * requested. Throws `payment.not_completed` unless the payment has succeeded.
   */
  | {
      readonly kind: 'request-refund';
      readonly sessionId: string;
      readonly reasonCode: RefundReason;
      readonly keepsReport: boolean;
      readonly others?: readonly string[];
    }
  /** The processor refused a refund that was requested with `refundKeyOf` for that number of refusals. */
  | { readonly kind: 'refuse-refund'; readonly refusals: number; readonly code: string }
  /** `basedOn`: the number of known events when the processor was asked. The processor's answer may be out of date by now. */
  | { readonly kind: 'observe'; readonly basedOn: number; readonly intent: ObservedIntent };

export const payment: Decider<PaymentState, PaymentCommand, PaymentEvent> = {
  category: 'payment',
  initial: { status: 'NONE' },
  decide,
  evolve,
};

/** The stream id of the nth transaction of a session. The id is derived, so that two tabs that pay at once open one transaction. */
export function paymentId(sessionId: string, ordinal: number): string {
  return derivedId('payment', sessionId, String(ordinal));
}

const PREFIX = 'txn_';
const AT_CHECKOUT = 'chk_';

/** `reference` is given only for a payment at a hosted checkout. */
export function transactionIdOf(id: string, reference: string | null = null): string {
  return reference ?? PREFIX + id;
}

/** Stream id of the payment made at a hosted checkout. */
export function checkoutPaymentId(reference: string): string {
  return derivedId('payment', reference);
}

/** Null if the text cannot be a transaction id. */
export function paymentIdIn(transactionId: string): string | null {
  if (transactionId.startsWith(AT_CHECKOUT)) return checkoutPaymentId(transactionId);
  return transactionId.startsWith(PREFIX) ? transactionId.slice(PREFIX.length) : null;
}

/** The payment's status for a state of the intent (docs/contract/platform.md#payment-status). */
export function statusOf({ status, lastErrorCode }: Pick<ObservedIntent, 'status' | 'lastErrorCode'>): PaymentStatus {
  switch (status) {
    case 'requires_payment_method':
      return lastErrorCode === null ? 'PENDING' : 'FAILED';
    case 'requires_confirmation':
      return 'PENDING';
    case 'requires_action':
      return 'REQUIRES_ACTION';
    case 'processing':
    case 'requires_capture':
      return 'PROCESSING';
    case 'succeeded':
      return 'SUCCEEDED';
    case 'canceled':
      return 'FAILED';
    default:
      return status satisfies never;
  }
}

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** A payment that the consumer has made is looked up earlier than a payment that may never be made. */
const FIRST_LOOK = { PROCESSING: 10 * SECOND, other: 60 * SECOND };
const LONGEST = 4 * DAY;
/** The time to ask about a refund that the processor has not answered yet. */
const REFUND_LOOKS = { first: 10 * SECOND, longest: DAY };

/**
 * The time to ask the processor when nothing has changed since `since`, the time of the last event. A look-up is an event too. Null if the payment
 * has ended, or after a month of look-ups without changes. A refund is looked up until it is made.
 */
export function lookAt(state: PaymentState, since: string): Date | null {
  if (isRefundOpen(state)) return nextLook(REFUND_LOOKS, state.looks, since) ?? new Date(Date.parse(since) + DAY);
  const planned = plannedRefundAt(state);
  if (planned !== null) return new Date(planned);
  if (!isOpen(state)) return null;
  const first = state.status === 'PROCESSING' ? FIRST_LOOK.PROCESSING : FIRST_LOOK.other;
  return nextLook({ first, longest: LONGEST }, state.looks, since);
}

/** The time of the planned refund by the account's clock (ISO 8601 UTC), while the refund is not requested. */
export function plannedRefundAt(state: PaymentState): string | null {
  return state.status === 'SUCCEEDED' && state.refund === null ? state.refundAt : null;
}

/** The processor allows a change of the intent's amount, and the consumer can pay the intent. */
export function isPayable({ status, canceled }: Payment): boolean {
  return status !== 'PROCESSING' && status !== 'SUCCEEDED' && !canceled;
}

/** A refund was requested, and the processor has not made it. */
export function isRefundOpen(state: PaymentState): state is Paid & { readonly refund: NonNullable<Payment['refund']> } {
  return state.status !== 'NONE' && state.refund?.made === false;
}

/** The whole payment was refunded at the request of the account, the operator or the service. */
export function isRefunded(state: Payment): boolean {
  return state.refund?.made === true;
}

/** The session is unpaid again, so another transaction may follow. */
export function isReturned(state: Payment): boolean {
  return isRefunded(state) && state.refund?.keepsReport === false;
}

type CarryOver = Pick<Extract<PaymentCommand, { kind: 'carry-over' }>, 'from' | 'to'>;

/**
 * The payment counts for `from`, and its whole amount is neither refunded nor about to be. A partial refund that was made at the processor does not
 * matter.
 */
export function mayCarryOver(state: PaymentState, carried: CarryOver): boolean {
  if (state.status !== 'SUCCEEDED' || state.refund !== null) return false;
  return !isWhole(state, state.refundedCents) && leaves(carried, state);
}

/** The processor's key of a refund. The key stays the same until the processor refuses the request under this key. */
export function refundKeyOf(id: string, refusals: number, reference: string | null = null): string {
  return `${transactionIdOf(id, reference)}:refund${refusals === 0 ? '' : `:${refusals}`}`;
}

/** The whole received amount was refunded. */
export function isWhole({ price }: Payment, refundedCents: number): boolean {
  return refundedCents >= price.amountCents;
}

/** An intent exists, and its outcome is still open. */
function isOpen(state: PaymentState): state is Paid {
  return state.status !== 'NONE' && state.paymentIntentId !== null && state.status !== 'SUCCEEDED' && !state.canceled;
}

function decide(command: PaymentCommand, state: PaymentState): readonly PaymentEvent[] {
  if (command.kind === 'open') {
    if (state.status !== 'NONE') return [];
    const { kind: _, ...data } = command;
    return [{ type: 'PaymentOpened', data }];
  }
  if (command.kind === 'take-from-checkout') return state.status === 'NONE' ? takeFromCheckout(command) : [];
  if (state.status === 'NONE') return [];
  switch (command.kind) {
    case 'choose-amount':
      return chooseAmount(command, state);
    case 'abandon':
      return state.paymentIntentId === null && !state.canceled ? [{ type: 'PaymentCanceled', data: {} }] : [];
    case 'carry-over':
      return mayCarryOver(state, command) ? [{ type: 'PaymentCarriedOver', data: { sessionId: command.to } }] : [];
    case 'extend':
      return isGivenBack(state) || [state.sessionId, ...state.others].includes(command.to)
        ? []
        : [
            {
              type: 'PaymentExtended',
              data: { sessionId: command.to, ...(command.newer.includes(state.sessionId) && { isOlder: true }) },
            },
          ];
    case 'look-up':
      return command.basedOn === state.events && (isOpen(state) || isRefundOpen(state))
        ? [{ type: 'PaymentLookedUp', data: {} }]
        : [];
    case 'plan-refund':
      return planRefund(command, state);
    case 'drop-refund-plan':
      return state.refundAt !== null && state.refund === null ? [{ type: 'PaymentRefundPlanDropped', data: {} }] : [];
    case 'request-refund':
      return requestRefund(command, state);
    case 'refuse-refund':
      return isRefundOpen(state) && state.refund.refusals === command.refusals
        ? [{ type: 'PaymentRefundRefused', data: { code: command.code } }]
        : [];
    case 'observe':
      return [...observe(command.intent, command.basedOn, state), ...alteration(command.intent, state)];
    default:
      return command satisfies never;
  }
}

function takeFromCheckout({
  kind: _,
  asked,
  ...data
}: Extract<PaymentCommand, { kind: 'take-from-checkout' }>): readonly PaymentEvent[] {
  const { amountCents, currency } = data;
  return [
    { type: 'PaymentMadeAtCheckout', data },
    ...(amountCents === asked.amountCents && currency === asked.currency ? [] : [altered(amountCents, currency)]),
  ];
}

function chooseAmount(
  { amountCents, applicationFeeCents, intentCents }: Extract<PaymentCommand, { kind: 'choose-amount' }>,
  state: Payment,
): readonly PaymentEvent[] {
  const same =
    state.price.amountCents === amountCents &&
    state.price.applicationFeeCents === applicationFeeCents &&
    intentCents === amountCents;
  if (same || !isPayable(state)) return [];
  return [{ type: 'PaymentAmountChosen', data: { change: state.changes + 1, amountCents, applicationFeeCents } }];
}

function planRefund(
  command: Extract<PaymentCommand, { kind: 'plan-refund' }>,
  { status, sessionId, refund, refundAt, refundAfterDays }: Payment,
): readonly PaymentEvent[] {
  if (sessionId !== command.sessionId) return [];
  if (status !== 'SUCCEEDED' || refund !== null || refundAt !== null || refundAfterDays === null) return [];
  const at = new Date(command.refusedAt.getTime() + refundAfterDays * DAY);
  return [{ type: 'PaymentRefundPlanned', data: { refundAt: at.toISOString() } }];
}

function requestRefund(
  { sessionId, reasonCode, keepsReport, others = [] }: Extract<PaymentCommand, { kind: 'request-refund' }>,
  state: Payment,
): readonly PaymentEvent[] {
  if (state.refund !== null || state.sessionId !== sessionId) return [];
  if (state.status !== 'SUCCEEDED') throw new DomainError('payment.not_completed');
  const { refundedCents } = state;
  return [
    {
      type: 'PaymentRefundRequested',
      data: { reasonCode, ...(keepsReport && { keepsReport }), ...(others.length > 0 && { others }) },
    },
    // The processor had already refunded the whole amount.
    ...(isWhole(state, refundedCents)
      ? [{ type: 'PaymentRefunded', data: { refundedCents, reasonCode } } as const]
      : []),
  ];
}

function observe(intent: ObservedIntent, basedOn: number, state: Payment): readonly PaymentEvent[] {
  if (state.paymentIntentId !== null && state.paymentIntentId !== intent.id) return [];
  const created: PaymentEvent[] =
    state.paymentIntentId === null ? [{ type: 'PaymentIntentCreated', data: { paymentIntentId: intent.id } }] : [];
  const { refundedCents } = intent;
  const reason = isRefundOpen(state) && isWhole(state, refundedCents) && { reasonCode: state.refund.reasonCode };
  const refunded: PaymentEvent[] =
    refundedCents > state.refundedCents ? [{ type: 'PaymentRefunded', data: { refundedCents, ...reason } }] : [];
  if (state.status === 'SUCCEEDED')
    // A smaller amount is a change only if no event was recorded since the processor was asked.
    return refundedCents < state.refundedCents && basedOn >= state.events
      ? [{ type: 'PaymentRefundReversed', data: { refundedCents } }]
      : refunded;
  if (intent.status === 'succeeded') {
    return [
      ...created,
      {
        type: 'PaymentSucceeded',
        data: { paymentIntentId: intent.id, amountCents: intent.receivedCents, currency: intent.currency },
      },
      ...refunded,
    ];
  }
  // Only success is final. Any other answer may already be out of date when it arrives.
  if (basedOn < state.events || state.canceled) return created;
  if (intent.status === 'canceled') return [...created, { type: 'PaymentCanceled', data: {} }];
  const next = statusOf(intent);
  return next === state.status || next === 'SUCCEEDED' ? created : [...created, becoming(next, intent)];
}

/** Includes a renter's earlier session for which the payment counts. The payment may continue to count for the newest session alone. */
function leaves({ from, to }: CarryOver, state: Payment): boolean {
  return state.sessionId === from || (state.sessionId === to && state.others.includes(from));
}

/** The payment is refunded, or a refund is requested. A partial refund that was made at the processor does not matter. */
function isGivenBack(state: Payment): boolean {
  return state.refund !== null || isWhole(state, state.refundedCents);
}

/** Reports each difference once. The received amount still counts as the payment, because the consumer was charged once. */
function alteration({ id, amountCents, currency }: ObservedIntent, state: Payment): readonly PaymentEvent[] {
  const isOurs = state.paymentIntentId === null || state.paymentIntentId === id;
  const isAsAsked = currency === state.currency && state.amounts.includes(amountCents);
  const isKnown = state.altered?.amountCents === amountCents && state.altered.currency === currency;
  return !isOurs || isAsAsked || isKnown ? [] : [altered(amountCents, currency)];
}

function altered(amountCents: number, currency: string): PaymentEvent {
  return { type: 'PaymentIntentAltered', data: { amountCents, currency } };
}

function becoming(status: Exclude<PaymentStatus, 'SUCCEEDED'>, intent: ObservedIntent): PaymentEvent {
  switch (status) {
    case 'PENDING':
      return { type: 'PaymentAwaited', data: {} };
    case 'REQUIRES_ACTION':
      return { type: 'PaymentActionRequired', data: {} };
    case 'PROCESSING':
      return { type: 'PaymentProcessing', data: {} };
    case 'FAILED':
      return { type: 'PaymentDeclined', data: { declineCode: intent.lastErrorCode ?? 'unknown' } };
    default:
      return status satisfies never;
  }
}

function evolve(state: PaymentState, event: PaymentEvent): PaymentState {
  if (event.type === 'PaymentOpened' || event.type === 'PaymentMadeAtCheckout') return begun(event);
  if (state.status === 'NONE') return state;
  const next = { ...state, looks: 0, events: state.events + 1 };
  switch (event.type) {
    case 'PaymentIntentCreated':
      return { ...next, paymentIntentId: event.data.paymentIntentId };
    case 'PaymentAmountChosen': {
      const { amountCents, applicationFeeCents, change } = event.data;
      const amounts = [...new Set([...state.amounts, amountCents])];
      return { ...next, price: { amountCents, applicationFeeCents }, amounts, changes: change };
    }
    case 'PaymentIntentAltered':
      return { ...next, altered: event.data };
    case 'PaymentLookedUp':
      return { ...next, looks: state.looks + 1 };
    case 'PaymentAwaited':
      return { ...next, status: 'PENDING' };
    case 'PaymentActionRequired':
      return { ...next, status: 'REQUIRES_ACTION' };
    case 'PaymentProcessing':
      return { ...next, status: 'PROCESSING' };
    case 'PaymentDeclined':
      return { ...next, status: 'FAILED' };
    case 'PaymentCanceled':
      return { ...next, status: 'FAILED', canceled: true };
    case 'PaymentSucceeded':
      return {
        ...next,
        status: 'SUCCEEDED',
        canceled: false,
        price: { ...state.price, amountCents: event.data.amountCents },
        currency: event.data.currency,
      };
    case 'PaymentCarriedOver':
      // The planned refund concerned the previous session. A report of this session is still possible.
      return {
        ...next,
        sessionId: event.data.sessionId,
        others: [],
        former: [...state.former, ...[...state.others, state.sessionId].filter((id) => id !== event.data.sessionId)],
        refundAt: null,
      };
    case 'PaymentExtended': {
      const { sessionId, isOlder } = event.data;
      if (isOlder) return { ...next, others: [...state.others, sessionId] };
      return { ...next, sessionId, others: [...state.others, state.sessionId], refundAt: null };
    }
    case 'PaymentRefundPlanned':
      return { ...next, refundAt: event.data.refundAt };
    case 'PaymentRefundPlanDropped':
      return { ...next, refundAt: null };
    case 'PaymentRefundRequested': {
      const { reasonCode, keepsReport = false, others = [] } = event.data;
      return { ...next, refund: { reasonCode, keepsReport, others, refusals: 0, made: false } };
    }
    case 'PaymentRefundRefused': {
      const refund = state.refund && { ...state.refund, refusals: state.refund.refusals + 1 };
      // The planned look-ups continue, so that a refund that is refused repeatedly is tried less and less often.
      return { ...next, looks: state.looks, refund };
    }
    case 'PaymentRefunded': {
      const { refundedCents, reasonCode } = event.data;
      const refund = state.refund && { ...state.refund, made: state.refund.made || reasonCode !== undefined };
      return { ...next, refundedCents, refund };
    }
    case 'PaymentRefundReversed':
      return { ...next, refundedCents: event.data.refundedCents };
    default:
      return assertNever(event, state);
  }
}

function begun(event: Extract<PaymentEvent, { type: 'PaymentOpened' | 'PaymentMadeAtCheckout' }>): Payment {
  const { sessionId, ordinal, currency, connectedAccount, amountCents, applicationFeeCents } = event.data;
  const { refundAfterDays, vendor = FIRST_VENDORS.payment } = event.data;
  const price = { amountCents, applicationFeeCents };
  const atCheckout = event.type === 'PaymentMadeAtCheckout' ? event.data : null;
  return {
    status: atCheckout === null ? 'PENDING' : 'SUCCEEDED',
    vendor,
    sessionId,
    former: [],
    others: [],
    reference: atCheckout?.reference ?? null,
    ordinal,
    currency,
    connectedAccount,
    subjectId: event.type === 'PaymentOpened' ? (event.data.subjectId ?? null) : null,
    opened: price,
    price,
    amounts: [amountCents],
    altered: null,
    changes: 0,
    paymentIntentId: atCheckout?.paymentIntentId ?? null,
    canceled: false,
    refundedCents: 0,
    refundAfterDays: refundAfterDays ?? null,
    refundAt: null,
    refund: null,
    looks: 0,
    events: 1,
  };
}
