// What all queues of `@nestjs/bullmq` have in common.
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

/** BullMQ would print an error without a listener. The user of the queue is told by the use. */
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
