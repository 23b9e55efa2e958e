// The read models of this process, as its feature modules declare them.
import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Redis } from 'ioredis';
import { ProcessSettings } from '../../config/process.js';
import { RedisSettings } from '../../config/redis.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { CompleteLists } from '../../platform/subscriptions/complete-lists.js';
import { declaredIn, Projections } from '../../platform/subscriptions/declarations.js';
import { EventStore } from '../../ports/event-store.js';
import { ListProgress } from '../../ports/list-part.js';
import { ProjectionStore } from '../../ports/projection-store.js';
import { ReadModels } from '../../ports/read-models.js';
import { connectionTo } from '../redis/connection.js';
import { RedisProjectionStore } from './redis-projection-store.js';
import { type ReadModelsObserver, RedisReadModels } from './redis.js';

/** The connection is separate, so that a list never waits behind a large commit. */
class ProjectionRedis extends Redis {}

@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    {
      provide: ReadModels,
      useFactory: (
        redis: Redis,
        settings: RedisSettings,
        store: EventStore,
        discovery: DiscoveryService,
        metrics: Metrics,
        log: Log,
      ) => {
        const observer: ReadModelsObserver = {
          applyFailed: (projection, stream, error) => {
            metrics.readModelFailures.inc();
            log.warn({ projection, stream, err: error }, 'the document was not kept for an outage of the log');
          },
        };
        const projections = declaredIn(discovery, Projections);
        return new RedisReadModels(redis, store, projections, observer, settings.documentsKeptForMs);
      },
      inject: [Redis, RedisSettings, EventStore, DiscoveryService, Metrics, Log],
    },
    {
      provide: ProjectionRedis,
      useFactory: (settings: RedisSettings, process: ProcessSettings, log: Log, metrics: Metrics) =>
        connectionTo(settings, process, log, metrics.redisCommandsOf('projections')),
      inject: [RedisSettings, ProcessSettings, Log, Metrics],
    },
    {
      provide: ProjectionStore,
      useFactory: (redis: Redis) => new RedisProjectionStore(redis),
      inject: [ProjectionRedis],
    },
    {
      provide: CompleteLists,
      useFactory: (events: EventStore, store: ProjectionStore, readModels: ReadModels) =>
        new CompleteLists(events, store, readModels),
      inject: [EventStore, ProjectionStore, ReadModels],
    },
    { provide: ListProgress, useExisting: CompleteLists },
  ],
  exports: [ReadModels, ProjectionStore, CompleteLists, ListProgress],
})
export class ReadModelsModule implements OnApplicationShutdown {
  constructor(private readonly redis: ProjectionRedis) {}

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
