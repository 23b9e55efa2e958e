import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { InjectCommander } from 'nest-commander';
import { corePorts, type Engine } from '../app.module.js';
import { DeliveryQueueModule } from '../adapters/delivery-queue/delivery-queue.module.js';
import type { Config } from '../config.js';
import { SystemClock } from '../kernel/clock.js';
import { AccountsModule } from '../modules/accounts/accounts.module.js';
import { EraseIncomePersonHandler } from '../modules/income/application/erase-income-person.js';
import { ReplayEventsHandler } from '../modules/webhooks/application/replay-events.js';
import { WhenEventPublished } from '../modules/webhooks/application/when-event-published.js';
import { ErasePersonHandler } from '../modules/screening/application/erase-person.js';
import { LogWatch } from '../platform/audit/log-watch.js';
import type { Log } from '../platform/observability/log.js';
import { Projector } from '../platform/subscriptions/projector.js';
import { ProjectionStore } from '../ports/projection-store.js';
import {
  AccountCreditCommand,
  AccountsCommand,
  CreateAccountCommand,
  ListAccountsCommand,
  SetAccountCommand,
  ShowAccountCommand,
} from './accounts.commands.js';
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
import { CopyLogCommand, LogCommand } from './log-copy.command.js';
import {
  AcceptLogCommand,
  AuditCommand,
  ShowStreamCommand,
  StreamCommand,
  TimelineCommand,
  VerifyAuditCommand,
} from './log.commands.js';
import { EraseIncomePersonCommand, ErasePersonCommand, PersonCommand } from './person.commands.js';
import { ProjectionsCommand, RebuildProjectionsCommand } from './projections.commands.js';
import { RewrapVaultCommand, VaultCommand } from './vault.commands.js';
import { ReplayWebhooksCommand, WebhookBacklogCommand, WebhooksCommand } from './webhooks.commands.js';
import { IssueTokenCommand, TokensCommand } from './tokens.commands.js';

const COMMANDS: readonly Provider[] = [
  AccountsCommand,
  CreateAccountCommand,
  ShowAccountCommand,
  ListAccountsCommand,
  SetAccountCommand,
  AccountCreditCommand,
  KeysCommand,
  IssueKeyCommand,
  ListKeysCommand,
  SetKeyCommand,
  DeactivateKeyCommand,
  TokensCommand,
  IssueTokenCommand,
  AuditCommand,
  VerifyAuditCommand,
  AcceptLogCommand,
  StreamCommand,
  ShowStreamCommand,
  TimelineCommand,
  LogCommand,
  CopyLogCommand,
  WebhooksCommand,
  WebhookBacklogCommand,
  ReplayWebhooksCommand,
  PersonCommand,
  ErasePersonCommand,
  EraseIncomePersonCommand,
  VaultCommand,
  RewrapVaultCommand,
  ProjectionsCommand,
  RebuildProjectionsCommand,
];

const BACKUP_COMMANDS: readonly Provider[] = [
  BackupCommand,
  CreateBackupCommand,
  VerifyBackupCommand,
  RestoreBackupCommand,
  ReleaseBackupCommand,
  ExpireBackupsCommand,
  AcceptLedgerCommand,
];

/** `ops backup`, which works on folders and files alone. */
@Module({})
export class BackupModule {
  static of(config: Config): DynamicModule {
    return {
      module: BackupModule,
      providers: [{ provide: Backups, useValue: new Backups(config, new SystemClock()) }, ...BACKUP_COMMANDS],
      exports: [Backups],
    };
  }
}

/** The operator command line: the same modules as the service, without its doors, timers, workers and subscriptions. */
@Global()
@Module({})
export class OpsModule {
  /** Otherwise the help would call the command after its file. */
  constructor(@InjectCommander() program: { name(text: string): unknown }) {
    program.name('ops');
  }

  static of(config: Config, engine: Engine, log: Log): DynamicModule {
    const ports = [
      ...corePorts(config, engine, log),
      { provide: ProjectionStore, useValue: engine.projectionStore },
      { provide: Projector, useValue: engine.projector },
      { provide: LogWatch, useValue: engine.logWatch },
    ];
    return {
      module: OpsModule,
      imports: [CqrsModule.forRoot(), DeliveryQueueModule, AccountsModule, BackupModule.of(config)],
      providers: [
        ...ports,
        ErasePersonHandler,
        EraseIncomePersonHandler,
        ReplayEventsHandler,
        WhenEventPublished,
        ...COMMANDS,
      ],
      exports: ports.map(({ provide }) => provide),
    };
  }
}
