// The modules that commands need, smallest set first. Each set is loaded only for a command that needs it.
import type { DynamicModule, Type } from '@nestjs/common';

export type Imports = readonly (Type | DynamicModule)[];

export async function logAlone(): Promise<Imports> {
  const { DataFolderModule } = await import('../adapters/data-folder.module.js');
  const { StoredEventsModule } = await import('../modules/stored-events.module.js');
  const { EventStoreModule } = await import('../adapters/event-store/event-store.module.js');
  return [DataFolderModule, StoredEventsModule, EventStoreModule];
}

export async function vault(): Promise<Imports> {
  const { VaultModule } = await import('../adapters/vault/vault.module.js');
  const { TransparencyFilesModule } = await import('../adapters/transparency-files/transparency-files.module.js');
  return [...(await logAlone()), TransparencyFilesModule, VaultModule];
}

/** Redis is connected when it is first used. */
export async function readModels(): Promise<Imports> {
  const { RedisModule } = await import('../adapters/redis/redis.module.js');
  const { KeptInRedisModule } = await import('../adapters/kept-in-redis.module.js');
  const { ReadModelsModule } = await import('../adapters/read-models/read-models.module.js');
  return [...(await vault()), RedisModule, KeptInRedisModule, ReadModelsModule];
}

export async function accounts(): Promise<Imports> {
  const { AggregatesModule } = await import('../platform/aggregates/aggregates.module.js');
  const { CqrsModule } = await import('@nestjs/cqrs');
  const { AccountsModule } = await import('../modules/accounts/accounts.module.js');
  return [...(await readModels()), AggregatesModule, CqrsModule.forRoot(), AccountsModule];
}

export async function vendors(): Promise<Imports> {
  const { RoutingModule } = await import('../modules/vendors/vendors.module.js');
  return [...(await accounts()), RoutingModule];
}

export async function deliveryQueue(): Promise<Imports> {
  const { OperatorQueueModule } = await import('./operator-queue.js');
  return [...(await readModels()), OperatorQueueModule];
}

/** Payments and reports, with everything below them. */
export async function payments(): Promise<Imports> {
  const { NotAskedModule } = await import('./not-asked.js');
  const { ReportsModule } = await import('../modules/reports/reports.module.js');
  return [...(await accounts()), NotAskedModule, ReportsModule];
}

export async function persons(): Promise<Imports> {
  const { IncomeModule } = await import('../modules/income/income.module.js');
  return [...(await payments()), IncomeModule];
}

/** All features. */
export async function features(): Promise<Imports> {
  const { NotAskedModule } = await import('./not-asked.js');
  const { FeaturesModule } = await import('../modules/features.module.js');
  return [...(await accounts()), ...(await deliveryQueue()), NotAskedModule, FeaturesModule];
}

export async function projector(): Promise<Imports> {
  const { ProjectorModule } = await import('../platform/subscriptions/projector.module.js');
  return [...(await features()), ProjectorModule];
}
