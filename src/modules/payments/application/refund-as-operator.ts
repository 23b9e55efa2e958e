import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import type { RefundReason } from '../../../kernel/refund-reason.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { paymentNamed, refundedPayment, RequestRefund, type RefundedPayment } from './request-refund.js';

/** Requests a refund for an operator. The service's recovery job then makes the refund at the processor. Safe to repeat. */
@UseCase()
export class RefundAsOperator extends Command<RefundedPayment> {
  constructor(
    readonly transactionId: string,
    readonly refund: { readonly reasonCode: RefundReason; readonly evenIfReleased: boolean },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(RefundAsOperator)
export class RefundAsOperatorHandler implements ICommandHandler<RefundAsOperator> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly request: RequestRefund,
  ) {}

  async execute({ transactionId, refund, context }: RefundAsOperator): Promise<RefundedPayment> {
    const { id, owner } = await paymentNamed(this.aggregates, transactionId, () => true);
    return refundedPayment(id, await this.request.of(id, refund, { ...context, ...owner }));
  }
}
