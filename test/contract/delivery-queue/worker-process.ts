// A process whose attempts never end, for bullmq.test.ts, which kills it.
import { Redis } from 'ioredis';
import { BullMqDeliveryQueue } from '../../../src/adapters/delivery-queue/bullmq.js';
import { DeliveryWorkers } from '../../../src/adapters/delivery-queue/workers.js';

const [redisUrl = ''] = process.argv.slice(2);
const queue = new BullMqDeliveryQueue(new Redis(redisUrl, { maxRetriesPerRequest: null }), { attemptMs: 8_000 });
const never = new DeliveryWorkers(
  queue,
  ({ deliveryId }) => {
    process.stdout.write(`${deliveryId}\n`);
    return new Promise(() => undefined);
  },
  { attemptMs: 8_000, lockMs: 400, stalledMs: 200 },
  { reclaimed: () => undefined, failed: () => undefined, troubled: () => undefined },
);
never.start();
