import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { Refusal } from '../../../kernel/refusal.js';
import { Handling, type Loaded } from '../../../platform/handling/handling.js';
import { Handles, UseCase } from '../../../platform/handling/use-case.js';
import { isPagesOwn, Screenings } from '../../../published/screenings.js';
import { payment, paymentIdIn, type Payment, type PaymentState } from '../domain/payment.js';
import { ProcessorObserving } from './processor-observing.js';

/**
 * The page says that it is done: how the payment is now, straight from the processor, recorded in the session as well (the
 * backstop of the processor's own notices). Charges nothing; safe to repeat (decisions 4.5).
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
    private readonly handling: Handling,
    private readonly observing: ProcessorObserving,
    private readonly screenings: Screenings,
  ) {}

  async execute({ transactionId, context }: ConfirmPayment): Promise<Payment> {
    const id = paymentIdIn(transactionId);
    if (id === null || !isId(id)) throw new Refusal('payment.not_found');
    const loaded: Loaded<PaymentState> = await this.handling.load(payment, id);
    const { state } = loaded;
    const session = state.status === 'NONE' ? null : await this.screenings.find(state.sessionId);
    if (state.status === 'NONE' || !session || !isPagesOwn(session, context)) throw new Refusal('payment.not_found');
    const final = state.status === 'SUCCEEDED' || state.canceled;
    const now =
      final || state.paymentIntentId === null
        ? state
        : (await this.observing.look(id, loaded, state.paymentIntentId, context)).payment.state;
    await this.observing.tellSession(id, now, context);
    return now;
  }
}
