import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { isOpenTo, type ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Screenings } from '../../../published/screenings.js';
import { payment, paymentIdIn, type Payment, type PaymentState } from '../domain/payment.js';
import { PaymentReconciler } from './payment-reconciler.js';

/**
 * The page says that it is done: how the payment is now, straight from the processor, recorded in the session as well (the
 * backstop of the processor's own notices). Charges nothing; safe to repeat (docs/contract/platform.md#confirming).
 */
@UseCase()
export class ConfirmPayment extends Command<Payment> {
  constructor(
    readonly transactionId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(ConfirmPayment)
export class ConfirmPaymentHandler implements ICommandHandler<ConfirmPayment> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly observing: PaymentReconciler,
    private readonly screenings: Screenings,
  ) {}

  async execute({ transactionId, context }: ConfirmPayment): Promise<Payment> {
    const id = paymentIdIn(transactionId);
    if (id === null || !isId(id)) throw new DomainError('payment.not_found');
    const loaded: LoadedAggregate<PaymentState> = await this.aggregates.load(payment, id);
    const { state } = loaded;
    const session = state.status === 'NONE' ? null : await this.screenings.find(state.sessionId);
    if (state.status === 'NONE' || !session || !isOpenTo(session, session, context))
      throw new DomainError('payment.not_found');
    const final = state.status === 'SUCCEEDED' || state.canceled;
    if (final || state.paymentIntentId === null) return state;
    return (await this.observing.reconcile(id, loaded, state.paymentIntentId, context)).payment.state;
  }
}
