import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { scheduleRecovery } from '../../platform/subscriptions/recovery-job.js';
import { EventHandlers } from '../../ports/event-handlers.js';
import { Scheduler } from '../../ports/scheduler.js';
import { ConfirmPaymentHandler } from './application/confirm-payment.js';
import { CreateIntentHandler } from './application/create-intent.js';
import { LookUpPayment, LookUpPaymentHandler } from './application/look-up-payment.js';
import { PaymentReconciler } from './application/payment-reconciler.js';
import { ReceiveProcessorWebhookEventHandler } from './application/receive-processor-webhook-event.js';
import { WhenPaymentProgressed } from './application/when-payment-progressed.js';
import { PaymentsController, RetiredEndpoint, RetiredWebhookController } from './http/platform/payments.controller.js';
import { OpenPaymentsReader } from './read/open-payments.js';

@Module({
  controllers: [RetiredWebhookController, PaymentsController],
  providers: [
    RetiredEndpoint,
    PaymentReconciler,
    OpenPaymentsReader,
    CreateIntentHandler,
    ConfirmPaymentHandler,
    LookUpPaymentHandler,
    ReceiveProcessorWebhookEventHandler,
    WhenPaymentProgressed,
  ],
})
export class PaymentsModule {
  constructor(
    reactions: EventHandlers,
    whenPaymentProgressed: WhenPaymentProgressed,
    timers: Scheduler,
    commands: CommandBus,
    payments: OpenPaymentsReader,
    clock: Clock,
  ) {
    reactions.on(whenPaymentProgressed);
    scheduleRecovery(timers, {
      name: 'payment-sweep',
      due: (limit) => payments.due(clock.now(), limit),
      settle: (id) => commands.execute(new LookUpPayment(id)),
    });
  }
}
