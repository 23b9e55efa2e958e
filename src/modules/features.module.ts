import { Module } from '@nestjs/common';
import { AccountsModule } from './accounts/accounts.module.js';
import { HoldsModule } from './holds/holds.module.js';
import { IncomeModule } from './income/income.module.js';
import { PartiesModule } from './parties/parties.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { ReportsModule } from './reports/reports.module.js';
import { ScreeningModule } from './screening/screening.module.js';
import { RoutingModule } from './vendors/vendors.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** All features of the service. Each module declares its parts: see `platform/subscriptions/declarations.ts`. */
@Module({
  imports: [
    AccountsModule,
    HoldsModule,
    RoutingModule,
    ScreeningModule,
    PartiesModule,
    PaymentsModule,
    ReportsModule,
    IncomeModule,
    WebhooksModule,
  ],
})
export class FeaturesModule {}
