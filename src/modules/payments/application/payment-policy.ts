import type { RateUse } from '../../../ports/rate-limiter.js';

const MINUTE = 60;

/** Limits for calls about a session's payment (docs/contract/general.md#limits-against-abuse); 0 means unlimited. */
export class PaymentPolicy {
  constructor(private readonly limits: { readonly intentsPerMinute: number; readonly confirmsPerMinute: number }) {}

  intent(sessionId: string): RateUse {
    return { key: `payment-intents:${sessionId}`, limit: this.limits.intentsPerMinute, windowSeconds: MINUTE };
  }

  confirm(sessionId: string): RateUse {
    return { key: `confirms:${sessionId}`, limit: this.limits.confirmsPerMinute, windowSeconds: MINUTE };
  }

  /** The processor is asked once a second. Callers in between get the answer seen then. */
  look(paymentId: string): RateUse {
    return { key: `payment-looks:${paymentId}`, limit: Math.min(1, this.limits.confirmsPerMinute), windowSeconds: 1 };
  }
}
