// The hosted checkout of a renter. Each renter has one stream, with at most one open session at the processor. A renter who has paid does not pay
// again within the guard period. Source: docs/contract/direct.md#checkout.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { isId } from '../../../kernel/ids.js';
import { FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { nextLook } from './look-schedule.js';
import type { Price } from './payment.js';

/** The renter's newest screening session. Times are ISO 8601 UTC. */
export interface Registration {
  readonly sessionId: string;
  readonly registeredAt: string;
}

/** The sections that the renter's report omits. An absent flag means that the caller gave none. */
export interface ReportFlags {
  readonly excludeBackground?: boolean;
  readonly excludeHousingCourt?: boolean;
}

/** The request to the processor. The vault stores the return addresses and the caller's other options. */
export interface Opening extends Price {
  /** The number of this opening among the renter's openings, from 0. */
  readonly ordinal: number;
  /** Identifies the caller's request for this opening, and the vault entry of the opening. */
  readonly attemptId: string;
  /** The vault subject. */
  readonly subjectId: string;
  /** Lowercase ISO 4217. */
  readonly currency: string;
  /** The account at the processor that receives the money; null means the platform. */
  readonly connectedAccount: string | null;
  readonly reportFlags: ReportFlags;
  /** The account's setting at that time: the days from the first refused pull to the refund. Absent if the account had no automatic refunds. */
  readonly refundAfterDays?: number;
  /** The payment processor. Absent in older events, which used the first processor. */
  readonly vendor?: string;
}

export type CheckoutEvent =
  /** The service will ask the processor for a session. */
  | DomainEvent<'CheckoutOpened', Opening & Registration>
  | DomainEvent<
      'CheckoutSessionCreated',
      { readonly ordinal: number; readonly checkoutSessionId: string; readonly expiresAt: string }
    >
  /** The processor refused to make the session, or can no longer be asked to make it. No caller received its address. */
  | DomainEvent<'CheckoutAbandoned', { readonly ordinal: number }>
  /** The session expired unpaid at the processor, so that another may be opened. */
  | DomainEvent<'CheckoutReplaced', { readonly ordinal: number }>
  | DomainEvent<'CheckoutExpired', { readonly ordinal: number }>
  /** Recorded once for each opening. `sessionId`: the renter's newest screening session at that moment. */
  | DomainEvent<
      'CheckoutPaid',
      {
        readonly ordinal: number;
        readonly sessionId: string;
        readonly paymentIntentId: string;
        readonly amountCents: number;
        readonly currency: string;
        readonly paidAt: string;
      }
    >
  /** The whole payment was refunded. In older events, any part of the payment was refunded. The renter may pay again. */
  | DomainEvent<'CheckoutRefunded', { readonly ordinal: number }>
  /** The checkout had no change for some time, so the service will ask the processor. A change in the processor's answer follows as an event. */
  | DomainEvent<'CheckoutLookedUp', Record<never, never>>
  /** The renter has a newer screening session. A payment counts for that session from now on. */
  | DomainEvent<'RenterRegisteredAnew', Registration>;

export interface Checkout {
  /** OPENING: a request to the processor is in progress, or its process died. ENDED: the opening ended without a payment. */
  readonly status: 'OPENING' | 'OPEN' | 'ENDED' | 'PAID';
  /** `sessionId`: the newest screening session at the opening. `vendor`: the processor of all calls for this opening. */
  readonly opening: Opening & Pick<Registration, 'sessionId'> & { readonly vendor: string };
  /** The newest screening session now. */
  readonly newest: Registration;
  /** `cs_...` of this opening; null until the session exists. */
  readonly checkoutSessionId: string | null;
  readonly expiresAt: string | null;
  /** The last payment; null if it was refunded. */
  readonly paidBy: { readonly ordinal: number; readonly at: string } | null;
  /** The number of look-ups at the processor since the last change. */
  readonly looks: number;
  readonly events: number;
}

export type CheckoutState = { readonly status: 'NONE' } | Checkout;

/** A checkout session as last seen at the processor. */
export interface ObservedCheckout {
  readonly id: string;
  readonly status: 'open' | 'complete' | 'expired';
  /** Null unless the session is paid. */
  readonly payment: { readonly intentId: string; readonly amountCents: number; readonly currency: string } | null;
}

export type CheckoutCommand =
  /** Does nothing if another opening has not ended. Throws `checkout.already_paid` within the guard period after a payment. */
  | (Omit<Opening, 'ordinal'> & {
      readonly kind: 'open';
      readonly now: Date;
      readonly guardSeconds: number;
      readonly newest: Registration;
    })
  | {
      readonly kind: 'record-session';
      readonly ordinal: number;
      readonly checkoutSessionId: string;
      readonly expiresAt: string;
    }
  | { readonly kind: 'abandon'; readonly ordinal: number }
  /** `toReplace`: the session was expired so that another may be opened. */
  | {
      readonly kind: 'observe';
      readonly now: Date;
      readonly session: ObservedCheckout;
      readonly toReplace: boolean;
    }
  | { readonly kind: 'record-refund'; readonly ordinal: number }
  /** When several processes want to look up the checkout at the same time, only one of them does so. */
  | { readonly kind: 'look-up'; readonly basedOn: number }
  | ({ readonly kind: 'register' } & Registration);

export const checkout: Decider<CheckoutState, CheckoutCommand, CheckoutEvent> = {
  category: 'checkout',
  initial: { status: 'NONE' },
  decide,
  evolve,
};

const REFERENCE = /^chk_([\w-]{36})_(0|[1-9]\d{0,8})$/;

/** The name of one opening at the processor. Account holders know this name as a transaction id. */
export function checkoutReference(partyId: string, ordinal: number): string {
  return `chk_${partyId}_${ordinal}`;
}

/** The renter that a reference names; null for any other text. */
export function partyIn(reference: string): string | null {
  const [, partyId = ''] = REFERENCE.exec(reference) ?? [];
  return isId(partyId) ? partyId : null;
}

/** A renter who paid at `paidAt` does not pay again until this time, even in a newer session. */
export function guardEnd(paidAt: string, guardSeconds: number): Date {
  return new Date(Date.parse(paidAt) + guardSeconds * 1_000);
}

const MINUTE = 60_000;
const SCHEDULE = { first: MINUTE, longest: 240 * MINUTE };

/**
 * The time to ask the processor when nothing has changed since `since`, the time of the last event. Null if no opening is in progress. During an
 * opening, the question is about the session, in case the process of the opening died.
 */
export function lookAt(state: CheckoutState, since: string): Date | null {
  return isUnderWay(state) ? nextLook(SCHEDULE, state.looks, since) : null;
}

function isUnderWay(state: CheckoutState): state is Checkout & { readonly status: 'OPENING' | 'OPEN' } {
  return state.status === 'OPENING' || state.status === 'OPEN';
}

function decide(command: CheckoutCommand, state: CheckoutState): readonly CheckoutEvent[] {
  if (command.kind === 'open') return open(command, state);
  if (state.status === 'NONE') return [];
  const { ordinal } = state.opening;
  switch (command.kind) {
    case 'record-session': {
      const { kind: _, ...data } = command;
      return state.status === 'OPENING' && command.ordinal === ordinal
        ? [{ type: 'CheckoutSessionCreated', data }]
        : [];
    }
    case 'abandon':
      return state.status === 'OPENING' && command.ordinal === ordinal
        ? [{ type: 'CheckoutAbandoned', data: { ordinal } }]
        : [];
    case 'observe':
      return observe(command, state);
    case 'record-refund':
      return state.paidBy?.ordinal === command.ordinal
        ? [{ type: 'CheckoutRefunded', data: { ordinal: command.ordinal } }]
        : [];
    case 'look-up':
      return command.basedOn === state.events && isUnderWay(state) ? [{ type: 'CheckoutLookedUp', data: {} }] : [];
    case 'register': {
      const { sessionId, registeredAt } = command;
      const known = sessionId === state.newest.sessionId || registeredAt < state.newest.registeredAt;
      return known ? [] : [{ type: 'RenterRegisteredAnew', data: { sessionId, registeredAt } }];
    }
    default:
      return command satisfies never;
  }
}

function open(
  { kind: _, now, guardSeconds, newest, ...rest }: Extract<CheckoutCommand, { kind: 'open' }>,
  state: CheckoutState,
): readonly CheckoutEvent[] {
  if (isUnderWay(state)) return [];
  if (state.status !== 'NONE' && state.paidBy !== null && now < guardEnd(state.paidBy.at, guardSeconds))
    throw new DomainError('checkout.already_paid');
  const ordinal = state.status === 'NONE' ? 0 : state.opening.ordinal + 1;
  return [{ type: 'CheckoutOpened', data: { ...rest, ordinal, ...newest } }];
}

/** A payment counts even if the session was recorded as ended before. */
function observe(
  { now, session, toReplace }: Extract<CheckoutCommand, { kind: 'observe' }>,
  state: Checkout,
): readonly CheckoutEvent[] {
  if (session.id !== state.checkoutSessionId || state.status === 'PAID') return [];
  const { ordinal } = state.opening;
  if (session.payment !== null) {
    const { intentId, amountCents, currency } = session.payment;
    const { sessionId } = state.newest;
    const paidAt = now.toISOString();
    return [
      { type: 'CheckoutPaid', data: { ordinal, sessionId, paymentIntentId: intentId, amountCents, currency, paidAt } },
    ];
  }
  if (state.status !== 'OPEN' || session.status !== 'expired') return [];
  return [{ type: toReplace ? 'CheckoutReplaced' : 'CheckoutExpired', data: { ordinal } }];
}

function evolve(state: CheckoutState, event: CheckoutEvent): CheckoutState {
  if (event.type === 'CheckoutOpened') {
    const { registeredAt, vendor = FIRST_VENDORS.payment, ...opening } = event.data;
    const { sessionId } = opening;
    const known = state.status === 'NONE' ? null : state;
    const newest =
      known !== null && known.newest.registeredAt > registeredAt ? known.newest : { sessionId, registeredAt };
    return {
      status: 'OPENING',
      opening: { ...opening, vendor },
      newest,
      checkoutSessionId: null,
      expiresAt: null,
      paidBy: known?.paidBy ?? null,
      looks: 0,
      events: (known?.events ?? 0) + 1,
    };
  }
  if (state.status === 'NONE') return state;
  const next = { ...state, looks: 0, events: state.events + 1 };
  switch (event.type) {
    case 'CheckoutSessionCreated': {
      const { checkoutSessionId, expiresAt } = event.data;
      return { ...next, status: 'OPEN', checkoutSessionId, expiresAt };
    }
    case 'CheckoutAbandoned':
    case 'CheckoutReplaced':
    case 'CheckoutExpired':
      return { ...next, status: 'ENDED' };
    case 'CheckoutPaid':
      return { ...next, status: 'PAID', paidBy: { ordinal: event.data.ordinal, at: event.data.paidAt } };
    case 'CheckoutLookedUp':
      return { ...next, looks: state.looks + 1 };
    // The next two events do not concern the opening itself, so the planned look-ups continue.
    case 'CheckoutRefunded':
      return { ...next, looks: state.looks, paidBy: null };
    case 'RenterRegisteredAnew':
      return { ...next, looks: state.looks, newest: event.data };
    default:
      return assertNever(event, state);
  }
}
