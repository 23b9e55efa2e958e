// The credit bureau as the application calls it: through a queue, by a worker that has the real adapter.
import { CreditBureau, type ReportVerdict } from '../../ports/credit-bureau.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { QueuedCalls } from '../queued-calls/caller.js';
import type { CallQueue } from '../queued-calls/queue.js';

export const CREDIT_BUREAU_QUEUE: CallQueue<CreditBureau> = {
  name: 'credit-bureau',
  operations: { pullReport: { repetition: 'idempotent' } },
};

export class QueuedCreditBureau extends CreditBureau {
  constructor(private readonly calls: Pick<QueuedCalls<CreditBureau>, 'make'>) {
    super();
  }

  override pullReport(call: VendorCall, vendorSession: string): Promise<ReportVerdict> {
    return this.calls.make('pullReport', call, vendorSession);
  }
}
