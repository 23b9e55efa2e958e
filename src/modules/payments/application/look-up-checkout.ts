import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { newId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { vendorCall, type VendorCall } from '../../../ports/vendor-call.js';
import { checkout, lookAt, type Checkout } from '../domain/checkout.js';
import { CheckoutPageStore } from './checkout-page-store.js';
import { CheckoutReconciler, hasSession } from './checkout-reconciler.js';
import { refuseUnlessRecorded, type PaymentCallEnd } from './payment-call.js';

/**
 * Asks the processor about an open checkout session of which nobody has said anything for a while: its notice was lost, or nobody
 * was there to hear it. The session of a person who was erased is expired there. An opening that nobody finished is finished, so that
 * it ends, and what the vault keeps for it with it. Safe to repeat.
 */
@UseCase()
export class LookUpCheckout extends Command<void> {
  constructor(
    readonly partyId: string,
    /** Aborted when the time for the processor's answer is over. */
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

@Handles(LookUpCheckout)
export class LookUpCheckoutHandler implements ICommandHandler<LookUpCheckout> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reconciler: CheckoutReconciler,
    private readonly pages: CheckoutPageStore,
    private readonly clock: Clock,
  ) {}

  async execute({ partyId, signal }: LookUpCheckout): Promise<void> {
    const loaded = await this.aggregates.load(checkout, partyId);
    const { state, history } = loaded;
    const last = history.at(-1)?.metadata;
    if (state.status === 'NONE' || last === undefined) return;
    const due = lookAt(state, last.occurredAt);
    if (due === null || this.clock.now() < due) return;
    const context = systemContext('checkout-sweep', last);
    // Recorded first: an answer that never comes must not have it asked again and again.
    const look = { kind: 'look-up', basedOn: state.events } as const;
    const { events } = await this.aggregates.execute(checkout, partyId, look, context, loaded);
    if (events.length === 0) return;
    const call = { ...vendorCall(newId(), null, context, undefined, partyId), signal };
    try {
      refuseUnlessRecorded(await this.ask(call, partyId, state, context));
    } catch (error) {
      // The processor is away or late: the next look is planned already.
      if (!(error instanceof DomainError)) throw error;
    }
  }

  private async ask(call: VendorCall, id: string, state: Checkout, context: ActionContext): Promise<PaymentCallEnd> {
    if (!hasSession(state)) return this.reconciler.createOrEnd(call, id, state, context);
    const isErased = (await this.pages.of(state.opening)) === 'erased';
    return isErased
      ? this.reconciler.expire(call, id, state, context, false)
      : this.reconciler.look(call, id, state, context);
  }
}
