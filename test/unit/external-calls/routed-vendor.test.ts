import { describe, expect, it } from '@jest/globals';
import { routedVendor } from '../../../src/external-calls/routed-vendor.js';
import type { VendorCall } from '../../../src/ports/vendor-call.js';

interface Vendor {
  pull(call: VendorCall, what: string): Promise<{ readonly kind: string }>;
}

class NamedVendor implements Vendor {
  readonly calls: string[] = [];

  constructor(private readonly name: string) {}

  pull(call: VendorCall, what: string): Promise<{ readonly kind: string }> {
    this.calls.push(`${call.attemptId} ${what}`);
    return Promise.resolve({ kind: this.name });
  }
}

describe('vendors behind one port', () => {
  const [first, second] = [new NamedVendor('first'), new NamedVendor('second')];
  const observed: unknown[] = [];
  const both = routedVendor<Vendor>(
    'some-vendor',
    {
      operations: ['pull'],
      of: ({ vendor }) => (vendor === 'gone' ? null : vendor === 'second' ? second : first),
    },
    (operation, outcome) => observed.push([operation, outcome]),
  );
  const call = { attemptId: 'one', correlationId: 'c', environment: 'live', subject: null } as const;

  it('are asked by the call; one that is not there is unavailable, and nobody else is asked instead', async () => {
    expect(await both.pull(call, 'a')).toEqual({ kind: 'first' });
    expect(await both.pull({ ...call, vendor: 'second' }, 'b')).toEqual({ kind: 'second' });
    expect(await both.pull({ ...call, vendor: 'gone' }, 'c')).toEqual({ kind: 'unavailable' });
    expect([first.calls, second.calls]).toEqual([['one a'], ['one b']]);
    expect(observed).toEqual([
      ['pull', 'first'],
      ['pull', 'second'],
    ]);
  });
});
