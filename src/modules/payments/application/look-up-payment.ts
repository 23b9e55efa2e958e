import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { machineTimeOf } from '../../../kernel/domain-event.js';
import { newId } from '../../../kernel/ids.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { isRefundOpen, lookAt, payment, plannedRefundAt, type PaymentState } from '../domain/payment.js';
import { endOf, untilNextLook } from './payment-call.js';
import { PaymentReconciler } from './payment-reconciler.js';
import { MakeRefund } from './refund-payment.js';
import { RequestRefund } from './request-refund.js';

/**
 * Asks the processor about an open payment without changes for some time: no webhook event arrived, and the page did not confirm. Requests the
 * planned refund, and makes a requested refund. Charges nothing; safe to repeat.
 */
@UseCase()
export class LookUpPayment extends Command<void> {
  constructor(
    readonly paymentId: string,
    /** Aborted when the time limit for the processor's answer has passed. */
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

@Handles(LookUpPayment)
export class LookUpPaymentHandler implements ICommandHandler<LookUpPayment> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly reconciler: PaymentReconciler,
    private readonly request: RequestRefund,
    private readonly makeRefund: MakeRefund,
    private readonly clock: Clock,
  ) {}

  async execute({ paymentId, signal }: LookUpPayment): Promise<void> {
    const loaded: LoadedAggregate<PaymentState> = await this.aggregates.load(payment, paymentId);
    const { state, history } = loaded;
    const last = history.at(-1)?.metadata;
    if (state.status === 'NONE' || state.paymentIntentId === null || last === undefined) return;
    const due = lookAt(state, machineTimeOf(last));
    if (due === null) return;
    const context = systemContext('payment-sweep', last);
    const planned = plannedRefundAt(state);
    if (planned !== null) {
      const now = await this.clock.of(last, planned);
      return now < due ? undefined : this.request.asPlanned(paymentId, { ...context, at: now });
    }
    if (this.clock.now() < due) return;
    // The look-up is recorded before the call, because a call that never returns would otherwise be repeated again and again.
    const noted = await this.aggregates.execute(
      payment,
      { id: paymentId, known: loaded },
      { kind: 'look-up', basedOn: state.events },
      context,
    );
    if (noted.events.length === 0) return;
    const attempt = { id: paymentId, attemptId: newId(), subject: null, context, vendor: state.vendor };
    const call = { ...vendorCall(attempt), signal };
    await untilNextLook(
      isRefundOpen(state)
        ? this.makeRefund.askAndRecord(call, attempt)
        : this.reconciler.reconcile(call, attempt, noted, state.paymentIntentId).then(endOf),
    );
  }
}
