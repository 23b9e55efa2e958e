// The transitions of a payment intent. Pure, apart from new ids. Times are milliseconds since 1970.
import { randomBytes } from 'node:crypto';
import { isChargeable } from './amounts.js';
import { ProcessorError, invalid, unexpectedState } from './errors.js';
import { intentObject, messageOf } from './objects.js';
import { behaviourOf } from './payment-methods.js';
import type { Charge, Decline, Intent, Refund, TakenBack } from './state.js';

export type IntentEvent =
  | 'payment_intent.created'
  | 'payment_intent.processing'
  | 'payment_intent.requires_action'
  | 'payment_intent.payment_failed'
  | 'payment_intent.succeeded'
  | 'payment_intent.canceled';

/** `decline`: an error for the caller, although the intent changed. */
export interface IntentChange {
  readonly intent: Intent;
  readonly happened: readonly IntentEvent[];
  readonly decline?: Decline;
}

export interface NewIntent {
  readonly amount: number;
  readonly currency: string;
  readonly applicationFee: number | null;
  readonly destination: string | null;
  readonly metadata: Readonly<Record<string, string | null>>;
  readonly paymentMethod: string | null;
}

export interface ChangedIntent {
  readonly amount: number | null;
  readonly currency: string | null;
  /** Undefined means unchanged, and null means none. */
  readonly applicationFee: number | null | undefined;
  readonly metadata: Readonly<Record<string, string | null>>;
  readonly paymentMethod: string | null;
}

const MIN_AMOUNT = 50;
const MAX_AMOUNT = 99_999_999;
const NOT_AUTHENTICATED: Decline = { code: 'payment_intent_authentication_failure', declineCode: null };

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

export function checkAmount(amount: number, currency: string, param = 'amount'): void {
  if (!isChargeable(amount, currency)) throw invalid(param, 'parameter_invalid_integer', `Invalid amount: ${param}`);
  if (amount < MIN_AMOUNT) throw invalid(param, 'amount_too_small', `Amount must be at least ${MIN_AMOUNT} cents.`);
  if (amount > MAX_AMOUNT) throw invalid(param, 'amount_too_large', `Amount must be no more than ${MAX_AMOUNT} cents.`);
}

export function checkSplit(amount: number, applicationFee: number | null, destination: string | null): void {
  if (destination !== null && !/^acct_\w+$/.test(destination))
    throw invalid('transfer_data[destination]', 'resource_missing', 'No such destination');
  if (destination?.startsWith('acct_missing'))
    throw invalid('transfer_data[destination]', 'resource_missing', 'No such destination');
  if (applicationFee === null) return;
  if (destination === null)
    throw invalid(
      'application_fee_amount',
      null,
      'Can only apply an application fee to a destination payment (transfer_data[destination]).',
    );
  if (applicationFee < 1)
    throw invalid(
      'application_fee_amount',
      'parameter_invalid_integer',
      'Invalid positive integer: application_fee_amount',
    );
  if (applicationFee > amount)
    throw invalid('application_fee_amount', null, 'The application fee must not be more than the amount.');
}

export function createIntent(wanted: NewIntent, now: number): IntentChange {
  checkAmount(wanted.amount, wanted.currency);
  checkSplit(wanted.amount, wanted.applicationFee, wanted.destination);
  if (wanted.paymentMethod !== null) behaviourOf(wanted.paymentMethod);
  const id = newId('pi');
  const intent: Intent = {
    id,
    clientSecret: `${id}_secret_${randomBytes(12).toString('hex')}`,
    status: wanted.paymentMethod === null ? 'requires_payment_method' : 'requires_confirmation',
    amount: wanted.amount,
    currency: wanted.currency,
    applicationFee: wanted.applicationFee,
    destination: wanted.destination,
    metadata: merged({}, wanted.metadata),
    paymentMethod: wanted.paymentMethod,
    lastDecline: null,
    charges: [],
    created: now,
    canceledAt: null,
    settlesAt: null,
  };
  return { intent, happened: ['payment_intent.created'] };
}

export function changeIntent(intent: Intent, wanted: ChangedIntent): IntentChange {
  if (isSettledOrUnderWay(intent)) throw unexpectedState('update', intent, intentObject(intent));
  const amount = wanted.amount ?? intent.amount;
  const applicationFee = wanted.applicationFee === undefined ? intent.applicationFee : wanted.applicationFee;
  checkAmount(amount, wanted.currency ?? intent.currency);
  checkSplit(amount, applicationFee, intent.destination);
  if (wanted.paymentMethod !== null) behaviourOf(wanted.paymentMethod);
  const status =
    wanted.paymentMethod !== null && intent.status === 'requires_payment_method'
      ? 'requires_confirmation'
      : intent.status;
  return {
    intent: {
      ...intent,
      amount,
      applicationFee,
      status,
      currency: wanted.currency ?? intent.currency,
      metadata: merged(intent.metadata, wanted.metadata),
      paymentMethod: wanted.paymentMethod ?? intent.paymentMethod,
    },
    happened: [],
  };
}

export function confirmIntent(intent: Intent, given: string | null, now: number, settleMs: number): IntentChange {
  if (isSettledOrUnderWay(intent)) throw unexpectedState('confirm', intent, intentObject(intent));
  const paymentMethod = given ?? intent.paymentMethod;
  if (paymentMethod === null)
    throw invalid('payment_method', 'parameter_missing', 'A payment method is needed to confirm this PaymentIntent.');
  const behaviour = behaviourOf(paymentMethod);
  const tried: Intent = { ...intent, paymentMethod, lastDecline: null };
  switch (behaviour.kind) {
    case 'succeed':
      return succeeded(tried, now);
    case 'decline':
      return { ...declined(tried, behaviour.decline, now), decline: behaviour.decline };
    case 'authenticate':
      return { intent: { ...tried, status: 'requires_action' }, happened: ['payment_intent.requires_action'] };
    case 'process': {
      const pending = charge(tried, { status: 'pending', decline: null }, now);
      return {
        intent: { ...tried, status: 'processing', charges: [...tried.charges, pending], settlesAt: now + settleMs },
        happened: ['payment_intent.processing'],
      };
    }
    default:
      return behaviour satisfies never;
  }
}

/** Applies the result that the bank's page reports. */
export function authenticateIntent(intent: Intent, passed: boolean, now: number): IntentChange {
  if (intent.status !== 'requires_action') throw unexpectedState('authenticate', intent, intentObject(intent));
  if (!passed) return declined(intent, NOT_AUTHENTICATED, now);
  const behaviour = behaviourOf(intent.paymentMethod ?? '');
  if (behaviour.kind !== 'authenticate' || behaviour.decline === null) return succeeded(intent, now);
  return { ...declined(intent, behaviour.decline, now), decline: behaviour.decline };
}

/** Null if the intent is not processing. */
export function settleIntent(intent: Intent, now: number): IntentChange | null {
  if (intent.status !== 'processing') return null;
  const settled: Intent = { ...intent, charges: intent.charges.slice(0, -1), settlesAt: null };
  const behaviour = behaviourOf(intent.paymentMethod ?? '');
  if (behaviour.kind === 'process' && behaviour.decline !== null) return declined(settled, behaviour.decline, now);
  return succeeded(settled, now, intent.charges.at(-1)?.id);
}

export function cancelIntent(intent: Intent, now: number): IntentChange {
  if (isSettledOrUnderWay(intent)) throw unexpectedState('cancel', intent, intentObject(intent));
  return { intent: { ...intent, status: 'canceled', canceledAt: now }, happened: ['payment_intent.canceled'] };
}

/** Refunds `amount`, or the whole remainder when `amount` is null. */
export function refundIntent(
  intent: Intent,
  amount: number | null,
  { transfer, fee }: TakenBack,
  now: number,
): IntentRefund {
  const paid = intent.charges.find(({ status }) => status === 'succeeded');
  if (paid === undefined)
    throw invalid('payment_intent', null, 'This PaymentIntent does not have a successful charge to refund.');
  const refunded = amountToRefund(paid, amount);
  if (transfer && intent.destination === null)
    throw invalid('reverse_transfer', null, 'The charge has no transfer to reverse.');
  if (fee && intent.applicationFee === null)
    throw invalid('refund_application_fee', null, 'The charge has no application fee to refund.');
  const { takenBack, refunds = [] } = paid;
  const refund: Refund = { id: newId('re'), amount: refunded, created: now };
  const charge: Charge = {
    ...paid,
    refunded: paid.refunded + refunded,
    takenBack: { transfer: transfer || takenBack?.transfer === true, fee: fee || takenBack?.fee === true },
    refunds: [...refunds, refund],
  };
  return { intent: withCharge(intent, charge), charge, refund };
}

function amountToRefund(paid: Charge, amount: number | null): number {
  const left = paid.amount - paid.refunded;
  if (left === 0)
    throw new ProcessorError(400, {
      type: 'invalid_request_error',
      code: 'charge_already_refunded',
      message: 'The charge has already been refunded.',
    });
  const refunded = amount ?? left;
  if (refunded < 1 || refunded > left)
    throw invalid('amount', null, 'The refund must be between one cent and what is not refunded yet.');
  return refunded;
}

/** Makes the bank return the newest refund. Null if the intent has none. */
export function failRefund(intent: Intent): IntentRefund | null {
  const paid = intent.charges.find(({ status }) => status === 'succeeded');
  const made = paid?.refunds?.findLast(({ failed }) => failed !== true);
  if (paid === undefined || made === undefined) return null;
  const refund: Refund = { ...made, failed: true };
  const refunds = paid.refunds?.map((each) => (each.id === made.id ? refund : each)) ?? [];
  const charge: Charge = { ...paid, refunded: paid.refunded - made.amount, refunds };
  return { intent: withCharge(intent, charge), charge, refund };
}

interface IntentRefund {
  readonly intent: Intent;
  readonly charge: Charge;
  readonly refund: Refund;
}

function withCharge(intent: Intent, charge: Charge): Intent {
  return { ...intent, charges: intent.charges.map((each) => (each.id === charge.id ? charge : each)) };
}

export function declineError(decline: Decline, object: object): ProcessorError {
  return new ProcessorError(402, {
    type: 'card_error',
    code: decline.code,
    message: messageOf(decline),
    ...(decline.declineCode === null ? {} : { decline_code: decline.declineCode }),
    payment_intent: object,
  });
}

function isSettledOrUnderWay({ status }: Intent): boolean {
  return status === 'processing' || status === 'succeeded' || status === 'canceled';
}

function succeeded(intent: Intent, now: number, chargeId?: string): IntentChange {
  const paid = charge(intent, { status: 'succeeded', decline: null }, now, chargeId);
  return {
    intent: { ...intent, status: 'succeeded', lastDecline: null, charges: [...intent.charges, paid] },
    happened: ['payment_intent.succeeded'],
  };
}

function declined(intent: Intent, decline: Decline, now: number): IntentChange {
  const failed = charge(intent, { status: 'failed', decline }, now);
  return {
    intent: {
      ...intent,
      status: 'requires_payment_method',
      paymentMethod: null,
      lastDecline: decline,
      charges: [...intent.charges, failed],
    },
    happened: ['payment_intent.payment_failed'],
  };
}

function charge(intent: Intent, outcome: Pick<Charge, 'status' | 'decline'>, now: number, id = newId('ch')): Charge {
  return { id, ...outcome, amount: intent.amount, refunded: 0, created: now };
}

function merged(
  metadata: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const result = new Map(Object.entries(metadata));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) result.delete(key);
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}
