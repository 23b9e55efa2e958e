import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { PaymentsModule } from './payments.module.js';
import { CheckoutController } from './http/direct/checkout.controller.js';
import { PaymentsController, RetiredEndpoint, RetiredWebhookController } from './http/platform/payments.controller.js';
import { ServerPaymentsController } from './http/server/payments.controller.js';
import { RefundsController } from './http/server/refunds.controller.js';
import { PaymentLists } from './read/payment-lists.js';

@Module({
  imports: [AccountsModule, PaymentsModule],
  controllers: [
    RetiredWebhookController,
    PaymentsController,
    RefundsController,
    ServerPaymentsController,
    CheckoutController,
  ],
  providers: [PaymentLists, RetiredEndpoint],
})
export class PaymentRoutesModule {}
