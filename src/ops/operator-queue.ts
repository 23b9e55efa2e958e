// The queue of deliveries for an operator command. BullMQ is slow to load, so it is loaded for the first attempt that is queued.
import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  BullMqDeliveryQueue,
  type DispatchJobData,
  type DispatchQueue,
  QUEUE,
  QUEUE_OPTIONS,
} from '../adapters/delivery-queue/bullmq.js';
import { workerConnection } from '../adapters/redis/connection.js';
import { DeliveryQueue, type DueDelivery } from '../ports/delivery-queue.js';

/** The time is short, so that an operator learns soon that Redis is unavailable. */
const WAITS_MS = 2_000;

@Injectable()
class Jobs implements OnApplicationShutdown {
  readonly redis: Redis;
  private queue: Promise<DispatchQueue> | undefined;
  private onError: () => void = () => undefined;

  constructor(redis: Redis) {
    this.redis = workerConnection(redis);
  }

  readonly add: DispatchQueue['add'] = async (...job) => (await this.opened()).add(...job);

  on(_event: 'error', listener: () => void): void {
    this.onError = listener;
  }

  async onApplicationShutdown(): Promise<void> {
    await (await this.queue)?.close();
    this.redis.disconnect();
  }

  private opened(): Promise<DispatchQueue> {
    return (this.queue ??= import('bullmq').then(({ Queue }) =>
      new Queue<DispatchJobData>(QUEUE, { connection: this.redis, ...QUEUE_OPTIONS }).on('error', this.onError),
    ));
  }
}

/** Loads BullMQ before the time limit of Redis starts. */
class LoadedQueue extends BullMqDeliveryQueue {
  override async enqueue(due: DueDelivery, at: Date): Promise<void> {
    await import('bullmq');
    await super.enqueue(due, at);
  }
}

@Global()
@Module({
  providers: [
    Jobs,
    {
      provide: DeliveryQueue,
      useFactory: (jobs: Jobs) => new LoadedQueue(jobs.redis, jobs, { limitMs: WAITS_MS }),
      inject: [Jobs],
    },
  ],
  exports: [DeliveryQueue],
})
export class OperatorQueueModule {}
