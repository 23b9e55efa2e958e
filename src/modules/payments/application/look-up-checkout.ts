import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext, type ActionContext } from '../../../kernel/context.js';
import { machineTimeOf } from '../../../kernel/domain-event.js';
import { newId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { vendorCall, type VendorCall } from '../../../ports/vendor-call.js';
import { checkout, lookAt, type Checkout } from '../domain/checkout.js';
import { CheckoutPageStore } from './checkout-page-store.js';
import { CheckoutReconciler, hasSession } from './checkout-reconciler.js';
import { untilNextLook, type PaymentCallEnd } from './payment-call.js';

/**
 * Asks the processor about an open checkout session without changes for some time, because its webhook event may be lost. Expires the session of an
 * erased person at the processor. Ends an abandoned opening, so that the vault's values for it are removed too. Safe to repeat.
 */
@UseCase()
export class LookUpCheckout extends Command<void> {
  constructor(
    readonly partyId: string,
    /** Aborted when the time limit for the processor's answer has passed. */
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
    const due = lookAt(state, machineTimeOf(last));
    if (due === null || this.clock.now() < due) return;
    const context = systemContext('checkout-sweep', last);
    // The look-up is recorded before the call, because a call that never returns would otherwise be repeated again and again.
    const look = { kind: 'look-up', basedOn: state.events } as const;
    const { events } = await this.aggregates.execute(checkout, { id: partyId, known: loaded }, look, context);
    if (events.length === 0) return;
    const { vendor } = state.opening;
    const call = { ...vendorCall({ id: partyId, attemptId: newId(), subject: null, context, vendor }), signal };
    await untilNextLook(this.ask(call, partyId, state, context));
  }

  private async ask(call: VendorCall, id: string, state: Checkout, context: ActionContext): Promise<PaymentCallEnd> {
    if (!hasSession(state)) return this.reconciler.createOrEnd(call, id, state, context);
    const isErased = (await this.pages.of(state.opening)) === 'erased';
    return isErased
      ? this.reconciler.expire(call, id, state, { context, toReplace: false })
      : this.reconciler.look(call, id, state, context);
  }
}
