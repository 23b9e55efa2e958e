import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { vendorName } from '../../../external-calls/call-queues.js';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { isId, newId } from '../../../kernel/ids.js';
import { FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PaymentProcessor, type ProcessorWebhookEvent } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { payment, paymentIdIn, type PaymentState } from '../domain/payment.js';
import { FollowCheckoutEvent, type AboutCheckout } from './follow-checkout-event.js';
import { endOf, PaymentCall, refuseUnlessRecorded, type PaymentCallEnd } from './payment-call.js';
import { PaymentReconciler } from './payment-reconciler.js';

/**
 * Handles a verified webhook event from the processor. The service uses only the id in the event: it fetches the named intent or checkout session, so order,
 * repetition and age do not matter. An event that names no payment of this service changes nothing (docs/contract/platform.md#processor-events).
 */
@UseCase()
export class ReceiveProcessorWebhookEvent extends Command<void> {
  constructor(
    readonly event: ProcessorWebhookEvent,
    /** The id of the processor. */
    readonly vendor: string,
    readonly correlationId: string,
  ) {
    super();
  }
}

/** Finds payments by the records in the log, not by the present data of the processor. */
export abstract class PaymentsByIntent {
  /** The id of the payment that recorded this intent of the processor; null if no payment did, or if the payment is not listed yet. */
  abstract withIntent(intentId: string, vendor: string): Promise<string | null>;
}

interface ToldPayment {
  readonly id: string;
  readonly loaded: LoadedAggregate<PaymentState>;
}

/** A webhook event that names an intent. */
type AboutIntent = ProcessorWebhookEvent & { readonly intentId: string };

@Injectable()
export class FollowProcessorEvent extends PaymentCall<AboutIntent> {
  override readonly operation = 'follow-processor-event';
  override readonly semantics = 'query';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly reconciler: PaymentReconciler,
    private readonly payments: PaymentsByIntent,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    { context, vendor }: Attempt,
    event: AboutIntent,
  ): Promise<PaymentCallEnd> {
    let told = await this.paymentOf(event, vendor);
    if (told === 'unlisted') {
      // A refund event does not name the transaction, and the payment may not be listed by its intent yet.
      const verdict = await this.processor.retrieveIntent(call, event.intentId);
      if (verdict.kind !== 'intent') return verdict.kind === 'not-found' ? 'recorded' : endOf(verdict);
      told = await this.paymentOf({ ...event, transactionId: verdict.intent.transactionId }, vendor);
    }
    if (told === null || told === 'unlisted') return 'recorded';
    const { id, loaded } = told;
    const about = { id, context: { ...context, ...loaded.owner } };
    return endOf(await this.reconciler.reconcile(call, about, loaded, event.intentId));
  }

  /**
   * Null if the event names no payment at the processor that has sent the event, or reports no change. Metadata may have been changed or removed at
   * the processor. `unlisted`: the event names no transaction, and its intent is not listed or not listed yet.
   */
  async paymentOf(
    event: AboutIntent,
    vendor: string = FIRST_VENDORS.payment,
  ): Promise<ToldPayment | 'unlisted' | null> {
    const named = event.transactionId === null ? null : paymentIdIn(event.transactionId);
    const told = named !== null && isId(named) ? await this.paymentWith(named, event, vendor) : null;
    if (told !== null) return told;
    const listed = await this.payments.withIntent(event.intentId, vendor);
    if (listed === null && event.transactionId === null) return 'unlisted';
    return listed === null || listed === named ? null : this.paymentWith(listed, event, vendor);
  }

  private async paymentWith(
    id: string,
    { eventId, environment, intentId }: AboutIntent,
    vendor: string,
  ): Promise<ToldPayment | null> {
    const loaded: LoadedAggregate<PaymentState> = await this.aggregates.load(payment, id);
    const { owner, state, history } = loaded;
    if (owner?.environment !== environment) return null;
    // An intent that is not recorded yet cannot be paid, because no browser has its secret. The payment that the intent's metadata names is ignored.
    if (state.status === 'NONE' || state.paymentIntentId !== intentId || state.vendor !== vendor) return null;
    return history.some(({ metadata }) => metadata.$causationId === eventId) ? null : { id, loaded };
  }
}

@Handles(ReceiveProcessorWebhookEvent)
export class ReceiveProcessorWebhookEventHandler implements ICommandHandler<ReceiveProcessorWebhookEvent> {
  constructor(
    private readonly calls: ExternalCalls,
    private readonly followEvent: FollowProcessorEvent,
    private readonly followCheckout: FollowCheckoutEvent,
  ) {}

  async execute({ event, vendor, correlationId }: ReceiveProcessorWebhookEvent): Promise<void> {
    const { checkoutSessionId, intentId } = event;
    if (checkoutSessionId !== null)
      await this.aboutCheckout({ ...event, checkoutSessionId }, attemptOf(event, vendor, correlationId));
    else if (intentId !== null) await this.aboutIntent({ ...event, intentId }, attemptOf(event, vendor, correlationId));
  }

  private async aboutIntent(event: AboutIntent, attempt: Attempt): Promise<void> {
    if (event.transactionId !== null && (await this.followEvent.paymentOf(event, attempt.vendor)) === null) return;
    refuseUnlessRecorded(await this.calls.make(this.followEvent, attempt, event));
  }

  private async aboutCheckout(event: AboutCheckout, attempt: Attempt): Promise<void> {
    if ((await this.followCheckout.checkoutOf(event, attempt.vendor)) === null) return;
    refuseUnlessRecorded(await this.calls.make(this.followCheckout, attempt, event));
  }
}

function attemptOf({ eventId, environment }: ProcessorWebhookEvent, vendor: string, correlationId: string): Attempt {
  const context = {
    accountId: null,
    environment,
    actor: { kind: 'vendor', id: vendorName('payment-processor', vendor) },
    correlationId,
    causationId: eventId,
  } as const;
  return { id: eventId, attemptId: newId(), subject: null, context, vendor };
}
