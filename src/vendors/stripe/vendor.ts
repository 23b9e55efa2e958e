import { secretOf } from '../../kernel/vendor-settings.js';
import { defineVendor } from '../../vendor-kit/define-vendor.js';
import { CURRENCIES } from './currencies.js';

export const vendor = defineVendor({
  id: 'stripe',
  about:
    'The payment processor. The browser sends card data directly to the processor, and never to the service. The service never confirms or captures ' +
    'a payment. Signed notices name an intent or a checkout session, which the service then fetches. A comma list of webhook secrets is valid ' +
    'while a secret is replaced.',
  capabilities: {
    payment: {
      operations: {
        createIntent: 'idempotent',
        changeIntent: 'idempotent',
        retrieveIntent: 'query',
        refundIntent: 'idempotent',
        createCheckout: 'idempotent',
        retrieveCheckout: 'query',
        expireCheckout: 'idempotent',
      },
      currencies: CURRENCIES,
    },
  },
  settings: {
    url: { kind: 'url', variable: 'PROCESSOR_URL', sandboxPath: '', optional: true },
    secretKey: {
      kind: 'secret',
      variable: 'PROCESSOR_SECRET_KEY',
      testVariable: 'SANDBOX_PROCESSOR_SECRET_KEY',
      published: 'sk_test_sandbox_processor',
      marks: { live: /^[rs]k_live_/, test: /^[rs]k_test_/ },
    },
    webhookSecrets: {
      kind: 'secrets',
      variable: 'PROCESSOR_WEBHOOK_SECRET',
      testVariable: 'SANDBOX_PROCESSOR_WEBHOOK_SECRET',
      published: 'whsec_sandbox_processor_events',
    },
  },
  personal: ['/customer_email', '/line_items[0][price_data][product_data][description]'],
  async open({ url, secretKey }, timeoutMs) {
    const { StripePaymentProcessor } = await import('./payment.js');
    const payment = new StripePaymentProcessor({ secretKey, baseUrl: url, timeoutMs });
    return { payment, close: () => payment.close() };
  },
  async notices({ webhookSecrets }) {
    const { StripeWebhookEvents } = await import('./webhook-events.js');
    return ({ body, headers, now }) => {
      const events = new StripeWebhookEvents(
        secretOf(webhookSecrets)
          .split(',')
          .map((secret) => secret.trim()),
      );
      const signature = headers['stripe-signature'];
      const event = events.read(body, typeof signature === 'string' ? signature : undefined, now);
      return event && { ...event, capability: 'payment' };
    };
  },
});
