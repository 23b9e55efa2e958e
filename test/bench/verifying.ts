// Verifies the log in a folder as `ops audit verify` does, without a vault. The program prints the duration and the
// processor time in milliseconds.
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { rangesOf, walkInThreads } from '../../src/ops/verify-in-threads.js';
import { verifyLog } from '../../src/platform/audit/verify.js';

const [, , directory = ''] = process.argv;
const mapSizeBytes = 16 * 2 ** 30;
const store = EmbeddedEventStore.open({ directory, mapSizeBytes });
const ranges = rangesOf(null, await store.head());
const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
await verifyLog(store, {
  onFault: ({ fault }) => {
    throw new Error(fault);
  },
  walked: (chosenTypes) => walkInThreads(ranges, { directory, mapSizeBytes, chosenTypes }),
});
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(JSON.stringify({ ms: performance.now() - startedAt, cpuMs: (user + system) / 1_000 }));
await store.close();
