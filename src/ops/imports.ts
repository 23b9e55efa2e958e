// The modules that commands need, smallest set first. Each set is loaded only for a command that needs it.
import type { DynamicModule, Type } from '@nestjs/common';
import type { Config } from '../config/config.js';
import type { Log } from '../platform/observability/log.js';
import type { VendorRegistry } from '../vendor-kit/registry.js';

export type Imports = readonly (Type | DynamicModule)[];

export interface Started {
  readonly config: Config;
  readonly vendors: VendorRegistry;
  readonly log: Log;
}

export async function logAlone(): Promise<Imports> {
  const { DataFolderModule } = await import('../adapters/data-folder.module.js');
  const { StoredEventsModule } = await import('../modules/stored-events.module.js');
  const { EventStoreModule } = await import('../adapters/event-store/event-store.module.js');
  return [DataFolderModule, StoredEventsModule, EventStoreModule];
}

export async function vault(): Promise<Imports> {
  const { VaultModule } = await import('../adapters/vault/vault.module.js');
  return [...(await logAlone()), VaultModule];
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
  const { AccountOperationsModule } = await import('../modules/accounts/account-operations.module.js');
  return [...(await readModels()), AggregatesModule, CqrsModule.forRoot(), AccountOperationsModule];
}

export async function deliveryQueue(): Promise<Imports> {
  const { QueuesModule } = await import('../adapters/redis/queues.module.js');
  const { DeliveryQueueModule } = await import('../adapters/delivery-queue/delivery-queue.module.js');
  return [...(await readModels()), QueuesModule, DeliveryQueueModule];
}

export async function features({ config, vendors, log }: Started): Promise<Imports> {
  const { VendorsModule } = await import('../adapters/vendors.module.js');
  const { WebhookSenderModule } = await import('../adapters/webhook-sender/webhook-sender.module.js');
  const { MailSenderModule } = await import('../adapters/mail-sender/mail-sender.module.js');
  const { HttpModule } = await import('../platform/http/http.module.js');
  const { FeaturesModule } = await import('../modules/features.module.js');
  return [
    ...(await accounts()),
    ...(await deliveryQueue()),
    HttpModule,
    VendorsModule.forRoot(config, vendors, log),
    WebhookSenderModule,
    MailSenderModule,
    FeaturesModule,
  ];
}

export async function projector(started: Started): Promise<Imports> {
  const { ProjectorModule } = await import('../platform/subscriptions/projector.module.js');
  return [...(await features(started)), ProjectorModule];
}
