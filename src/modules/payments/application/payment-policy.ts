import { limitRule, type RateUse } from '../../../ports/rate-limiter.js';

const MINUTE = 60;

/** Limits for calls about a session's payment (docs/contract/general.md#limits-against-abuse); 0 means unlimited. */
export class PaymentPolicy {
  constructor(private readonly limits: { readonly intentsPerMinute: number; readonly confirmsPerMinute: number }) {}

  intent(sessionId: string): RateUse {
    const limit = this.limits.intentsPerMinute;
    const rule = limitRule(limit, 'payment intents of one session', MINUTE, 'PAYMENT_INTENTS_PER_MINUTE');
    return { key: `payment-intents:${sessionId}`, limit, windowSeconds: MINUTE, rule };
  }

  confirm(sessionId: string): RateUse {
    const limit = this.limits.confirmsPerMinute;
    const rule = limitRule(limit, 'confirmations of one session', MINUTE, 'CONFIRMS_PER_MINUTE');
    return { key: `confirms:${sessionId}`, limit, windowSeconds: MINUTE, rule };
  }

  /** The processor is asked at most once a second. In the meantime, other callers get the last answer. */
  look(paymentId: string): RateUse {
    return { key: `payment-looks:${paymentId}`, limit: Math.min(1, this.limits.confirmsPerMinute), windowSeconds: 1 };
  }
}
