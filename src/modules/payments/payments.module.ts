import { Module } from '@nestjs/common';
import { Reactions } from '../../ports/reactions.js';
import { ConfirmPaymentHandler } from './application/confirm-payment.js';
import { CreateIntentHandler } from './application/create-intent.js';
import { ProcessorObserving } from './application/processor-observing.js';
import { ReceiveProcessorNoticeHandler } from './application/receive-processor-notice.js';
import { WhenPaymentProgressed } from './application/when-payment-progressed.js';
import { PaymentsController, RetiredWebhookController } from './http/payments.controller.js';

@Module({
  controllers: [RetiredWebhookController, PaymentsController],
  providers: [ProcessorObserving, CreateIntentHandler, ConfirmPaymentHandler, ReceiveProcessorNoticeHandler, WhenPaymentProgressed],
})
export class PaymentsModule {
  constructor(reactions: Reactions, whenPaymentProgressed: WhenPaymentProgressed) {
    reactions.on(whenPaymentProgressed);
  }
}
