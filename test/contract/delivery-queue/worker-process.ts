// A process whose attempts never end. faults.int.test.ts kills it.
import 'reflect-metadata';
import { startProcess } from './deliveries.js';

const [redisUrl = ''] = process.argv.slice(2);
const never = await startProcess(
  redisUrl,
  ({ deliveryId }) => {
    process.stdout.write(`${deliveryId}\n`);
    return new Promise(() => undefined);
  },
  { attempts: { limitMs: 60_000 } },
);
never.worker.start();
