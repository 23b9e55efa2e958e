// The double in its certification: the roles of its requests, and its consumers with the verdicts that they must get.
import type {
  CertifiedDouble,
  CertifiedPersona,
  DocumentedError,
  ExpectedVerdict,
} from '../../../vendor-kit/double/certified-double.js';
import { SandboxProcessor } from './processor.js';

const secretKey = 'sk_test_certified_secret_of_stripe';
const webhookSecrets = 'whsec_certified_secret_of_stripe';

const error = (operation: string, status: number, error: object, verdict: ExpectedVerdict): DocumentedError => {
  return { operation, status, body: { error: { message: 'in the words of the processor', ...error } }, verdict };
};
const refused = (facts: object = {}) => ({ kind: 'refused', ...facts });
const invalid = (more: object) => ({ type: 'invalid_request_error', ...more });

export const double: CertifiedDouble = {
  roles: {
    processor: [
      'POST /v1/payment_intents',
      'POST /v1/payment_intents/*',
      'POST /v1/refunds',
      'POST /v1/checkout/sessions',
      'POST /v1/checkout/sessions/*/expire',
    ],
    verdict: ['GET /v1/payment_intents/*', 'GET /v1/checkout/sessions/*'],
    outcome: ['GET /v1/payment_intents', 'GET /v1/checkout/sessions'],
  },
  errors: [
    error('createIntent', 400, invalid({ code: 'amount_too_small', param: 'amount' }), refused({ part: 'amount' })),
    error('createIntent', 400, { type: 'idempotency_error' }, refused({ code: 'idempotency_error' })),
    error('createIntent', 401, invalid({}), refused({ code: 'invalid_request_error' })),
    error('createIntent', 429, invalid({ code: 'rate_limit' }), { kind: 'unavailable' }),
    error('changeIntent', 400, invalid({ code: 'payment_intent_unexpected_state' }), refused()),
    error('changeIntent', 429, invalid({ code: 'lock_timeout' }), { kind: 'unavailable' }),
    error('retrieveIntent', 404, invalid({ code: 'resource_missing' }), { kind: 'not-found' }),
    error(
      'refundIntent',
      400,
      invalid({ code: 'charge_already_refunded' }),
      refused({
        code: 'charge_already_refunded',
      }),
    ),
    error('refundIntent', 400, invalid({ code: 'balance_insufficient' }), refused({ code: 'balance_insufficient' })),
    error(
      'createCheckout',
      400,
      invalid({ code: 'email_invalid', param: 'customer_email' }),
      refused({
        part: 'email',
      }),
    ),
    error(
      'createCheckout',
      400,
      invalid({ code: 'url_invalid', param: 'success_url' }),
      refused({
        part: 'successUrl',
      }),
    ),
    error('retrieveCheckout', 404, invalid({ code: 'resource_missing' }), { kind: 'not-found' }),
    error('expireCheckout', 400, invalid({}), refused({ code: 'invalid_request_error' })),
  ],
  connectedAccount: 'acct_certified',
  start(folder) {
    const part = new SandboxProcessor({ folder, secretKey, events: null });
    return {
      part,
      settings: (url) => ({ url, secretKey, webhookSecrets }),
      pay: (id, by) => part.pay(id, by),
      understood: (key) => part.understood(key),
    };
  },
};

const ofIntent = (status: string, facts: object = {}) => ({ kind: 'intent', intent: { status, ...facts } });
const ofCheckout = (status: string, facts: object = {}) => ({ kind: 'checkout', session: { status, ...facts } });

export const personas: readonly CertifiedPersona[] = [
  {
    payment: {
      by: 'pm_card_visa',
      intent: ofIntent('succeeded', { receivedCents: 4_217, lastErrorCode: null }),
      refund: { kind: 'refunded' },
      checkout: ofCheckout('complete', { url: null, payment: { amountCents: 4_217, currency: 'usd' } }),
      expiry: { kind: 'refused' },
    },
  },
  {
    payment: {
      by: 'pm_card_chargeDeclined',
      intent: ofIntent('requires_payment_method', { receivedCents: 0, lastErrorCode: 'card_declined' }),
      refund: { kind: 'refused' },
      checkout: ofCheckout('open', { payment: null }),
      expiry: ofCheckout('expired', { url: null, payment: null }),
    },
  },
  {
    payment: {
      by: null,
      intent: ofIntent('requires_payment_method', { receivedCents: 0, lastErrorCode: null }),
      refund: { kind: 'refused' },
      checkout: ofCheckout('open', { payment: null }),
      expiry: ofCheckout('expired', { url: null, payment: null }),
    },
  },
];
