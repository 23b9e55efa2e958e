// Asks the processor how an intent is and records what it says. Used by every call to the processor, so that all of them say
// the same. The session is told by WhenPaymentProgressed.
import { Injectable } from '@nestjs/common';
import type { ActionContext, Owner } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type IntentVerdict, type PaymentIntent } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { Screenings } from '../../../published/screenings.js';
import { payment, type Payment, type PaymentState } from '../domain/payment.js';
import { existing } from './payment-call.js';
import { PaymentSecrets } from './payment-secrets.js';

export interface Observed {
  readonly kind: 'intent';
  readonly payment: LoadedAggregate<PaymentState> & { readonly state: Payment };
  readonly intent: PaymentIntent;
}
type NoIntent = Exclude<IntentVerdict, { kind: 'intent' }>;

/** Hears what became of money behind the service's back, for those who watch it. */
export abstract class AlteredPaymentObserver {
  /** The intent was changed at the processor. */
  abstract altered(paymentId: string, owner: Owner): void;
  /** A refund that was made has come back: the consumer does not have the money. */
  abstract refundReversed(paymentId: string, owner: Owner): void;
}

/** Asks the processor again when another process recorded something meanwhile. */
const MAX_LOOKS = 3;

@Injectable()
export class PaymentReconciler {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly secrets: PaymentSecrets,
    private readonly screenings: Screenings,
    private readonly observer: AlteredPaymentObserver,
  ) {}

  /** Retrieves the intent of a payment that has one, and records what is new. */
  async reconcile(
    call: VendorCall,
    id: string,
    loaded: LoadedAggregate<PaymentState>,
    paymentIntentId: string,
    context: ActionContext,
  ): Promise<Observed | NoIntent> {
    let known = loaded;
    for (let look = 1; ; look++) {
      const verdict = await this.processor.retrieveIntent(call, paymentIntentId);
      if (verdict.kind !== 'intent') return verdict;
      const observed = await this.record(id, known, verdict.intent, context);
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
    const { status, amountCents, receivedCents, refundedCents, currency, lastErrorCode } = intent;
    const command = {
      kind: 'observe',
      basedOn: eventsOf(known),
      intent: { id: intent.id, status, amountCents, receivedCents, refundedCents, currency, lastErrorCode },
    } as const;
    const { events, ...loaded } = await this.aggregates.execute(payment, id, command, context, known);
    const state = existing(loaded.state);
    if (events.some(({ type }) => type === 'PaymentIntentAltered')) this.observer.altered(id, context);
    if (events.some(({ type }) => type === 'PaymentRefundReversed')) this.observer.refundReversed(id, context);
    const ended = events.some(({ type }) => type === 'PaymentSucceeded' || type === 'PaymentCanceled');
    if (ended) await this.forgetSecret(id, state);
    return { kind: 'intent', payment: { ...loaded, state }, intent, recorded: events.length };
  }

  /** Of a payment that was opened before it recorded a subject, the secret is kept under that of its session, once it is taken up. */
  private async forgetSecret(id: string, { sessionId, subjectId }: Payment): Promise<void> {
    const keptUnder = subjectId ?? (await this.screenings.find(sessionId))?.subjectId;
    if (keptUnder !== undefined) await this.secrets.forget(keptUnder, id);
  }
}

function eventsOf({ state }: LoadedAggregate<PaymentState>): number {
  return state.status === 'NONE' ? 0 : state.events;
}
