// The income vendor as the application calls it: through a queue, by a worker that has the real adapter.
import { IncomeVendor, type IncomeOutcome, type IncomeRoute, type IncomeStart } from '../../ports/income-vendor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { QueuedCalls } from '../queued-calls/caller.js';
import type { CallQueue } from '../queued-calls/queue.js';

export const INCOME_VENDOR_QUEUE: CallQueue<IncomeVendor> = {
  name: 'income-vendor',
  operations: {
    start: { repetition: 'idempotent' },
    outcomeOf: { repetition: 'question' },
  },
};

export class QueuedIncomeVendor extends IncomeVendor {
  constructor(private readonly calls: Pick<QueuedCalls<IncomeVendor>, 'make'>) {
    super();
  }

  override start(call: VendorCall, route: IncomeRoute, vendorSession: string | null): Promise<IncomeStart> {
    return this.calls.make('start', call, route, vendorSession);
  }

  override outcomeOf(call: VendorCall, inquiry: string): Promise<IncomeOutcome> {
    return this.calls.make('outcomeOf', call, inquiry);
  }
}
