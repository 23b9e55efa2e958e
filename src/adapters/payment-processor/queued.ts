// The payment processor as the application calls it: through a queue, by a worker that has the real adapter.
import { PaymentProcessor, type Charge, type IntentVerdict } from '../../ports/payment-processor.js';
import type { VendorCall } from '../../ports/vendor-call.js';
import type { QueuedCalls } from '../queued-calls/caller.js';
import type { CallQueue } from '../queued-calls/queue.js';

export const PAYMENT_PROCESSOR_QUEUE: CallQueue<PaymentProcessor> = {
  name: 'payment-processor',
  operations: {
    createIntent: { repetition: 'idempotent' },
    changeIntent: { repetition: 'idempotent' },
    retrieveIntent: { repetition: 'question' },
  },
};

export class QueuedPaymentProcessor extends PaymentProcessor {
  constructor(private readonly calls: Pick<QueuedCalls<PaymentProcessor>, 'make'>) {
    super();
  }

  override createIntent(
    call: VendorCall,
    charge: Charge,
    names: Parameters<PaymentProcessor['createIntent']>[2],
  ): Promise<IntentVerdict> {
    return this.calls.make('createIntent', call, charge, names);
  }

  override changeIntent(call: VendorCall, intentId: string, charge: Charge): Promise<IntentVerdict> {
    return this.calls.make('changeIntent', call, intentId, charge);
  }

  override retrieveIntent(call: VendorCall, intentId: string): Promise<IntentVerdict> {
    return this.calls.make('retrieveIntent', call, intentId);
  }
}
