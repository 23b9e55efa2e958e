import { Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Limits } from '../../config/limits.js';
import { attemptRecovery } from '../../external-calls/attempt-recovery.js';
import { AggregateStore } from '../../platform/aggregates/aggregate-store.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { EventHandlers, Projections, Publishers } from '../../platform/subscriptions/declarations.js';
import { AccountWaits, waitsOf } from '../../ports/account-waits.js';
import { PaymentNotices } from '../../ports/vendor-notices.js';
import { Checkouts } from '../../published/checkouts.js';
import { AccountsModule } from '../accounts/accounts.module.js';
import { PartiesModule } from '../parties/parties.module.js';
import { ScreeningModule } from '../screening/screening.module.js';
import { CreateCheckoutSession, SetCheckoutAside } from './application/checkout-calls.js';
import { CheckoutDirectory } from './application/checkout-directory.js';
import { CheckoutPageStore } from './application/checkout-page-store.js';
import { CheckoutPolicy } from './application/checkout-policy.js';
import { CheckoutReconciler } from './application/checkout-reconciler.js';
import { CheckoutTerms } from './application/checkout-terms.js';
import { ConfirmPaymentHandler, LookAtIntent } from './application/confirm-payment.js';
import { CreateIntentHandler } from './application/create-intent.js';
import { FollowCheckoutEvent } from './application/follow-checkout-event.js';
import { LookUpCheckout, LookUpCheckoutHandler } from './application/look-up-checkout.js';
import { PaymentInVain } from './application/in-vain.js';
import { LookUpPayment, LookUpPaymentHandler } from './application/look-up-payment.js';
import { OpenCheckoutHandler } from './application/open-checkout.js';
import { PaymentPolicy } from './application/payment-policy.js';
import { AlteredPaymentObserver, PaymentReconciler } from './application/payment-reconciler.js';
import { PaymentSecrets } from './application/payment-secrets.js';
import { checkoutPublisher, paymentPublisher } from './application/publish.js';
import {
  FollowProcessorEvent,
  PaymentsByIntent,
  ReceiveProcessorWebhookEvent,
  ReceiveProcessorWebhookEventHandler,
} from './application/receive-processor-webhook-event.js';
import { MakeRefund, RefundPaymentHandler } from './application/refund-payment.js';
import { RefundAsOperatorHandler } from './application/refund-as-operator.js';
import { RequestRefund } from './application/request-refund.js';
import { TakeUpIntent } from './application/take-up-intent.js';
import { WhenCheckoutPaid } from './application/when-checkout-paid.js';
import { WhenPaymentProgressed } from './application/when-payment-progressed.js';
import { WhenReportProgressed } from './application/when-report-progressed.js';
import { WhenRenterRegistered } from './application/when-renter-registered.js';
import { WhenSessionInVain } from './application/when-session-in-vain.js';
import { WhenVerifiedAgain } from './application/when-verified-again.js';
import { checkout } from './domain/checkout.js';
import { payment, plannedRefundAt } from './domain/payment.js';
import { openCheckouts, OpenCheckoutsReader } from './read/open-checkouts.js';
import { openPayments, OpenPaymentsReader, plannedRefunds } from './read/open-payments.js';

@Projections([openPayments, openCheckouts])
@Publishers([paymentPublisher, checkoutPublisher])
@EventHandlers([
  WhenPaymentProgressed,
  WhenCheckoutPaid,
  WhenRenterRegistered,
  WhenVerifiedAgain,
  WhenReportProgressed,
  WhenSessionInVain,
])
@Module({
  imports: [AccountsModule, PartiesModule, ScreeningModule],
  providers: [
    CheckoutDirectory,
    CheckoutPageStore,
    CheckoutReconciler,
    CheckoutTerms,
    CreateCheckoutSession,
    SetCheckoutAside,
    FollowCheckoutEvent,
    OpenCheckoutHandler,
    OpenCheckoutsReader,
    LookUpCheckoutHandler,
    WhenCheckoutPaid,
    WhenRenterRegistered,
    { provide: Checkouts, useExisting: CheckoutDirectory },
    {
      provide: CheckoutPolicy,
      useFactory: ({ checkoutGuard }: Limits) => new CheckoutPolicy(checkoutGuard),
      inject: [Limits],
    },
    {
      provide: PaymentPolicy,
      useFactory: ({ paymentIntentsPerMinute, confirmsPerMinute }: Limits) =>
        new PaymentPolicy({ intentsPerMinute: paymentIntentsPerMinute, confirmsPerMinute }),
      inject: [Limits],
    },
    FollowProcessorEvent,
    {
      provide: AlteredPaymentObserver,
      useFactory: (metrics: Metrics, log: Log): AlteredPaymentObserver => ({
        altered(paymentId, { accountId, environment }) {
          metrics.alteredIntents.inc({ environment: String(environment) });
          log.error({ accountId, environment, paymentId }, 'a payment intent was altered at the processor');
        },
        refundReversed(paymentId, { accountId, environment }) {
          metrics.reversedRefunds.inc({ environment: String(environment) });
          log.error({ accountId, environment, paymentId }, 'a refund came back to the processor');
        },
      }),
      inject: [Metrics, Log],
    },
    LookAtIntent,
    PaymentInVain,
    PaymentReconciler,
    PaymentSecrets,
    TakeUpIntent,
    OpenPaymentsReader,
    { provide: PaymentsByIntent, useExisting: OpenPaymentsReader },
    CreateIntentHandler,
    ConfirmPaymentHandler,
    LookUpPaymentHandler,
    ReceiveProcessorWebhookEventHandler,
    MakeRefund,
    RequestRefund,
    RefundPaymentHandler,
    RefundAsOperatorHandler,
    WhenPaymentProgressed,
    WhenVerifiedAgain,
    WhenReportProgressed,
    WhenSessionInVain,
    {
      provide: PaymentNotices,
      useFactory: (commands: CommandBus): PaymentNotices => ({
        receive: (event, vendor, requestId) =>
          commands.execute(new ReceiveProcessorWebhookEvent(event, vendor, requestId)),
      }),
      inject: [CommandBus],
    },
    {
      provide: AccountWaits,
      useFactory: (aggregates: AggregateStore, lists: CompleteLists, commands: CommandBus) =>
        new AccountWaits(async (accountId) =>
          waitsOf({
            kind: 'payment',
            ids: await lists.idsIn(openPayments, plannedRefunds(accountId)),
            at: async (id) => plannedRefundAt((await aggregates.load(payment, id)).state),
            // Only requests the refund. The recovery job makes it.
            settle: (id) => commands.execute(new LookUpPayment(id, new AbortController().signal)),
          }),
        ),
      inject: [AggregateStore, CompleteLists, CommandBus],
    },
    ...attemptRecovery({
      vendor: 'payment-processor',
      operation: 'look-up-payment',
      inject: [OpenPaymentsReader, AggregateStore],
      due: (environment, now, limit, payments) => payments.due(environment, now, limit),
      askedFor: async (id, _payments, aggregates) => {
        const { owner, state } = await aggregates.load(payment, id);
        return owner && state.status !== 'NONE' ? { vendor: state.vendor, environment: owner.environment } : null;
      },
      settle: (id, signal) => new LookUpPayment(id, signal),
    }),
    ...attemptRecovery({
      vendor: 'payment-processor',
      operation: 'look-up-checkout',
      inject: [OpenCheckoutsReader, AggregateStore],
      due: (environment, now, limit, checkouts) => checkouts.due(environment, now, limit),
      askedFor: async (id, _checkouts, aggregates) => {
        const { owner, state } = await aggregates.load(checkout, id);
        if (owner === null || state.status === 'NONE') return null;
        return { vendor: state.opening.vendor, environment: owner.environment };
      },
      settle: (id, signal) => new LookUpCheckout(id, signal),
    }),
  ],
  exports: [Checkouts],
})
export class PaymentsModule {}
