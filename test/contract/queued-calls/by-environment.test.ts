import { describe, expect, it } from '@jest/globals';
import { byEnvironment } from '../../../src/adapters/queued-calls/by-environment.js';
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

describe('two vendors behind one queue', () => {
  it('are called each for their own environment, and never for the other', async () => {
    const live = new NamedVendor('live');
    const test = new NamedVendor('test');
    const both = byEnvironment(QUEUE, live, test);
    expect(await both.pull({ attemptId: 'one', correlationId: 'c', environment: 'live', subject: null }, 'a')).toEqual({
      kind: 'live',
    });
    expect(await both.pull({ attemptId: 'two', correlationId: 'c', environment: 'test', subject: null }, 'b')).toEqual({
      kind: 'test',
    });
    expect([live.calls, test.calls]).toEqual([['one a'], ['two b']]);
  });
});
