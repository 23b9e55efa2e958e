// One payment transaction of a screening session: one intent at the processor, from opened to SUCCEEDED or canceled.
// Source: docs/contract/platform.md#payments and the sections after it.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { derivedId } from '../../../kernel/ids.js';
import { nextLook } from './look-schedule.js';

export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED';

/** Integer cents; `applicationFeeCents` is a part of the amount. */
export interface Price {
  readonly amountCents: number;
  readonly applicationFeeCents: number;
}

export type PaymentEvent =
  | DomainEvent<
      'PaymentOpened',
      Price & {
        readonly sessionId: string;
        /** Counts the transactions of the session, from 0. */
        readonly ordinal: number;
        /** Lowercase ISO 4217. */
        readonly currency: string;
        /** Account at the processor that receives the money; null: the platform. */
        readonly connectedAccount: string | null;
        /** Vault subject under which the secret for the browser is kept. Absent in what was stored before it was kept. */
        readonly subjectId?: string;
      }
    >
  | DomainEvent<'PaymentIntentCreated', { readonly paymentIntentId: string }>
  /** The caller wants another amount; the intent is changed after this is recorded. `change` counts from 1. */
  | DomainEvent<'PaymentAmountChosen', Price & { readonly change: number }>
  /** The processor waits for a payment method or a confirmation again. */
  | DomainEvent<'PaymentAwaited', Record<never, never>>
  | DomainEvent<'PaymentActionRequired', Record<never, never>>
  | DomainEvent<'PaymentProcessing', Record<never, never>>
  /** A try was declined; another may follow on the same intent. `declineCode` is the processor's. */
  | DomainEvent<'PaymentDeclined', { readonly declineCode: string }>
  /** By the processor, or by us because the processor would not have the intent at all. */
  | DomainEvent<'PaymentCanceled', Record<never, never>>
  /** What was received in the end; once a transaction, for ever. */
  | DomainEvent<
      'PaymentSucceeded',
      { readonly paymentIntentId: string; readonly amountCents: number; readonly currency: string }
    >
  /** The session that it paid for can have no report: it counts for a newer one of the same person. */
  | DomainEvent<'PaymentCarriedOver', { readonly sessionId: string }>
  /** There was no notice for a while: the processor is about to be asked. What it says, if anything new, follows. */
  | DomainEvent<'PaymentLookedUp', Record<never, never>>
  /** In all so far. A refund re-locks nothing. */
  | DomainEvent<'PaymentRefunded', { readonly refundedCents: number }>;

export interface Payment {
  readonly status: PaymentStatus;
  /** For which it counts now. */
  readonly sessionId: string;
  readonly ordinal: number;
  readonly currency: string;
  readonly connectedAccount: string | null;
  /** Of the vault; null where no secret is kept. */
  readonly subjectId: string | null;
  /** What the intent is created with, so that creating it again is the same request. */
  readonly opened: Price;
  readonly price: Price;
  readonly changes: number;
  readonly paymentIntentId: string | null;
  readonly canceled: boolean;
  readonly refundedCents: number;
  /** At the processor, since something last changed. */
  readonly looks: number;
  /** Counts the events: an observation that was made before the newest of them may be out of date. */
  readonly events: number;
}

export type PaymentState = { readonly status: 'NONE' } | Payment;

/** The processor's own words. */
export type IntentStatus =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'requires_capture'
  | 'succeeded'
  | 'canceled';

/** An intent as the processor was seen to have it. */
export interface ObservedIntent {
  readonly id: string;
  readonly status: IntentStatus;
  readonly receivedCents: number;
  readonly refundedCents: number;
  readonly currency: string;
  readonly lastErrorCode: string | null;
}

export type PaymentCommand =
  /** Does nothing when it is open already. */
  | (Price & {
      readonly kind: 'open';
      readonly sessionId: string;
      readonly ordinal: number;
      readonly currency: string;
      readonly connectedAccount: string | null;
      readonly subjectId?: string;
    })
  /** `intentCents` is what the intent was last seen to be over: two changes at once may have been executed in the other order. */
  | (Price & { readonly kind: 'choose-amount'; readonly intentCents: number })
  /** The processor refused to create the intent; decides nothing when there is one. */
  | { readonly kind: 'abandon' }
  /** `from`: the session for which it is thought to count. */
  | { readonly kind: 'carry-over'; readonly from: string; readonly to: string }
  /** Of several that want to look at the same time one does. */
  | { readonly kind: 'look-up'; readonly basedOn: number }
  /** `basedOn` is the number of events that were known when the processor was asked: what it said may have been overtaken since. */
  | { readonly kind: 'observe'; readonly basedOn: number; readonly intent: ObservedIntent };

export const payment: Decider<PaymentState, PaymentCommand, PaymentEvent> = {
  category: 'payment',
  initial: { status: 'NONE' },
  decide,
  evolve,
};

/** Stream id of the nth transaction of a session: derived, so that two tabs that pay at once open one. */
export function paymentId(sessionId: string, ordinal: number): string {
  return derivedId('payment', sessionId, String(ordinal));
}

const PREFIX = 'txn_';

export function transactionIdOf(id: string): string {
  return PREFIX + id;
}

/** Null when the text cannot be a transaction id. */
export function paymentIdIn(transactionId: string): string | null {
  return transactionId.startsWith(PREFIX) ? transactionId.slice(PREFIX.length) : null;
}

/** What an intent at the processor means for the payment (docs/contract/platform.md#payment-status). */
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
/** A payment that the consumer has made is asked for sooner than one that may never be made. */
const FIRST_LOOK = { PROCESSING: 10 * SECOND, other: 60 * SECOND };
const LONGEST = 4 * DAY;

/**
 * When the processor is to be asked without a notice since `since`, the time of the last event, which a look is too.
 * Null when the payment is over, or when it was looked up in vain for a month.
 */
export function lookAt(state: PaymentState, since: string): Date | null {
  if (!isOpen(state)) return null;
  const first = state.status === 'PROCESSING' ? FIRST_LOOK.PROCESSING : FIRST_LOOK.other;
  return nextLook({ first, longest: LONGEST }, state.looks, since);
}

/** The processor lets its amount be changed, and the consumer pay it. */
export function isPayable({ status, canceled }: Payment): boolean {
  return status !== 'PROCESSING' && status !== 'SUCCEEDED' && !canceled;
}

/** There is an intent, and something may still come of it. */
function isOpen(state: PaymentState): state is Payment & { readonly paymentIntentId: string } {
  return state.status !== 'NONE' && state.paymentIntentId !== null && state.status !== 'SUCCEEDED' && !state.canceled;
}

function decide(command: PaymentCommand, state: PaymentState): readonly PaymentEvent[] {
  if (command.kind === 'open') {
    if (state.status !== 'NONE') return [];
    const { kind: _, ...data } = command;
    return [{ type: 'PaymentOpened', data }];
  }
  if (state.status === 'NONE') return [];
  switch (command.kind) {
    case 'choose-amount': {
      const { amountCents, applicationFeeCents, intentCents } = command;
      const same =
        state.price.amountCents === amountCents &&
        state.price.applicationFeeCents === applicationFeeCents &&
        intentCents === amountCents;
      if (same || !isPayable(state)) return [];
      return [{ type: 'PaymentAmountChosen', data: { change: state.changes + 1, amountCents, applicationFeeCents } }];
    }
    case 'abandon':
      return state.paymentIntentId === null && !state.canceled ? [{ type: 'PaymentCanceled', data: {} }] : [];
    case 'carry-over':
      return state.status === 'SUCCEEDED' && state.refundedCents === 0 && state.sessionId === command.from
        ? [{ type: 'PaymentCarriedOver', data: { sessionId: command.to } }]
        : [];
    case 'look-up':
      return command.basedOn === state.events && isOpen(state) ? [{ type: 'PaymentLookedUp', data: {} }] : [];
    case 'observe':
      return observe(command.intent, command.basedOn, state);
    default:
      return command satisfies never;
  }
}

function observe(intent: ObservedIntent, basedOn: number, state: Payment): readonly PaymentEvent[] {
  if (state.paymentIntentId !== null && state.paymentIntentId !== intent.id) return [];
  const created: PaymentEvent[] =
    state.paymentIntentId === null ? [{ type: 'PaymentIntentCreated', data: { paymentIntentId: intent.id } }] : [];
  const refunded: PaymentEvent[] =
    intent.refundedCents > state.refundedCents
      ? [{ type: 'PaymentRefunded', data: { refundedCents: intent.refundedCents } }]
      : [];
  if (state.status === 'SUCCEEDED') return refunded;
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
  // Only success is final; anything else may have been overtaken while it was on its way.
  if (basedOn < state.events || state.canceled) return created;
  if (intent.status === 'canceled') return [...created, { type: 'PaymentCanceled', data: {} }];
  const next = statusOf(intent);
  return next === state.status || next === 'SUCCEEDED' ? created : [...created, becoming(next, intent)];
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
  if (event.type === 'PaymentOpened') {
    const { sessionId, ordinal, currency, connectedAccount, subjectId, amountCents, applicationFeeCents } = event.data;
    const price = { amountCents, applicationFeeCents };
    return {
      status: 'PENDING',
      sessionId,
      ordinal,
      currency,
      connectedAccount,
      subjectId: subjectId ?? null,
      opened: price,
      price,
      changes: 0,
      paymentIntentId: null,
      canceled: false,
      refundedCents: 0,
      looks: 0,
      events: 1,
    };
  }
  if (state.status === 'NONE') return state;
  const next = { ...state, looks: 0, events: state.events + 1 };
  switch (event.type) {
    case 'PaymentIntentCreated':
      return { ...next, paymentIntentId: event.data.paymentIntentId };
    case 'PaymentAmountChosen': {
      const { amountCents, applicationFeeCents, change } = event.data;
      return { ...next, price: { amountCents, applicationFeeCents }, changes: change };
    }
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
      };
    case 'PaymentCarriedOver':
      return { ...next, sessionId: event.data.sessionId };
    case 'PaymentRefunded':
      return { ...next, refundedCents: event.data.refundedCents };
    default:
      return assertNever(event, state);
  }
}
