// Asks the processor how an intent is and records what it says. Used by every path that hears of a payment, so that all of
// them say the same. The session is told by WhenPaymentProgressed.
import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type IntentVerdict, type PaymentIntent } from '../../../ports/payment-processor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { payment, type Payment, type PaymentState } from '../domain/payment.js';

export interface Observed {
  readonly payment: LoadedAggregate<PaymentState> & { readonly state: Payment };
  readonly intent: PaymentIntent;
}

/** Looks at the processor again when somebody else recorded something while it was being asked. */
const MAX_LOOKS = 3;

@Injectable()
export class PaymentReconciler {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
  ) {}

  /** Retrieves the intent of a payment that has one. Throws a refusal when the processor cannot say. */
  async reconcile(
    id: string,
    loaded: LoadedAggregate<PaymentState>,
    paymentIntentId: string,
    context: ActionContext,
  ): Promise<Observed> {
    let known = loaded;
    for (let look = 1; ; look++) {
      const intent = intentOf(await this.processor.retrieveIntent(vendorCall(newId(), null, context), paymentIntentId));
      const observed = await this.record(id, known, intent, context);
      if (observed.payment.state.events - observed.recorded === eventsOf(known) || look === MAX_LOOKS) return observed;
      known = observed.payment;
    }
  }

  /** Records what the processor was seen to say when `known` was the newest. */
  async record(
    id: string,
    known: LoadedAggregate<PaymentState>,
    intent: PaymentIntent,
    context: ActionContext,
  ): Promise<Observed & { readonly recorded: number }> {
    const { status, receivedCents, refundedCents, currency, lastErrorCode } = intent;
    const command = {
      kind: 'observe',
      basedOn: eventsOf(known),
      intent: { id: intent.id, status, receivedCents, refundedCents, currency, lastErrorCode },
    } as const;
    const { events, ...loaded } = await this.aggregates.execute(payment, id, command, context, known);
    const { state } = loaded;
    if (state.status === 'NONE') throw new DomainError('payment.not_found');
    return { payment: { ...loaded, state }, intent, recorded: events.length };
  }
}

function eventsOf({ state }: LoadedAggregate<PaymentState>): number {
  return state.status === 'NONE' ? 0 : state.events;
}

/** The intent, or the refusal that the caller hears. A processor that refuses what we made is a fault of ours. */
export function intentOf(verdict: IntentVerdict): PaymentIntent {
  switch (verdict.kind) {
    case 'intent':
      return verdict.intent;
    case 'timed-out':
      throw new DomainError('service.upstream_timeout');
    case 'unavailable':
    case 'unintelligible':
      throw new DomainError('service.unavailable', {
        cause: new Error(`The payment processor's answer: ${verdict.kind}`),
      });
    case 'not-found':
      throw new Error('The payment processor does not know an intent of ours');
    case 'refused':
      throw new Error(`The payment processor refused: ${verdict.code}`);
    default:
      return verdict satisfies never;
  }
}
