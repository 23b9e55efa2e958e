// The service: its infrastructure in the order of opening, its features, and the parts that a process of its role runs by itself. Nest closes these
// parts in the opposite order: RolesModule first, the global infrastructure last.
import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { DataFolderModule } from './adapters/data-folder.module.js';
import { DeliveryQueueModule, DeliveryWorkersModule } from './adapters/delivery-queue/delivery-queue.module.js';
import { EventStoreModule } from './adapters/event-store/event-store.module.js';
import { KeptInRedisModule } from './adapters/kept-in-redis.module.js';
import { MailSenderModule } from './adapters/mail-sender/mail-sender.module.js';
import { ReadModelsModule } from './adapters/read-models/read-models.module.js';
import { RedisModule } from './adapters/redis/redis.module.js';
import { TransparencyFilesModule } from './adapters/transparency-files/transparency-files.module.js';
import { VaultModule } from './adapters/vault/vault.module.js';
import { VendorsModule } from './adapters/vendors.module.js';
import { WebhookSenderModule } from './adapters/webhook-sender/webhook-sender.module.js';
import type { Config } from './config/config.js';
import { runs } from './config/process.js';
import { FeaturesModule } from './modules/features.module.js';
import { RoutesModule } from './modules/routes.module.js';
import { StoredEventsModule } from './modules/stored-events.module.js';
import { SurfacesModule } from './modules/surfaces.module.js';
import { AggregatesModule } from './platform/aggregates/aggregates.module.js';
import { UseCaseCheck } from './platform/aggregates/use-case.js';
import { HttpModule } from './platform/http/http.module.js';
import type { Log } from './platform/observability/log.js';
import type { Metrics } from './platform/observability/metrics.js';
import { RolesModule } from './platform/roles/roles.module.js';
import { ProjectorModule } from './platform/subscriptions/projector.module.js';
import { WorkersModule } from './platform/subscriptions/workers.module.js';
import { ProcessModule } from './process.module.js';
import { TransparencyModule } from './transparency/transparency.module.js';
import type { VendorRegistry } from './vendor-kit/registry.js';

@Module({})
export class AppModule {
  static forRoot(config: Config, vendors: VendorRegistry, log: Log, metrics: Metrics): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ProcessModule.forRoot(config, vendors, log, metrics),
        DataFolderModule,
        TransparencyFilesModule,
        StoredEventsModule,
        EventStoreModule,
        VaultModule,
        RedisModule,
        KeptInRedisModule,
        ReadModelsModule,
        AggregatesModule,
        HttpModule,
        DeliveryQueueModule,
        VendorsModule.forRoot(config, vendors, log),
        WebhookSenderModule,
        MailSenderModule,
        CqrsModule.forRoot(),
        DiscoveryModule,
        FeaturesModule,
        RoutesModule,
        SurfacesModule,
        ...(runs(config.process, 'worker') ? [DeliveryWorkersModule] : []),
        ProjectorModule,
        WorkersModule,
        TransparencyModule,
        RolesModule,
      ],
      providers: [UseCaseCheck],
    };
  }
}
