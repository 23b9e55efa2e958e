// Two vendors behind one queue: the real one for live traffic, another for the test environment's.
import type { VendorCall } from '../../ports/vendor-call.js';
import type { CallQueue, Calls } from './queue.js';

/** Every operation of the queue, made by the vendor of the call's environment. */
export function byEnvironment<Port>(queue: CallQueue<Port>, live: Calls<Port>, test: Calls<Port>): Calls<Port> {
  const operations = Object.keys(queue.operations).map((name) => {
    const operation = name as keyof Port;
    const make = (call: VendorCall, ...input: readonly unknown[]): unknown => {
      const vendor = call.environment === 'live' ? live : test;
      return (vendor[operation] as (call: VendorCall, ...input: readonly unknown[]) => unknown).call(
        vendor,
        call,
        ...input,
      );
    };
    return [name, make];
  });
  return Object.fromEntries(operations) as Calls<Port>;
}
