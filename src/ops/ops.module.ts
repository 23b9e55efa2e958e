// The operator command line. Each group of commands imports the modules that it needs, and opens nothing else.
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { InjectCommander } from 'nest-commander';
import { DataFolderModule } from '../adapters/data-folder.module.js';
import { DeliveryQueueModule } from '../adapters/delivery-queue/delivery-queue.module.js';
import { EventStoreModule } from '../adapters/event-store/event-store.module.js';
import { KeptInRedisModule } from '../adapters/kept-in-redis.module.js';
import { MailSenderModule } from '../adapters/mail-sender/mail-sender.module.js';
import { ReadModelsModule } from '../adapters/read-models/read-models.module.js';
import { QueuesModule } from '../adapters/redis/queues.module.js';
import { RedisModule } from '../adapters/redis/redis.module.js';
import { VaultModule } from '../adapters/vault/vault.module.js';
import { VendorsModule } from '../adapters/vendors.module.js';
import { WebhookSenderModule } from '../adapters/webhook-sender/webhook-sender.module.js';
import type { Config } from '../config/config.js';
import { Clock } from '../kernel/clock.js';
import { AccountsModule } from '../modules/accounts/accounts.module.js';
import { FeaturesModule } from '../modules/features.module.js';
import { StoredEventsModule } from '../modules/stored-events.module.js';
import { WebhooksModule } from '../modules/webhooks/webhooks.module.js';
import { AggregatesModule } from '../platform/aggregates/aggregates.module.js';
import { HttpModule } from '../platform/http/http.module.js';
import type { Log } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { ProjectorModule } from '../platform/subscriptions/projector.module.js';
import { ProcessModule } from '../process.module.js';
import type { VendorRegistry } from '../vendor-kit/registry.js';
import {
  AccountCreditCommand,
  AccountsCommand,
  CreateAccountCommand,
  ListAccountsCommand,
  SetAccountCommand,
  ShowAccountCommand,
} from './accounts.commands.js';
import { Consent } from './consent.js';
import { DeactivateKeyCommand, IssueKeyCommand, KeysCommand, ListKeysCommand, SetKeyCommand } from './keys.commands.js';
import {
  AcceptLedgerCommand,
  BackupCommand,
  CreateBackupCommand,
  ExpireBackupsCommand,
  ReleaseBackupCommand,
  RestoreBackupCommand,
  VerifyBackupCommand,
} from './backup.commands.js';
import { Backups } from './backups.js';
import { DeliveriesCommand, FailingDeliveriesCommand } from './deliveries.commands.js';
import { CompressLogCommand, CopyLogCommand, LogCommand } from './log-copy.command.js';
import {
  AcceptLogCommand,
  AuditCommand,
  ShowStreamCommand,
  StreamCommand,
  TimelineCommand,
  VerifyAuditCommand,
} from './log.commands.js';
import {
  EraseIncomePersonCommand,
  ErasePartyCommand,
  ErasePersonCommand,
  PersonCommand,
  UnblockPersonCommand,
} from './person.commands.js';
import { OperatorLists } from './operator-lists.js';
import { PaymentsCommand, RefundPaymentCommand } from './payments.commands.js';
import { ProjectionsCommand, RebuildProjectionsCommand } from './projections.commands.js';
import { RewrapVaultCommand, VaultCommand } from './vault.commands.js';
import {
  CheckWebhooksCommand,
  ReplayWebhooksCommand,
  WebhookBacklogCommand,
  WebhooksCommand,
} from './webhooks.commands.js';
import { IssueTokenCommand, RevokeTokenCommand, TokensCommand } from './tokens.commands.js';

type Imports = readonly (Type | DynamicModule)[];

interface CommandGroupParts {
  readonly imports: Imports;
  readonly commands: readonly Provider[];
}

const LOG: Imports = [DataFolderModule, StoredEventsModule, EventStoreModule];
const VAULT: Imports = [...LOG, VaultModule];
/** Redis is connected when it is first used. */
const READ_MODELS: Imports = [...VAULT, RedisModule, KeptInRedisModule, ReadModelsModule];
const ACCOUNTS: Imports = [...READ_MODELS, AggregatesModule, HttpModule, CqrsModule.forRoot(), AccountsModule];

function features(config: Config, vendors: VendorRegistry, log: Log): Imports {
  return [
    ...ACCOUNTS,
    QueuesModule,
    DeliveryQueueModule,
    VendorsModule.forRoot(config, vendors, log),
    WebhookSenderModule,
    MailSenderModule,
    FeaturesModule,
  ];
}

/** The groups of commands, by the first word of a command. */
const GROUPS: Readonly<Record<string, (config: Config, vendors: VendorRegistry, log: Log) => CommandGroupParts>> = {
  // This group imports no module, because the target folder of a restore must stay empty.
  backup: (config) => ({
    imports: [],
    commands: [
      {
        provide: Backups,
        useFactory: (clock: Clock) => new Backups(config, clock),
        inject: [Clock],
      },
      BackupCommand,
      CreateBackupCommand,
      VerifyBackupCommand,
      RestoreBackupCommand,
      ReleaseBackupCommand,
      ExpireBackupsCommand,
      AcceptLedgerCommand,
    ],
  }),
  stream: () => ({ imports: LOG, commands: [StreamCommand, ShowStreamCommand] }),
  log: () => ({ imports: LOG, commands: [LogCommand, CopyLogCommand, CompressLogCommand] }),
  audit: () => ({ imports: VAULT, commands: [AuditCommand, VerifyAuditCommand, AcceptLogCommand] }),
  vault: () => ({ imports: VAULT, commands: [VaultCommand, RewrapVaultCommand] }),
  timeline: () => ({ imports: READ_MODELS, commands: [OperatorLists, TimelineCommand] }),
  accounts: () => ({
    imports: ACCOUNTS,
    commands: [
      OperatorLists,
      AccountsCommand,
      CreateAccountCommand,
      ShowAccountCommand,
      ListAccountsCommand,
      SetAccountCommand,
      AccountCreditCommand,
    ],
  }),
  keys: () => ({
    imports: ACCOUNTS,
    commands: [OperatorLists, KeysCommand, IssueKeyCommand, ListKeysCommand, SetKeyCommand, DeactivateKeyCommand],
  }),
  tokens: () => ({
    imports: ACCOUNTS,
    commands: [OperatorLists, TokensCommand, IssueTokenCommand, RevokeTokenCommand],
  }),
  person: (config, vendors, log) => ({
    imports: features(config, vendors, log),
    commands: [PersonCommand, ErasePersonCommand, EraseIncomePersonCommand, ErasePartyCommand, UnblockPersonCommand],
  }),
  payments: (config, vendors, log) => ({
    imports: features(config, vendors, log),
    commands: [PaymentsCommand, RefundPaymentCommand],
  }),
  webhooks: (config, vendors, log) => ({
    imports: features(config, vendors, log),
    commands: [WebhooksCommand, WebhookBacklogCommand, CheckWebhooksCommand, ReplayWebhooksCommand],
  }),
  deliveries: (config, vendors, log) => ({
    imports: [...features(config, vendors, log), WebhooksModule],
    commands: [DeliveriesCommand, FailingDeliveriesCommand],
  }),
  projections: (config, vendors, log) => ({
    imports: [...features(config, vendors, log), ProjectorModule],
    commands: [ProjectionsCommand, RebuildProjectionsCommand],
  }),
};

@Module({})
export class OpsModule {
  /** Names the program, because the help would otherwise show the name of its file. */
  constructor(@InjectCommander() program: { name(text: string): unknown }) {
    program.name('ops');
  }

  /** `group` is the first word of the command. Any other word gets the commands of all groups, so that the help can list them. */
  static forRoot(config: Config, vendors: VendorRegistry, log: Log, group: string): DynamicModule {
    const chosen = Object.hasOwn(GROUPS, group) ? [GROUPS[group]] : Object.values(GROUPS);
    const parts = chosen.flatMap((partsOf) => (partsOf ? [partsOf(config, vendors, log)] : []));
    return {
      module: OpsModule,
      imports: [
        ProcessModule.forRoot(config, vendors, log, new Metrics()),
        ...new Set(parts.flatMap(({ imports }) => imports)),
      ],
      providers: [Consent, ...parts.flatMap(({ commands }) => commands)],
    };
  }
}
