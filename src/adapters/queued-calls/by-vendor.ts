// Every vendor of a port behind one queue.
import type { VendorCall } from '../../ports/vendor-call.js';
import type { AnyVerdict, CallQueue, Calls } from './queue.js';

type Make = (call: VendorCall, ...input: readonly unknown[]) => Promise<AnyVerdict>;

/** Every operation of the queue, made by the vendor that the call is for; `unavailable` where there is none. */
export function byVendor<Port>(queue: CallQueue<Port>, of: (call: VendorCall) => Calls<Port> | null): Calls<Port> {
  const operations = Object.keys(queue.operations).map((name) => {
    const make: Make = async (call, ...input) => {
      const vendor = of(call);
      if (vendor === null) return { kind: 'unavailable' };
      return (vendor[name as keyof Port] as unknown as Make).call(vendor, call, ...input);
    };
    return [name, make];
  });
  return Object.fromEntries(operations) as Calls<Port>;
}
