// Retrieves intents from the processor and records their state. Every call to the processor uses this class, so that all calls record in the same
// way. WhenPaymentProgressed notifies the session.
import { Injectable } from '@nestjs/common';
import type { ActionContext, Owner } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { PaymentProcessor, type IntentVerdict, type PaymentIntent } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { Screenings } from '../../../published/screenings.js';
import { payment, type Payment, type PaymentState } from '../domain/payment.js';
import { atProcessor, existing } from './payment-call.js';
import { PaymentSecrets } from './payment-secrets.js';

export interface Observed {
  readonly kind: 'intent';
  readonly payment: LoadedAggregate<PaymentState> & { readonly state: Payment };
  readonly intent: PaymentIntent;
}
type NoIntent = Exclude<IntentVerdict, { kind: 'intent' }>;

/** Observes changes of money that were made outside the service; for monitoring. */
export abstract class AlteredPaymentObserver {
  /** The intent was changed at the processor. */
  abstract altered(paymentId: string, owner: Owner): void;
  /** A refund was made and has been returned: the consumer does not have the money. */
  abstract refundReversed(paymentId: string, owner: Owner): void;
}

/** Asks the processor again when another process recorded a change in the meantime. */
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

  /** Retrieves the intent of a payment that has an intent, and records the changes. */
  async reconcile(
    call: VendorCall,
    { id, context }: { readonly id: string; readonly context: ActionContext },
    loaded: LoadedAggregate<PaymentState>,
    paymentIntentId: string,
  ): Promise<Observed | NoIntent> {
    let known = loaded;
    for (let look = 1; ; look++) {
      const verdict = await this.processor.retrieveIntent(atProcessor(call, existing(loaded.state)), paymentIntentId);
      if (verdict.kind !== 'intent') return verdict;
      const observed = await this.record(id, known, verdict.intent, context);
      if (observed.payment.state.events - observed.recorded === eventsOf(known) || look === MAX_LOOKS) return observed;
      known = observed.payment;
    }
  }

  /** Records the processor's answer. `known` is the newest state that was known when the processor was asked. */
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
    const { events, ...loaded } = await this.aggregates.execute(payment, { id, known }, command, context);
    const state = existing(loaded.state);
    if (events.some(({ type }) => type === 'PaymentIntentAltered')) this.observer.altered(id, context);
    if (events.some(({ type }) => type === 'PaymentRefundReversed')) this.observer.refundReversed(id, context);
    const ended = events.some(({ type }) => type === 'PaymentSucceeded' || type === 'PaymentCanceled');
    if (ended) await this.forgetSecret(id, state);
    return { kind: 'intent', payment: { ...loaded, state }, intent, recorded: events.length };
  }

  /** A payment from before subjects were recorded may have stored its secret under the session's subject. */
  private async forgetSecret(id: string, { sessionId, subjectId }: Payment): Promise<void> {
    const keptUnder = subjectId ?? (await this.screenings.find(sessionId))?.subjectId;
    if (keptUnder !== undefined) await this.secrets.forget(keptUnder, id);
  }
}

function eventsOf({ state }: LoadedAggregate<PaymentState>): number {
  return state.status === 'NONE' ? 0 : state.events;
}
