import { type InjectionToken, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { CommandBus } from '@nestjs/cqrs';
import { HttpSettings } from '../../config/http.js';
import { Limits } from '../../config/limits.js';
import { ProcessSettings } from '../../config/process.js';
import { VendorsSettings } from '../../config/vendors.js';
import { Clock } from '../../kernel/clock.js';
import { Log } from '../../platform/observability/log.js';
import { providedBy } from '../../platform/provided.js';
import { rolePart, type Startable } from '../../platform/roles/role-part.js';
import { Projections } from '../../platform/subscriptions/declarations.js';
import { recoveryJob } from '../../platform/subscriptions/recovery-job.js';
import { AccountWaits } from '../../ports/account-waits.js';
import { HandlerCheckpoints } from '../../ports/handler-checkpoints.js';
import { Scheduler } from '../../ports/scheduler.js';
import { TestClocks } from '../../ports/test-clocks.js';
import { VendorBehaviours } from '../../ports/vendor-behaviours.js';
import { AccessKeys } from '../../published/access-keys.js';
import { AccountLists } from '../../published/account-lists.js';
import { Accounts } from '../../published/accounts.js';
import { Erasable } from '../../published/holds.js';
import { PrepaidCredit } from '../../published/prepaid-credit.js';
import { SessionGrants } from '../../published/session-grants.js';
import { HoldsModule } from '../holds/holds.module.js';
import { AccountCredit } from './application/account-credit.js';
import { AccountGrants } from './application/account-grants.js';
import { AddCreditHandler } from './application/add-credit.js';
import { AllowOriginsHandler } from './application/allow-origins.js';
import { CertifyPurposesHandler } from './application/certify-purposes.js';
import { DeactivateKeyHandler } from './application/deactivate-key.js';
import { DemoTokens } from './application/demo-tokens.js';
import { EraseUnusedDetails, EraseUnusedDetailsHandler } from './application/erase-unused-details.js';
import { ExchangeTokenHandler, TokenOptions } from './application/exchange-token.js';
import { GrantDetails } from './application/grant-details.js';
import { GrantExpiry } from './application/grant-expiry.js';
import { GrantRedemption } from './application/grant-redemption.js';
import { IssueDashboardTokenHandler } from './application/issue-dashboard-token.js';
import { GrantOptions, IssueGrantHandler } from './application/issue-grant.js';
import { IssueKeyHandler } from './application/issue-key.js';
import { LimitExchangesHandler } from './application/limit-exchanges.js';
import { MakeDemoAccounts, MakeDemoAccountsHandler } from './application/make-demo-accounts.js';
import { OpenAccountHandler } from './application/open-account.js';
import { PassedWaits } from './application/passed-waits.js';
import { RevokeDashboardTokenHandler } from './application/revoke-dashboard-token.js';
import { SetSettingsHandler } from './application/set-settings.js';
import { SetVendorBehaviourHandler } from './application/set-vendor-behaviour.js';
import { SignedLists } from './application/signed-lists.js';
import { TestHelperLimit, TestHelperOptions } from './application/test-helper-limit.js';
import { TurnClockHandler } from './application/turn-clock.js';
import { VendorRules } from './application/vendor-rules.js';
import { AccessKeyDirectory, accessKeyProjection } from './read/access-keys.js';
import { AccountDirectory, accountProjection, AccountsOptions } from './read/accounts.js';
import { RecentRequests } from './read/recent-requests.js';
import { SigningKeys } from './read/signing-keys.js';
import { TurnedClocks } from './read/turned-clocks.js';
import { UnusedDetails, unusedDetails } from './read/unused-details.js';

/** The interval at which workers look for passed waits of accounts that have turned their clock, in milliseconds. */
const TURNED_EVERY_MS = 10_000;

const DEMO_ACCOUNTS: InjectionToken<Startable> = Symbol('demo accounts');

/** Finds the holder of a key and the rights of an account. Every API surface uses this module. */
@Projections([accountProjection, accessKeyProjection, unusedDetails])
@Module({
  imports: [DiscoveryModule, HoldsModule],
  providers: [
    OpenAccountHandler,
    SetSettingsHandler,
    CertifyPurposesHandler,
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
      provide: TestClocks,
      useFactory: (accounts: AccountDirectory) => new TurnedClocks(accounts),
      inject: [AccountDirectory],
    },
    {
      provide: AccountsOptions,
      useFactory: ({ production }: ProcessSettings, { forTest }: VendorsSettings): AccountsOptions => ({
        production,
        testVendors: forTest,
      }),
      inject: [ProcessSettings, VendorsSettings],
    },
    ExchangeTokenHandler,
    IssueGrantHandler,
    GrantRedemption,
    GrantDetails,
    GrantExpiry,
    UnusedDetails,
    EraseUnusedDetailsHandler,
    AccountCredit,
    MakeDemoAccountsHandler,
    DemoTokens,
    SigningKeys,
    RecentRequests,
    AccountGrants,
    SetVendorBehaviourHandler,
    TurnClockHandler,
    TestHelperLimit,
    {
      provide: PassedWaits,
      useFactory: (discovery: DiscoveryService, checkpoints: HandlerCheckpoints, clock: Clock) =>
        new PassedWaits(() => providedBy(discovery, AccountWaits), checkpoints, clock),
      inject: [DiscoveryService, HandlerCheckpoints, Clock],
    },
    {
      provide: TestHelperOptions,
      useFactory: (limits: Limits): TestHelperOptions => ({ changesPerHour: limits.testHelpersPerHour }),
      inject: [Limits],
    },
    {
      provide: VendorBehaviours,
      useFactory: (accounts: AccountDirectory): VendorBehaviours => ({
        of: async (accountId, capability) =>
          (await accounts.behaviours(accountId)).find((wish) => wish.capability === capability)?.behaviour ?? null,
      }),
      inject: [AccountDirectory],
    },
    { provide: Accounts, useExisting: AccountDirectory },
    { provide: AccountLists, useClass: SignedLists },
    { provide: AccessKeys, useExisting: AccessKeyDirectory },
    { provide: PrepaidCredit, useExisting: AccountCredit },
    { provide: SessionGrants, useExisting: AccountGrants },
    {
      provide: TokenOptions,
      useFactory: (limits: Limits): TokenOptions => ({
        ttlSeconds: limits.tokenTtl,
        exchangesPerMinute: limits.tokenExchangePerMinute,
        exchangesPerMinutePerKey: limits.tokenExchangePerMinutePerKey,
      }),
      inject: [Limits],
    },
    {
      provide: GrantOptions,
      useFactory: (limits: Limits): GrantOptions => ({ ttlSeconds: limits.grantTtl }),
      inject: [Limits],
    },
    {
      provide: DEMO_ACCOUNTS,
      /** Makes the demo accounts when an API starts outside production, unless other machines could reach the API. */
      useFactory: (
        { production, readOnly, demoAccounts: wanted }: ProcessSettings,
        { publicUrl, embeddedUrl, demoPort }: HttpSettings,
        { sandboxUrl }: VendorsSettings,
        log: Log,
        commands: CommandBus,
      ): Startable => ({
        start: async () => {
          if (production || readOnly) return;
          if (wanted) await commands.execute(new MakeDemoAccounts({ publicUrl, embeddedUrl, sandboxUrl, demoPort }));
          else log.warn('the demo accounts are not created, because NODE_ENV is not set and HOST is not loopback');
        },
      }),
      inject: [ProcessSettings, HttpSettings, VendorsSettings, Log, CommandBus],
    },
    rolePart<Startable>('api', DEMO_ACCOUNTS),
    {
      provide: Erasable,
      useFactory: (commands: CommandBus) =>
        new Erasable(
          'session-grant',
          async () => null,
          (grantId) => commands.execute(new EraseUnusedDetails(grantId)),
        ),
      inject: [CommandBus],
    },
    recoveryJob({
      name: 'grant-sweep',
      inject: [UnusedDetails, GrantExpiry],
      due: (_now, limit, unused, expiry) => unused.of(expiry.latestExpiry(), limit),
      settle: (id) => new EraseUnusedDetails(id),
    }),
  ],
  exports: [
    Accounts,
    AccountLists,
    AccessKeys,
    PrepaidCredit,
    SessionGrants,
    AccessKeyDirectory,
    AccountDirectory,
    RecentRequests,
    SigningKeys,
    TokenOptions,
    PassedWaits,
  ],
})
export class AccountsModule implements OnModuleInit {
  constructor(
    private readonly scheduler: Scheduler,
    private readonly accounts: AccountDirectory,
    private readonly passed: PassedWaits,
  ) {}

  onModuleInit(): void {
    this.scheduler.every('test-clocks', TURNED_EVERY_MS, async () =>
      this.passed.settleAll(await this.accounts.turned()),
    );
  }
}
