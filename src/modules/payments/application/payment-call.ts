// Calls to the payment processor, how they end, and the errors for their callers.
import { Injectable, Logger } from '@nestjs/common';
import { ExternalCall } from '../../../external-calls/external-call.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import type { CallersPart, CheckoutVerdict, IntentVerdict } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import type { Payment, PaymentState } from '../domain/payment.js';

/** `recorded`: the payment has recorded the processor's answer. Any other end is not a fact of the payment, and the caller gets it as an error. */
export type PaymentCallEnd =
  | 'recorded'
  /** The person was erased, so a secret for the person's browser cannot be stored. */
  | 'person-erased'
  /** The intent has changed in the meantime, and its state no longer allows the change. */
  | 'went-on'
  /** The processor refuses a value that the caller gave. */
  | PartRefused
  | Exclude<IntentVerdict['kind'], 'intent'>;

const PART_REFUSED = 'refused:';
type PartRefused = `${typeof PART_REFUSED}${CallersPart}`;

/** The processor's code for a change that the intent's state no longer allows. */
const WENT_ON = 'payment_intent_unexpected_state';

const logger = new Logger('PaymentCall');

/** The calls contain only ids and amounts. The calls are not retried by themselves: the next call continues after a crash. */
@Injectable()
export abstract class PaymentCall<Input> extends ExternalCall<Input, PaymentCallEnd> {
  override readonly vendor = 'payment-processor';

  override async recordNotAsked(): Promise<PaymentCallEnd> {
    return 'unavailable';
  }
}

/** The call goes to the recorded processor. The attempt may name another, if two requests began the payment at the same time. */
export function atProcessor(call: VendorCall, { vendor }: { readonly vendor: string }): VendorCall {
  return { ...call, vendor };
}

type Verdict = IntentVerdict | CheckoutVerdict;

export function endOf(verdict: Pick<IntentVerdict, 'kind'> | Verdict): PaymentCallEnd {
  if (verdict.kind === 'intent' || verdict.kind === 'checkout') return 'recorded';
  if (!('code' in verdict)) return verdict.kind;
  if (verdict.code === WENT_ON) return 'went-on';
  if (verdict.part !== undefined) return `${PART_REFUSED}${verdict.part}`;
  logger.error(`The payment processor refused: ${verdict.code}`);
  return 'refused';
}

/** Whether the processor refused a value that the caller gave. */
export function isPartRefused(end: PaymentCallEnd | null): end is PartRefused {
  return end?.startsWith(PART_REFUSED) === true;
}

export function refusedPart(end: PartRefused): CallersPart {
  return end.slice(PART_REFUSED.length) as CallersPart;
}

/** Whether the request can never succeed under its key. The log then records the end of the transaction. */
export function isHopeless({ kind }: Verdict): boolean {
  return kind === 'refused' || kind === 'not-made';
}

/** Like `isHopeless`, for the end of a call. */
export function isGivenUp(end: PaymentCallEnd): boolean {
  return end === 'refused' || end === 'not-made' || isPartRefused(end);
}

export const NOT_TAKEN = 'is not accepted by the payment processor';

/**
 * Throws the error for a call whose end is not recorded. When the processor refuses a request that the service built, the fault is in the service.
 */
export function refuseUnlessRecorded(end: PaymentCallEnd | null): void {
  if (isPartRefused(end)) {
    if (refusedPart(end) === 'amount')
      throw fieldError('request.invalid', 'payment.amount', `${NOT_TAKEN} in this currency`);
    throw new Error('The payment processor refused the data of a checkout');
  }
  switch (end) {
    case 'recorded':
      return;
    case null:
    case 'timed-out':
      throw new DomainError('service.upstream_timeout');
    case 'unavailable':
    case 'unintelligible':
    // The transaction has ended in the log, so the next call has a key of its own.
    case 'not-made':
      throw new DomainError('service.unavailable', { cause: new Error(`The payment processor's answer: ${end}`) });
    case 'went-on':
      throw new DomainError('payment.already_completed');
    case 'person-erased':
      throw new DomainError('payment.session_not_payable');
    case 'not-found':
      throw new Error('The payment processor does not know an intent of ours');
    case 'refused':
      throw new Error('The payment processor refused a request of ours');
    default:
      return end satisfies never;
  }
}

/** For a look-up by the recovery job. The processor may be unavailable or late: the next look-up is already planned. */
export async function untilNextLook(asked: Promise<PaymentCallEnd>): Promise<void> {
  try {
    refuseUnlessRecorded(await asked);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
}

export function existing(state: PaymentState): Payment {
  if (state.status === 'NONE') throw new DomainError('payment.not_found');
  return state;
}
