import { Module } from '@nestjs/common';
import { attemptRecovery } from '../../external-calls/attempt-recovery.js';
import { EventHandlers, Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { ConfirmPaymentHandler, LookAtIntent } from './application/confirm-payment.js';
import { CreateIntentHandler, TakeUpIntent } from './application/create-intent.js';
import { LookUpPayment, LookUpPaymentHandler } from './application/look-up-payment.js';
import { PaymentReconciler } from './application/payment-reconciler.js';
import { PaymentSecrets } from './application/payment-secrets.js';
import { paymentPublisher } from './application/publish.js';
import {
  FollowProcessorEvent,
  ReceiveProcessorWebhookEventHandler,
} from './application/receive-processor-webhook-event.js';
import { WhenPaymentProgressed } from './application/when-payment-progressed.js';
import { ProcessorEventsRoute } from './http/internal/processor-events.route.js';
import { PaymentsController, RetiredEndpoint, RetiredWebhookController } from './http/platform/payments.controller.js';
import { openPayments, OpenPaymentsReader } from './read/open-payments.js';

@Projections([openPayments])
@Publishers([paymentPublisher])
@EventHandlers([WhenPaymentProgressed])
@Module({
  imports: [AccountsModule, ScreeningModule],
  controllers: [RetiredWebhookController, PaymentsController],
  providers: [
    FollowProcessorEvent,
    LookAtIntent,
    PaymentReconciler,
    PaymentSecrets,
    ProcessorEventsRoute,
    RetiredEndpoint,
    TakeUpIntent,
    OpenPaymentsReader,
    CreateIntentHandler,
    ConfirmPaymentHandler,
    LookUpPaymentHandler,
    ReceiveProcessorWebhookEventHandler,
    WhenPaymentProgressed,
    ...attemptRecovery({
      vendor: 'payment-processor',
      operation: 'look-up-payment',
      inject: [OpenPaymentsReader],
      due: (environment, now, limit, payments) => payments.due(environment, now, limit),
      settle: (id, signal) => new LookUpPayment(id, signal),
    }),
  ],
})
export class PaymentsModule {}
