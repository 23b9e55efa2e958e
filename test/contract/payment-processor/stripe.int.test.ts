// The SDK adapter against the sandbox.
import { StripePaymentProcessor } from '../../../src/vendors/stripe/payment.js';
import { ProcessorUnderTest, SECRET_KEY, asMerchant } from './harness.js';
import { type PaymentProcessorHarness, describePaymentProcessor } from './suite.js';

async function throughTheSdk(): Promise<PaymentProcessorHarness> {
  const sandbox = await ProcessorUnderTest.start({ settleMs: 300 });
  const adapters: StripePaymentProcessor[] = [];
  return {
    open: async ({ timeoutMs }) => {
      const adapter = new StripePaymentProcessor({ secretKey: SECRET_KEY, baseUrl: sandbox.url, timeoutMs });
      adapters.push(adapter);
      return adapter;
    },
    confirm: async (intent, paymentMethod) => (await sandbox.confirm(intent, paymentMethod)).status,
    authenticate: async ({ id, clientSecret }) =>
      (await sandbox.post(`/v1/payment_intents/${id}/authenticate`, { client_secret: clientSecret }, {})).status,
    pay: async ({ id }, paymentMethod) =>
      (await sandbox.post(`/checkout/${id}/pay`, { payment_method: paymentMethod }, {})).status,
    cancel: async (id) => void (await sandbox.post(`/v1/payment_intents/${id}/cancel`)),
    refund: async (id, amountCents) =>
      void (await sandbox.post('/v1/refunds', { payment_intent: id, amount: String(amountCents) }, asMerchant())),
    failRefund: (intent) => sandbox.control('refunds/fail', { intent }),
    refuseNextRefund: () => sandbox.control('refunds', { refuse: 1 }),
    refundOf: async (transactionId) =>
      (await sandbox.control(`charges?transaction=${transactionId}`)).charges.find(
        ({ status }: { status: string }) => status === 'succeeded',
      ),
    untilSucceeded: (id) =>
      sandbox.receiver.until(() => sandbox.receiver.types(id).includes('payment_intent.succeeded')),
    intentsOf: async (transactionId) => (await sandbox.control(`intents?transaction=${transactionId}`)).intents,
    chargesOf: async (transactionId) => (await sandbox.control(`charges?transaction=${transactionId}`)).succeeded,
    calls: (attemptId) => sandbox.control(`calls?key=${attemptId}`),
    loseNextAnswer: () => sandbox.control('lost-answers', { calls: 1 }),
    outage: (seconds) => sandbox.control('outage', { seconds }),
    slow: (ms) => sandbox.control('slow', { ms }),
    close: async () => {
      await Promise.all(adapters.map((adapter) => adapter.close()));
      await sandbox.stop();
    },
  };
}

describePaymentProcessor('through the SDK', throughTheSdk);
