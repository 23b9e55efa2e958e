// A payment processor for tests that use no hosted checkout.
import { PaymentProcessor } from '../../src/ports/payment-processor.js';

export abstract class IntentsOnly extends PaymentProcessor {
  override refundIntent(): never {
    throw new Error('This processor makes no refunds');
  }
  override createCheckout(): never {
    throw new Error('This processor has no hosted checkout');
  }
  override retrieveCheckout(): never {
    throw new Error('This processor has no hosted checkout');
  }
  override expireCheckout(): never {
    throw new Error('This processor has no hosted checkout');
  }
}
