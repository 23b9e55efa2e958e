import { Global, Module } from '@nestjs/common';
import { AccessKeys } from '../../published/access-keys.js';
import { Accounts } from '../../published/accounts.js';
import { AllowOriginsHandler } from './application/allow-origins.js';
import { DeactivateKeyHandler } from './application/deactivate-key.js';
import { DemoTokens } from './application/demo-tokens.js';
import { ExchangeTokenHandler } from './application/exchange-token.js';
import { IssueDashboardTokenHandler } from './application/issue-dashboard-token.js';
import { IssueKeyHandler } from './application/issue-key.js';
import { LimitExchangesHandler } from './application/limit-exchanges.js';
import { OpenAccountHandler } from './application/open-account.js';
import { SeedDemoAccountsHandler } from './application/seed-demo-accounts.js';
import { SetSettingsHandler } from './application/set-settings.js';
import { JwksController, TokenController } from './http/token.controller.js';
import { AccessKeyDirectory } from './read/access-keys.js';
import { AccountDirectory } from './read/accounts.js';
import { SigningKeys } from './read/signing-keys.js';

/**
 * Global, because every door asks who holds a key and what an account may do. Needs from the composition root: the ports
 * EventStore, ReadModels, RateLimiter, TokenKeys and CredentialsFile, Handling and Clock, and the options AccountsOptions and
 * TokenOptions.
 */
@Global()
@Module({
  controllers: [TokenController, JwksController],
  providers: [
    OpenAccountHandler,
    SetSettingsHandler,
    IssueKeyHandler,
    DeactivateKeyHandler,
    AllowOriginsHandler,
    LimitExchangesHandler,
    IssueDashboardTokenHandler,
    ExchangeTokenHandler,
    SeedDemoAccountsHandler,
    DemoTokens,
    SigningKeys,
    AccountDirectory,
    AccessKeyDirectory,
    { provide: Accounts, useExisting: AccountDirectory },
    { provide: AccessKeys, useExisting: AccessKeyDirectory },
  ],
  exports: [Accounts, AccessKeys, AccountDirectory, AccessKeyDirectory],
})
export class AccountsModule {}
