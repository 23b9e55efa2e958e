import { Module } from '@nestjs/common';
import { PaymentsModule } from './payments.module.js';
import { CheckoutController } from './http/direct/checkout.controller.js';
import { ProcessorEventsRoute } from './http/internal/processor-events.route.js';
import { PaymentsController, RetiredEndpoint, RetiredWebhookController } from './http/platform/payments.controller.js';
import { RefundsController } from './http/server/refunds.controller.js';

@Module({
  imports: [PaymentsModule],
  controllers: [RetiredWebhookController, PaymentsController, RefundsController, CheckoutController],
  providers: [ProcessorEventsRoute, RetiredEndpoint],
})
export class PaymentRoutesModule {}
