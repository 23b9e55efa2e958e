import { join } from 'node:path';
import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { DiskCredentialsFile } from '../adapters/credentials-file/disk.js';
import { RedisRateLimiter } from '../adapters/rate-limiter/redis.js';
import type { Engine } from '../app.module.js';
import type { Config } from '../config.js';
import { Clock } from '../kernel/clock.js';
import { AccountsModule } from '../modules/accounts/accounts.module.js';
import { TokenOptions } from '../modules/accounts/application/exchange-token.js';
import { AccountsOptions } from '../modules/accounts/read/accounts.js';
import { Handling } from '../platform/handling/handling.js';
import { CredentialsFile } from '../ports/credentials-file.js';
import { EventStore } from '../ports/event-store.js';
import { RateLimiter } from '../ports/rate-limiter.js';
import { ReadModels } from '../ports/read-models.js';
import { TokenKeys } from '../ports/token-keys.js';
import { AccountsCommand, CreateAccountCommand, ListAccountsCommand, SetAccountCommand, ShowAccountCommand } from './accounts.commands.js';
import { DeactivateKeyCommand, IssueKeyCommand, KeysCommand, ListKeysCommand, SetKeyCommand } from './keys.commands.js';
import { IssueTokenCommand, TokensCommand } from './tokens.commands.js';

const COMMANDS: readonly Provider[] = [
  AccountsCommand,
  CreateAccountCommand,
  ShowAccountCommand,
  ListAccountsCommand,
  SetAccountCommand,
  KeysCommand,
  IssueKeyCommand,
  ListKeysCommand,
  SetKeyCommand,
  DeactivateKeyCommand,
  TokensCommand,
  IssueTokenCommand,
];

/** The operator command line: the same modules as the service, without its doors, timers, workers and subscriptions. */
@Global()
@Module({})
export class OpsModule {
  static of(config: Config, engine: Engine): DynamicModule {
    const { limits } = config;
    const ports = [
      { provide: Clock, useValue: engine.clock },
      { provide: EventStore, useValue: engine.store },
      { provide: ReadModels, useValue: engine.readModels },
      { provide: TokenKeys, useValue: engine.tokenKeys },
      { provide: Handling, useValue: engine.handling },
      { provide: RateLimiter, useValue: new RedisRateLimiter(engine.redis) },
      { provide: CredentialsFile, useValue: new DiskCredentialsFile(join(config.dataDir, 'demo-credentials.json')) },
      { provide: AccountsOptions, useValue: { production: config.production } },
      { provide: TokenOptions, useValue: { ttlSeconds: limits.tokenTtl, exchangesPerMinute: limits.tokenExchangePerMinute } },
    ];
    return {
      module: OpsModule,
      imports: [CqrsModule.forRoot(), AccountsModule],
      providers: [...ports, ...COMMANDS],
      exports: ports.map(({ provide }) => provide),
    };
  }
}
