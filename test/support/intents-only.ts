// A payment processor for tests in which nobody is sent to a hosted checkout.
import { PaymentProcessor } from '../../src/ports/payment-processor.js';

export abstract class IntentsOnly extends PaymentProcessor {
  override refundIntent(): never {
    throw new Error('Nothing is refunded here');
  }
  override createCheckout(): never {
    throw new Error('Nobody checks out here');
  }
  override retrieveCheckout(): never {
    throw new Error('Nobody checks out here');
  }
  override expireCheckout(): never {
    throw new Error('Nobody checks out here');
  }
}
