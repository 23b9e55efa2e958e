// The queue of webhook deliveries, and the workers that make the deliveries.
import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Redis } from 'ioredis';
import { Limits } from '../../config/limits.js';
import { ProcessSettings, runs } from '../../config/process.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { rolePart } from '../../platform/roles/role-part.js';
import { DeliveryAttempts, DeliveryQueue } from '../../ports/delivery-queue.js';
import { measure, workerConnection } from '../redis/connection.js';
import { BullMqDeliveryQueue, DispatchSettings, type DispatchQueue, QUEUE, QUEUE_OPTIONS } from './bullmq.js';
import { AttemptRunner, Dispatcher } from './dispatcher.js';

/** The time that an attempt may take beyond its receiver's limit, in milliseconds. */
const RECORDING_MS = 2_000;

@Injectable()
class DispatchConnection implements OnApplicationShutdown {
  readonly redis: Redis;

  constructor(redis: Redis, metrics: Metrics) {
    this.redis = workerConnection(redis);
    measure(this.redis, metrics.redisCommandsOf('deliveries'));
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }
}

@Module({ providers: [DispatchConnection], exports: [DispatchConnection] })
class DispatchConnectionModule {}

@Global()
@Module({
  imports: [
    DispatchConnectionModule,
    BullModule.registerQueueAsync({
      name: QUEUE,
      imports: [DispatchConnectionModule],
      inject: [DispatchConnection],
      useFactory: ({ redis }: DispatchConnection) => ({ connection: redis, ...QUEUE_OPTIONS }),
    }),
  ],
  providers: [
    { provide: DispatchSettings, useValue: {} },
    {
      provide: BullMqDeliveryQueue,
      useFactory: (
        { redis }: DispatchConnection,
        jobs: DispatchQueue,
        settings: DispatchSettings,
        process: ProcessSettings,
        metrics: Metrics,
      ) => {
        const queue = new BullMqDeliveryQueue(redis, jobs, settings);
        if (runs(process, 'worker'))
          metrics.beforeScrape(async () => {
            const { waiting, delayed, oldestDueMs } = await queue.backlog();
            metrics.queueDepth.set({ queue: 'webhook-deliveries' }, waiting + delayed);
            metrics.queueOldest.set({ queue: 'webhook-deliveries' }, oldestDueMs / 1_000);
          });
        return queue;
      },
      inject: [DispatchConnection, getQueueToken(QUEUE), DispatchSettings, ProcessSettings, Metrics],
    },
    { provide: DeliveryQueue, useExisting: BullMqDeliveryQueue },
  ],
  exports: [BullMqDeliveryQueue, DeliveryQueue],
})
export class DeliveryQueueModule {}

/** For processes that only run workers. The class that makes the attempts needs the queue, so it is resolved at the first attempt. */
@Module({
  providers: [
    {
      provide: AttemptRunner,
      useFactory: (limits: Limits, metrics: Metrics, log: Log, modules: ModuleRef): AttemptRunner => ({
        limitMs: limits.webhookTimeout * 1_000 + RECORDING_MS,
        run: async (due) => {
          const answer = await modules.get(DeliveryAttempts, { strict: false }).attempt(due);
          if (answer && 'outcome' in answer) metrics.webhookAttempts.inc({ outcome: answer.outcome });
          return answer;
        },
        failed: (deliveryId, error) =>
          log.error({ deliveryId, err: error }, 'a delivery attempt failed with a fault of the service'),
        reclaimed: () => metrics.webhookReclaimed.inc(),
        troubled: (error) => log.warn({ err: error }, 'the delivery queue is in trouble'),
      }),
      inject: [Limits, Metrics, Log, ModuleRef],
    },
    Dispatcher,
    rolePart('worker', Dispatcher, (worker) => ({ start: () => worker.start(), stop: () => worker.close() })),
  ],
})
export class DeliveryWorkersModule {}
