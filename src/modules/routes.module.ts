import { Module } from '@nestjs/common';
import { AccountRoutesModule } from './accounts/account-routes.module.js';
import { IncomeRoutesModule } from './income/income-routes.module.js';
import { PartyRoutesModule } from './parties/party-routes.module.js';
import { PaymentRoutesModule } from './payments/payment-routes.module.js';
import { ReportRoutesModule } from './reports/report-routes.module.js';
import { ScreeningRoutesModule } from './screening/screening-routes.module.js';
import { WebhookRoutesModule } from './webhooks/webhook-routes.module.js';

/** The routes of all features. Operator commands start without this module, because the libraries of routes are slow to load. */
@Module({
  imports: [
    AccountRoutesModule,
    ScreeningRoutesModule,
    PartyRoutesModule,
    PaymentRoutesModule,
    ReportRoutesModule,
    IncomeRoutesModule,
    WebhookRoutesModule,
  ],
})
export class RoutesModule {}
