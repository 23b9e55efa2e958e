// A thread of `ops audit verify` (verify-in-threads.ts): walks one range of the embedded log after another. A null message ends the thread.
import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { EmbeddedEventStore } from '../adapters/event-store/embedded.js';
import { type LogRange, walk } from '../platform/audit/walk.js';
import { together, type VerifyThreadData } from './verify-in-threads.js';

const { directory, mapSizeBytes, chosenTypes } = workerData as VerifyThreadData;
const store = EmbeddedEventStore.open({ directory, mapSizeBytes });
if (parentPort === null) throw new Error('Not a thread');
for await (const [range] of on(parentPort, 'message') as AsyncIterable<[LogRange | null]>) {
  if (range === null) break;
  parentPort.postMessage(await together(walk(store, range, chosenTypes)));
}
await store.close();
parentPort.close();
