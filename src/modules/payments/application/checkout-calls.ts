// The calls to the processor that open a hosted checkout.
import { Injectable } from '@nestjs/common';
import type { Attempt } from '../../../external-calls/external-call.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { checkout, type CheckoutState } from '../domain/checkout.js';
import { CheckoutReconciler, hasSession } from './checkout-reconciler.js';
import { PaymentCall, type PaymentCallEnd } from './payment-call.js';

/** The renter's opening to which the call belongs. An opening that has ended causes no request. */
interface OfOpening {
  readonly ordinal: number;
}

/** Creates the processor's session for an opening that has none yet. */
@Injectable()
export class CreateCheckoutSession extends PaymentCall<OfOpening> {
  override readonly operation = 'create-checkout';
  override readonly semantics = 'idempotent';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reconciler: CheckoutReconciler,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, { id, context }: Attempt, of: OfOpening): Promise<PaymentCallEnd> {
    const { state } = await this.aggregates.load(checkout, id);
    return isStill('OPENING', state, of) ? this.reconciler.create(call, id, state, context) : 'recorded';
  }
}

/** Ends an opening of an earlier request, so that another opening can follow. The processor first ends the session of the old opening. */
@Injectable()
export class SetCheckoutAside extends PaymentCall<OfOpening> {
  override readonly operation = 'set-checkout-aside';
  override readonly semantics = 'idempotent';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reconciler: CheckoutReconciler,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, { id, context }: Attempt, of: OfOpening): Promise<PaymentCallEnd> {
    const { state } = await this.aggregates.load(checkout, id);
    // The processor may have a session that the log does not know. The session can be expired only after it is recorded.
    const end = isStill('OPENING', state, of)
      ? await this.reconciler.createOrEnd(call, id, state, context)
      : 'recorded';
    if (end === 'person-erased') return 'recorded';
    if (end !== 'recorded') return end;
    const { state: known } = await this.aggregates.load(checkout, id);
    if (!isStill('OPEN', known, of) || !hasSession(known)) return 'recorded';
    return this.reconciler.expire(call, id, known, { context, toReplace: true });
  }
}

function isStill<Status extends CheckoutState['status']>(
  status: Status,
  state: CheckoutState,
  { ordinal }: OfOpening,
): state is Exclude<CheckoutState, { status: 'NONE' }> & { readonly status: Status } {
  return state.status !== 'NONE' && state.status === status && state.opening.ordinal === ordinal;
}
