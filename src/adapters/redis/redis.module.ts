// The connection to Redis, and what small things are kept there.
import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Limits } from '../../config/limits.js';
import { ProcessSettings } from '../../config/process.js';
import { RedisSettings } from '../../config/redis.js';
import { InvalidConfig } from '../../config/variables.js';
import { EventStoreSettings } from '../../config/event-store.js';
import { Health } from '../../platform/http/health.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { rolePart } from '../../platform/roles/role-part.js';
import { IdempotencyRecords } from '../../ports/idempotency-records.js';
import { StoredLog } from '../../ports/event-store.js';
import { HandlerCheckpoints } from '../../ports/handler-checkpoints.js';
import { RateLimiter } from '../../ports/rate-limiter.js';
import { Scheduler } from '../../ports/scheduler.js';
import { TemporaryFiles } from '../../ports/temporary-files.js';
import { Vault } from '../../ports/vault.js';
import { EmbeddedEventStore } from '../event-store/embedded.js';
import { RedisHandlerCheckpoints } from '../handler-checkpoints/redis.js';
import { RedisIdempotencyRecords } from '../idempotency-records/redis.js';
import { RedisRateLimiter } from '../rate-limiter/redis.js';
import { RedisScheduler } from '../scheduler/redis.js';
import { RedisTemporaryFiles } from '../temporary-files/redis.js';
import { connectionTo } from './connection.js';
import { ANOTHER_LOG, LogInUse } from './log-in-use.js';
import { RedisHealth } from './redis-health.js';

@Global()
@Module({
  providers: [
    {
      provide: Redis,
      useFactory: (settings: RedisSettings, process: ProcessSettings, log: Log, metrics: Metrics) =>
        connectionTo(settings, process, log, metrics.redisCommandsOf('main')),
      inject: [RedisSettings, ProcessSettings, Log, Metrics],
    },
    rolePart('every-role', Redis, (redis) => ({
      // A queue may have begun to connect already. A Redis that is away is looked for again, and told by the health.
      start: () => void redis.connect().catch(() => undefined),
    })),
    {
      provide: RedisHealth,
      useFactory: (redis: Redis, { production }: ProcessSettings, metrics: Metrics, log: Log) =>
        new RedisHealth(redis, production, {
          used: (bytes) => metrics.redisSpace.set(bytes),
          drops: (complaint) => log.warn(complaint),
        }),
      inject: [Redis, ProcessSettings, Metrics, Log],
    },
    rolePart('every-role', RedisHealth, (redisHealth) => ({
      start: async () => {
        const complaint = await redisHealth.policyComplaint();
        if (complaint !== null) throw new InvalidConfig(`REDIS_URL: ${complaint}`);
      },
    })),
    {
      provide: LogInUse,
      useFactory: (redis: Redis, stored: StoredLog, { place }: EventStoreSettings, log: Log) =>
        // A cluster has no id of ours: it counts as one log, other than any embedded one.
        new LogInUse(
          redis,
          () => (stored instanceof EmbeddedEventStore ? stored.id() : place.kind),
          (mustEnd) => {
            log.error(ANOTHER_LOG);
            if (mustEnd) process.kill(process.pid, 'SIGTERM');
          },
        ),
      inject: [Redis, StoredLog, EventStoreSettings, Log],
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
  exports: [Redis, RateLimiter, IdempotencyRecords, TemporaryFiles, HandlerCheckpoints, Scheduler],
})
export class RedisModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly redis: Redis,
    private readonly redisHealth: RedisHealth,
    private readonly logInUse: LogInUse,
    private readonly health: Health,
  ) {}

  onModuleInit(): void {
    this.health.add('redis', () => this.redisHealth.complaint());
    this.health.add('log-in-use', () => this.logInUse.complaint);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
