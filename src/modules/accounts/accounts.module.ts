import { Global, Module, Optional } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { scheduleRecovery } from '../../platform/subscriptions/recovery-job.js';
import { Scheduler } from '../../ports/scheduler.js';
import { AccessKeys } from '../../published/access-keys.js';
import { Accounts } from '../../published/accounts.js';
import { PrepaidCredit } from '../../published/prepaid-credit.js';
import { SessionGrants } from '../../published/session-grants.js';
import { AccountCredit } from './application/account-credit.js';
import { AccountGrants } from './application/account-grants.js';
import { AddCreditHandler } from './application/add-credit.js';
import { AllowOriginsHandler } from './application/allow-origins.js';
import { DeactivateKeyHandler } from './application/deactivate-key.js';
import { DemoTokens } from './application/demo-tokens.js';
import { EraseUnusedDetails, EraseUnusedDetailsHandler } from './application/erase-unused-details.js';
import { ExchangeTokenHandler } from './application/exchange-token.js';
import { GrantDetails } from './application/grant-details.js';
import { GrantExpiry } from './application/grant-expiry.js';
import { GrantRedemption } from './application/grant-redemption.js';
import { IssueDashboardTokenHandler } from './application/issue-dashboard-token.js';
import { IssueKeyHandler } from './application/issue-key.js';
import { LimitExchangesHandler } from './application/limit-exchanges.js';
import { IssueGrantHandler } from './application/issue-grant.js';
import { OpenAccountHandler } from './application/open-account.js';
import { SeedDemoAccountsHandler } from './application/seed-demo-accounts.js';
import { SetSettingsHandler } from './application/set-settings.js';
import { PublishableKeys } from './http/platform/publishable-keys.js';
import { GrantsController } from './http/server/grants.controller.js';
import { JwksController, TokenController } from './http/platform/token.controller.js';
import { AccessKeyDirectory } from './read/access-keys.js';
import { AccountDirectory } from './read/accounts.js';
import { SigningKeys } from './read/signing-keys.js';
import { UnusedDetails } from './read/unused-details.js';

/**
 * Global, because every door asks who holds a key and what an account may do. Needs from the composition root: the ports
 * EventStore, ReadModels, RateLimiter, TokenKeys, Vault, IdempotencyRecords and CredentialsFile, AggregateStore and Clock, the options
 * AccountsOptions, TokenOptions and GrantOptions, and from a service, but not from an operator's command, Scheduler.
 */
@Global()
@Module({
  controllers: [TokenController, JwksController, GrantsController],
  providers: [
    OpenAccountHandler,
    SetSettingsHandler,
    IssueKeyHandler,
    DeactivateKeyHandler,
    AllowOriginsHandler,
    LimitExchangesHandler,
    IssueDashboardTokenHandler,
    ExchangeTokenHandler,
    IssueGrantHandler,
    GrantRedemption,
    GrantDetails,
    GrantExpiry,
    UnusedDetails,
    EraseUnusedDetailsHandler,
    AddCreditHandler,
    AccountCredit,
    SeedDemoAccountsHandler,
    DemoTokens,
    SigningKeys,
    PublishableKeys,
    AccountDirectory,
    AccessKeyDirectory,
    AccountGrants,
    { provide: Accounts, useExisting: AccountDirectory },
    { provide: AccessKeys, useExisting: AccessKeyDirectory },
    { provide: PrepaidCredit, useExisting: AccountCredit },
    { provide: SessionGrants, useExisting: AccountGrants },
  ],
  exports: [Accounts, AccessKeys, PrepaidCredit, SessionGrants, AccountDirectory, AccessKeyDirectory],
})
export class AccountsModule {
  constructor(commands: CommandBus, unused: UnusedDetails, lapse: GrantExpiry, @Optional() timers?: Scheduler) {
    if (timers === undefined) return;
    scheduleRecovery(timers, {
      name: 'grant-sweep',
      due: (limit) => unused.of(lapse.latestExpiry(), limit),
      settle: (id) => commands.execute(new EraseUnusedDetails(id)),
    });
  }
}
