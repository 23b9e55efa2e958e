import { Module } from '@nestjs/common';
import { EventHandlers, Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { recoveryJob } from '../../platform/subscriptions/recovery-job.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { ConfirmPaymentHandler } from './application/confirm-payment.js';
import { CreateIntentHandler } from './application/create-intent.js';
import { LookUpPayment, LookUpPaymentHandler } from './application/look-up-payment.js';
import { PaymentReconciler } from './application/payment-reconciler.js';
import { paymentPublisher } from './application/publish.js';
import { ReceiveProcessorWebhookEventHandler } from './application/receive-processor-webhook-event.js';
import { WhenPaymentProgressed } from './application/when-payment-progressed.js';
import { PaymentsController, RetiredEndpoint, RetiredWebhookController } from './http/platform/payments.controller.js';
import { openPayments, OpenPaymentsReader } from './read/open-payments.js';

@Projections([openPayments])
@Publishers([paymentPublisher])
@EventHandlers([WhenPaymentProgressed])
@Module({
  imports: [AccountsModule, ScreeningModule],
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
    recoveryJob({
      name: 'payment-sweep',
      inject: [OpenPaymentsReader],
      due: (now, limit, payments) => payments.due(now, limit),
      settle: (id) => new LookUpPayment(id),
    }),
  ],
})
export class PaymentsModule {}
