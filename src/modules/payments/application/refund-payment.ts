import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { isOpenTo, type CallerContext } from '../../../kernel/context.js';
import { newId } from '../../../kernel/ids.js';
import type { RefundReason } from '../../../kernel/refund-reason.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { PaymentProcessor } from '../../../ports/payment-processor.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { isRefundOpen, payment, refundKeyOf } from '../domain/payment.js';
import { atProcessor, endOf, existing, PaymentCall, type PaymentCallEnd } from './payment-call.js';
import { PaymentReconciler } from './payment-reconciler.js';
import { paymentNamed, refundedPayment, RequestRefund, type RefundedPayment } from './request-refund.js';
import { WhenPaymentProgressed } from './when-payment-progressed.js';

/**
 * Refunds a whole payment for the account's server (docs/contract/server.md#refunds). The request is recorded: when the processor fails now, the
 * recovery job continues. Safe to repeat.
 */
@UseCase()
export class RefundPayment extends Command<RefundedPayment> {
  constructor(
    readonly transactionId: string,
    readonly reasonCode: RefundReason,
    readonly context: CallerContext,
  ) {
    super();
  }
}

/** Asks the processor to make a requested refund. */
@Injectable()
export class MakeRefund extends PaymentCall<null> {
  override readonly operation = 'make-refund';
  override readonly semantics = 'idempotent';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly processor: PaymentProcessor,
    private readonly reconciler: PaymentReconciler,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    { id, context }: Pick<Attempt, 'id' | 'context'>,
  ): Promise<PaymentCallEnd> {
    const loaded = await this.aggregates.load(payment, id);
    const { state } = loaded;
    if (!isRefundOpen(state)) return 'recorded';
    const { refusals } = state.refund;
    const attemptId = refundKeyOf(id, refusals, state.reference);
    const verdict = await this.processor.refundIntent(
      { ...atProcessor(call, state), attemptId },
      state.paymentIntentId,
    );
    if (verdict.kind === 'not-made' || (verdict.kind === 'refused' && verdict.code !== ALREADY_REFUNDED)) {
      endOf(verdict);
      const code = verdict.kind === 'refused' ? verdict.code : KEPT_FAILURE;
      await this.aggregates.execute(payment, id, { kind: 'refuse-refund', refusals, code }, context);
      return 'recorded';
    }
    if (verdict.kind !== 'refunded' && verdict.kind !== 'refused') return verdict.kind;
    return endOf(await this.reconciler.reconcile(call, { id, context }, loaded, state.paymentIntentId));
  }
}

/** The processor's code for money that has already been refunded. */
const ALREADY_REFUNDED = 'charge_already_refunded';
/** A refund can no longer be made under this key. If the processor did make it, the next try gets `charge_already_refunded`. */
const KEPT_FAILURE = 'not_made';

@Handles(RefundPayment)
export class RefundPaymentHandler implements ICommandHandler<RefundPayment> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly makeRefund: MakeRefund,
    private readonly request: RequestRefund,
    private readonly progressed: WhenPaymentProgressed,
  ) {}

  async execute({ transactionId, reasonCode, context }: RefundPayment): Promise<RefundedPayment> {
    const { id, vendor } = await paymentNamed(this.aggregates, transactionId, (owner) => isOpenTo(owner, {}, context));
    const attempt = { id, attemptId: newId(), subject: null, context, vendor };
    await this.calls.admit(this.makeRefund, attempt);
    let open = false;
    try {
      open = isRefundOpen(await this.request.of(id, { reasonCode, evenIfReleased: false }, context));
    } finally {
      if (!open) await this.calls.withdraw(this.makeRefund, attempt);
    }
    if (open) await this.calls.make(this.makeRefund, attempt, null);
    const { state, history } = await this.aggregates.load(payment, id);
    // A webhook event may have recorded a change that has not reached the sessions yet.
    const last = history.at(-1);
    if (last !== undefined) await this.progressed.handle(last);
    return refundedPayment(id, existing(state));
  }
}
