import { Injectable } from '@nestjs/common';
import type { Attempt } from '../../../external-calls/external-call.js';
import { FIRST_VENDORS } from '../../../kernel/vendor-choice.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import type { ProcessorWebhookEvent } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { checkout, partyIn, type CheckoutState } from '../domain/checkout.js';
import { CheckoutReconciler, hasSession, type WithSession } from './checkout-reconciler.js';
import { PaymentCall, type PaymentCallEnd } from './payment-call.js';

/** A webhook event that names a hosted checkout session. */
export type AboutCheckout = ProcessorWebhookEvent & { readonly checkoutSessionId: string };

/** Fetches the checkout session that an event names, and records the changes. */
@Injectable()
export class FollowCheckoutEvent extends PaymentCall<AboutCheckout> {
  override readonly operation = 'follow-checkout-event';
  override readonly semantics = 'query';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reconciler: CheckoutReconciler,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    { context, vendor }: Attempt,
    event: AboutCheckout,
  ): Promise<PaymentCallEnd> {
    const told = await this.checkoutOf(event, vendor);
    if (told === null) return 'recorded';
    return this.reconciler.look(call, told.id, told.state, { ...context, ...told.owner });
  }

  /** Null if the event names no checkout at the processor that has sent the event, or reports no change. */
  async checkoutOf(
    { environment, checkoutSessionId, transactionId }: AboutCheckout,
    vendor: string = FIRST_VENDORS.payment,
  ): Promise<(LoadedAggregate<WithSession> & { readonly id: string }) | null> {
    const id = transactionId === null ? null : partyIn(transactionId);
    if (id === null) return null;
    const loaded: LoadedAggregate<CheckoutState> = await this.aggregates.load(checkout, id);
    const { owner, state } = loaded;
    if (owner?.environment !== environment || !hasSession(state) || state.opening.vendor !== vendor) return null;
    // A session that is not recorded yet cannot be paid, because no caller has its address.
    if (state.checkoutSessionId !== checkoutSessionId || state.status === 'PAID') return null;
    return { ...loaded, id, state };
  }
}
