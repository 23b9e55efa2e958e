import type { RateUse } from '../../../ports/rate-limiter.js';

const MINUTE = 60;

/** How often the payment of a session may be asked about (docs/contract/general.md#limits-against-abuse); 0 is no limit. */
export class PaymentPolicy {
  constructor(private readonly limits: { readonly intentsPerMinute: number; readonly confirmsPerMinute: number }) {}

  intent(sessionId: string): RateUse {
    return { key: `payment-intents:${sessionId}`, limit: this.limits.intentsPerMinute, windowSeconds: MINUTE };
  }

  confirm(sessionId: string): RateUse {
    return { key: `confirms:${sessionId}`, limit: this.limits.confirmsPerMinute, windowSeconds: MINUTE };
  }

  /** The processor is looked at once a second: a caller in between is answered from what was seen then. */
  look(paymentId: string): RateUse {
    return { key: `payment-looks:${paymentId}`, limit: Math.min(1, this.limits.confirmsPerMinute), windowSeconds: 1 };
  }
}
