// Accounts, keys, dashboard tokens and credit, as operators manage them. Operator commands import it without the HTTP side of `AccountsModule`.
import { Module } from '@nestjs/common';
import { ProcessSettings } from '../../config/process.js';
import { VendorsSettings } from '../../config/vendors.js';
import { AddCreditHandler } from './application/add-credit.js';
import { AllowOriginsHandler } from './application/allow-origins.js';
import { DeactivateKeyHandler } from './application/deactivate-key.js';
import { IssueDashboardTokenHandler } from './application/issue-dashboard-token.js';
import { IssueKeyHandler } from './application/issue-key.js';
import { LimitExchangesHandler } from './application/limit-exchanges.js';
import { OpenAccountHandler } from './application/open-account.js';
import { RevokeDashboardTokenHandler } from './application/revoke-dashboard-token.js';
import { SetSettingsHandler } from './application/set-settings.js';
import { VendorRules } from './application/vendor-rules.js';
import { AccessKeyDirectory } from './read/access-keys.js';
import { AccountDirectory, AccountsOptions } from './read/accounts.js';

@Module({
  providers: [
    OpenAccountHandler,
    SetSettingsHandler,
    VendorRules,
    IssueKeyHandler,
    DeactivateKeyHandler,
    AllowOriginsHandler,
    LimitExchangesHandler,
    IssueDashboardTokenHandler,
    RevokeDashboardTokenHandler,
    AddCreditHandler,
    AccountDirectory,
    AccessKeyDirectory,
    {
      provide: AccountsOptions,
      useFactory: ({ production }: ProcessSettings, { forTest }: VendorsSettings): AccountsOptions => ({
        production,
        testVendors: forTest,
      }),
      inject: [ProcessSettings, VendorsSettings],
    },
  ],
  exports: [AccountDirectory, AccessKeyDirectory],
})
export class AccountOperationsModule {}
