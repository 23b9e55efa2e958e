// The small stores that use Redis.
import { Global, Module } from '@nestjs/common';
import { Redis } from 'ioredis';
import { EventStoreSettings } from '../config/event-store.js';
import { Limits } from '../config/limits.js';
import { InvalidConfig } from '../config/variables.js';
import { Health } from '../platform/http/health.js';
import { Log } from '../platform/observability/log.js';
import { Metrics } from '../platform/observability/metrics.js';
import { rolePart } from '../platform/roles/role-part.js';
import { StoredLog } from '../ports/event-store.js';
import { HandlerCheckpoints } from '../ports/handler-checkpoints.js';
import { IdempotencyRecords } from '../ports/idempotency-records.js';
import { RateLimiter } from '../ports/rate-limiter.js';
import { RequestLog } from '../ports/request-log.js';
import { Scheduler } from '../ports/scheduler.js';
import { TemporaryFiles } from '../ports/temporary-files.js';
import { Vault } from '../ports/vault.js';
import { EmbeddedEventStore } from './event-store/embedded.js';
import { RedisHandlerCheckpoints } from './handler-checkpoints/redis.js';
import { RedisIdempotencyRecords } from './idempotency-records/redis.js';
import { RedisRateLimiter } from './rate-limiter/redis.js';
import { ANOTHER_LOG, LogInUse } from './redis/log-in-use.js';
import { RedisRequestLog } from './request-log/redis.js';
import { RedisScheduler } from './scheduler/redis.js';
import { RedisTemporaryFiles } from './temporary-files/redis.js';

@Global()
@Module({
  providers: [
    {
      provide: LogInUse,
      useFactory: (redis: Redis, stored: StoredLog, { place }: EventStoreSettings, log: Log, health: Health) => {
        const logInUse = new LogInUse(
          redis,
          // The service gives no id to a cluster. A cluster counts as one log that differs from every embedded log.
          () => (stored instanceof EmbeddedEventStore ? stored.id() : place.kind),
          (mustEnd) => {
            log.error(ANOTHER_LOG);
            if (mustEnd) process.kill(process.pid, 'SIGTERM');
          },
        );
        health.add('log-in-use', () => logInUse.complaint);
        return logInUse;
      },
      inject: [Redis, StoredLog, EventStoreSettings, Log, Health],
    },
    rolePart('every-role', LogInUse, (logInUse) => ({
      start: async () => {
        if (!(await logInUse.start())) throw new InvalidConfig(ANOTHER_LOG);
      },
      stop: () => logInUse.stop(),
    })),
    {
      provide: RateLimiter,
      useFactory: (redis: Redis, vault: Vault, metrics: Metrics) =>
        new RedisRateLimiter(
          redis,
          () => vault.installationKey('rate-limits'),
          () => metrics.rateUncounted.inc(),
        ),
      inject: [Redis, Vault, Metrics],
    },
    {
      provide: IdempotencyRecords,
      useFactory: (redis: Redis, vault: Vault, limits: Limits, metrics: Metrics) =>
        new RedisIdempotencyRecords(
          redis,
          vault,
          {},
          { ofVisitor: limits.idempotencyKeysPerLineage, ofAccount: limits.idempotencyKeysPerAccount },
          () => metrics.repliesNotKept.inc(),
        ),
      inject: [Redis, Vault, Limits, Metrics],
    },
    {
      provide: TemporaryFiles,
      useFactory: (redis: Redis, vault: Vault) => new RedisTemporaryFiles(redis, vault),
      inject: [Redis, Vault],
    },
    { provide: RequestLog, useFactory: (redis: Redis) => new RedisRequestLog(redis), inject: [Redis] },
    {
      provide: HandlerCheckpoints,
      useFactory: (redis: Redis) => new RedisHandlerCheckpoints(redis),
      inject: [Redis],
    },
    {
      provide: Scheduler,
      useFactory: (redis: Redis, log: Log) =>
        new RedisScheduler(redis, (name, error) => log.error({ timer: name, err: error }, 'timer failed')),
      inject: [Redis, Log],
    },
  ],
  exports: [RateLimiter, IdempotencyRecords, TemporaryFiles, RequestLog, HandlerCheckpoints, Scheduler],
})
export class KeptInRedisModule {}
