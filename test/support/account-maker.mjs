// Makes accounts like the demo accounts while a service runs. Suites that share the service get accounts with ids of
// their own.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { DataFolderModule } from '../../dist/src/adapters/data-folder.module.js';
import { EventStoreModule } from '../../dist/src/adapters/event-store/event-store.module.js';
import { KeptInRedisModule } from '../../dist/src/adapters/kept-in-redis.module.js';
import { ReadModelsModule } from '../../dist/src/adapters/read-models/read-models.module.js';
import { RedisModule } from '../../dist/src/adapters/redis/redis.module.js';
import { VaultModule } from '../../dist/src/adapters/vault/vault.module.js';
import { readConfig } from '../../dist/src/config/config.js';
import { systemContext } from '../../dist/src/kernel/context.js';
import { AccountsModule } from '../../dist/src/modules/accounts/accounts.module.js';
import { AddCredit } from '../../dist/src/modules/accounts/application/add-credit.js';
import { DEMO_ACCOUNTS, demoOrigins } from '../../dist/src/modules/accounts/application/demo-accounts.js';
import { IssueDashboardToken } from '../../dist/src/modules/accounts/application/issue-dashboard-token.js';
import { IssueKey } from '../../dist/src/modules/accounts/application/issue-key.js';
import { OpenAccount } from '../../dist/src/modules/accounts/application/open-account.js';
import { StoredEventsModule } from '../../dist/src/modules/stored-events.module.js';
import { AggregatesModule } from '../../dist/src/platform/aggregates/aggregates.module.js';
import { HttpModule } from '../../dist/src/platform/http/http.module.js';
import { createLog } from '../../dist/src/platform/observability/log.js';
import { Metrics } from '../../dist/src/platform/observability/metrics.js';
import { ProcessModule } from '../../dist/src/process.module.js';
import { findVendors, VendorRegistry } from '../../dist/src/vendor-kit/registry.js';

const TOKEN_TTL_SECONDS = 86_400;
const context = () => systemContext('tests', { accountId: null, environment: null });
/** The command buses, keyed by data folder. */
const buses = new Map();

/**
 * Returns the content of a credentials file. The accounts in the file have the names, settings and parents of the demo
 * accounts.
 */
export async function makeAccounts(env) {
  if (!buses.has(env.DATA_DIR)) buses.set(env.DATA_DIR, busOf(env));
  const { bus, config } = await buses.get(env.DATA_DIR);
  const { publicUrl, embeddedUrl, demoPort } = config.http;
  const origins = demoOrigins(publicUrl, demoPort);
  const ids = new Map(DEMO_ACCOUNTS.map(({ name }) => [name, randomUUID()]));
  const accounts = {};
  for (const { name, parent, settings, credits, live } of DEMO_ACCOUNTS) {
    const accountId = ids.get(name);
    await bus.execute(
      new OpenAccount(
        { accountId, name: `Test account ${name}`, parentId: ids.get(parent) ?? null, settings },
        context(),
      ),
    );
    if (credits > 0) await bus.execute(new AddCredit({ accountId, credits, reference: 'tests' }, context()));
    const keyed = async (environment, use) =>
      (await bus.execute(new IssueKey({ accountId, environment, use }, context()))).key;
    const publishable = (allowedOrigins) => ({ kind: 'publishable', allowedOrigins, perMinute: null });
    const token = async (role) =>
      (
        await bus.execute(
          new IssueDashboardToken(
            { accountId, userId: randomUUID(), role, environment: 'test', ttlSeconds: TOKEN_TTL_SECONDS },
            context(),
          ),
        )
      ).token;
    const https = origins.filter((origin) => origin.startsWith('https:'));
    const [publishableKey, secretKey, apiKey, livePublishableKey, liveSecretKey, owner, administrator, developer] =
      await Promise.all([
        keyed('test', publishable(origins)),
        keyed('test', { kind: 'secret' }),
        keyed('test', { kind: 'api', clientClass: 'partner' }),
        live.publishable ? keyed('live', publishable(https)) : undefined,
        live.secret ? keyed('live', { kind: 'secret' }) : undefined,
        token('OWNER'),
        token('ADMINISTRATOR'),
        token('DEVELOPER'),
      ]);
    accounts[name] = {
      accountId,
      publishableKey,
      allowedOrigins: origins,
      secretKey,
      apiKey,
      dashboardTokens: { owner, administrator, developer },
      livePublishableKey,
      liveSecretKey,
    };
  }
  return { baseUrl: publicUrl, embeddedUrl, sandboxUrl: env.SANDBOX_URL, accounts };
}

async function busOf(env) {
  const vendors = await findVendors();
  const config = readConfig(env, { tools: true, vendors });
  const registry = new VendorRegistry(vendors, config.vendors.byId);
  const log = createLog('silent', 'ops', { write: () => undefined });
  class Accounts {}
  const imports = [
    ProcessModule.forRoot(config, registry, log, new Metrics()),
    DataFolderModule,
    StoredEventsModule,
    EventStoreModule,
    VaultModule,
    RedisModule,
    KeptInRedisModule,
    ReadModelsModule,
    AggregatesModule,
    HttpModule,
    CqrsModule.forRoot(),
    AccountsModule,
  ];
  const app = await NestFactory.createApplicationContext({ module: Accounts, imports }, { logger: false });
  return { bus: app.get(CommandBus), config };
}
