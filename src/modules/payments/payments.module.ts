import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { sweepRegularly } from '../../platform/subscriptions/sweep.js';
import { Reactions } from '../../ports/reactions.js';
import { RecurringWork } from '../../ports/recurring-work.js';
import { ConfirmPaymentHandler } from './application/confirm-payment.js';
import { CreateIntentHandler } from './application/create-intent.js';
import { LookUpPayment, LookUpPaymentHandler } from './application/look-up-payment.js';
import { ProcessorObserving } from './application/processor-observing.js';
import { ReceiveProcessorNoticeHandler } from './application/receive-processor-notice.js';
import { WhenPaymentProgressed } from './application/when-payment-progressed.js';
import { PaymentsController, RetiredWebhookController } from './http/payments.controller.js';
import { OpenPaymentsReader } from './read/open-payments.js';

@Module({
  controllers: [RetiredWebhookController, PaymentsController],
  providers: [
    ProcessorObserving,
    OpenPaymentsReader,
    CreateIntentHandler,
    ConfirmPaymentHandler,
    LookUpPaymentHandler,
    ReceiveProcessorNoticeHandler,
    WhenPaymentProgressed,
  ],
})
export class PaymentsModule {
  constructor(
    reactions: Reactions,
    whenPaymentProgressed: WhenPaymentProgressed,
    timers: RecurringWork,
    commands: CommandBus,
    payments: OpenPaymentsReader,
    clock: Clock,
  ) {
    reactions.on(whenPaymentProgressed);
    sweepRegularly(timers, {
      name: 'payment-sweep',
      due: (limit) => payments.due(clock.now(), limit),
      settle: (id) => commands.execute(new LookUpPayment(id)),
    });
  }
}
