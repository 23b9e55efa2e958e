import { describe, expect, it } from '@jest/globals';
import { byVendor } from '../../../src/adapters/queued-calls/by-vendor.js';
import type { CallQueue } from '../../../src/adapters/queued-calls/queue.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';

interface Vendor {
  pull(call: VendorCall, what: string): Promise<{ readonly kind: string }>;
}

const QUEUE: CallQueue<Vendor> = { name: 'some-vendor', operations: { pull: { repetition: 'idempotent' } } };

class NamedVendor implements Vendor {
  readonly calls: string[] = [];

  constructor(private readonly name: string) {}

  pull(call: VendorCall, what: string): Promise<{ readonly kind: string }> {
    this.calls.push(`${call.attemptId} ${what}`);
    return Promise.resolve({ kind: this.name });
  }
}

describe('vendors behind one queue', () => {
  const [first, second] = [new NamedVendor('first'), new NamedVendor('second')];
  const both = byVendor(QUEUE, ({ vendor }) => (vendor === 'gone' ? null : vendor === 'second' ? second : first));
  const call = { attemptId: 'one', correlationId: 'c', environment: 'live', subject: null } as const;

  it('are asked by the call; one that is not there is unavailable, and nobody else is asked instead', async () => {
    expect(await both.pull(call, 'a')).toEqual({ kind: 'first' });
    expect(await both.pull({ ...call, vendor: 'second' }, 'b')).toEqual({ kind: 'second' });
    expect(await both.pull({ ...call, vendor: 'gone' }, 'c')).toEqual({ kind: 'unavailable' });
    expect([first.calls, second.calls]).toEqual([['one a'], ['one b']]);
  });
});
