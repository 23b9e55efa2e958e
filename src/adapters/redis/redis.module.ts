// The connection to Redis.
import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Redis } from 'ioredis';
import { ProcessSettings } from '../../config/process.js';
import { RedisSettings } from '../../config/redis.js';
import { InvalidConfig } from '../../config/variables.js';
import { Health } from '../../platform/http/health.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { rolePart } from '../../platform/roles/role-part.js';
import { connectionTo } from './connection.js';
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
      // A queue may already have begun to connect. The client keeps trying to reach an unavailable Redis, and the health check reports the outage.
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
  ],
  exports: [Redis],
})
export class RedisModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly redis: Redis,
    private readonly redisHealth: RedisHealth,
    private readonly health: Health,
  ) {}

  onModuleInit(): void {
    this.health.add('redis', () => this.redisHealth.complaint());
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}
