// The common settings of all queues of `@nestjs/bullmq`.
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

/** BullMQ would print an error event without a listener. The user of the queue gets the error from the call. */
class HeardQueue extends Queue {
  constructor(...options: ConstructorParameters<typeof Queue>) {
    super(...options);
    this.on('error', () => undefined);
  }
}

BullModule.queueClass = HeardQueue;

@Module({
  imports: [BullModule.forRootAsync({ useFactory: (redis: Redis) => ({ connection: redis }), inject: [Redis] })],
})
export class QueuesModule {}
