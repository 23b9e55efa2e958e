// The queue of webhook deliveries, and what takes them from it in a worker.
import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Redis } from 'ioredis';
import { Config, runs } from '../../config.js';
import { Log } from '../../platform/observability/log.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { DeliveryAttempts, DeliveryQueue } from '../../ports/delivery-queue.js';
import { BullMqDeliveryQueue } from './bullmq.js';
import { DeliveryWorkers } from './workers.js';

@Global()
@Module({
  providers: [
    {
      provide: DeliveryQueue,
      useFactory: (redis: Redis, config: Config, metrics: Metrics) => {
        const queue = new BullMqDeliveryQueue(redis, { attemptMs: config.limits.webhookTimeout * 1_000 });
        if (runs(config, 'worker'))
          metrics.beforeScrape(async () => {
            const { waiting, delayed, oldestDueMs } = await queue.backlog();
            metrics.queueDepth.set({ queue: 'webhook-deliveries' }, waiting + delayed);
            metrics.queueOldest.set({ queue: 'webhook-deliveries' }, oldestDueMs / 1_000);
          });
        return queue;
      },
      inject: [Redis, Config, Metrics],
    },
    {
      provide: DeliveryWorkers,
      useFactory: (queue: BullMqDeliveryQueue, { limits }: Config, metrics: Metrics, log: Log, modules: ModuleRef) =>
        new DeliveryWorkers(
          queue,
          async (due) => {
            const answer = await modules.get(DeliveryAttempts, { strict: false }).attempt(due);
            if (answer !== null) metrics.webhookAttempts.inc({ outcome: answer.outcome });
            return answer;
          },
          { attemptMs: limits.webhookTimeout * 1_000 },
          {
            reclaimed: (count) => metrics.webhookReclaimed.inc(count),
            failed: (deliveryId, error) =>
              log.error({ deliveryId, err: error }, 'a delivery attempt failed with a fault of ours'),
            troubled: (error) => log.warn({ err: error }, 'the delivery queue is in trouble'),
          },
        ),
      inject: [DeliveryQueue, Config, Metrics, Log, ModuleRef],
    },
  ],
  exports: [DeliveryQueue, DeliveryWorkers],
})
export class DeliveryQueueModule implements OnApplicationShutdown {
  constructor(private readonly queue: DeliveryQueue) {}

  /** After the workers. */
  async onApplicationShutdown(): Promise<void> {
    await (this.queue as BullMqDeliveryQueue).close();
  }
}
