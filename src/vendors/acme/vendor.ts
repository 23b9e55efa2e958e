import { defineVendor } from '../../vendor-kit/define-vendor.js';

/** Verifications that are polled and that people may have to decide, and a bureau that knows persons by their own data. */
export const vendor = defineVendor({
  id: 'acme',
  capabilities: {
    identity: {
      operations: {
        register: 'at-most-once',
        verifyOtp: 'at-most-once',
        resendOtp: 'at-most-once',
        verifyKba: 'at-most-once',
        outcomeOf: 'query',
      },
      stepUp: ['otp', 'kba'],
      outcomes: 'remembers',
      humanReview: true,
    },
    credit: { operations: { pullReport: 'idempotent' }, needs: 'applicant' },
  },
  settings: {
    url: { kind: 'url', variable: 'VENDOR_ACME_URL', testVariable: 'VENDOR_ACME_TEST_URL' },
    clientId: {
      kind: 'secret',
      variable: 'VENDOR_ACME_CLIENT_ID',
      testVariable: 'VENDOR_ACME_TEST_CLIENT_ID',
      published: 'sandbox-acme-client',
    },
    clientSecret: {
      kind: 'secret',
      variable: 'VENDOR_ACME_CLIENT_SECRET',
      testVariable: 'VENDOR_ACME_TEST_CLIENT_SECRET',
      published: 'sandbox-acme-secret',
    },
    noticeSecrets: {
      kind: 'secrets',
      variable: 'VENDOR_ACME_NOTICE_SECRET',
      testVariable: 'VENDOR_ACME_TEST_NOTICE_SECRET',
      published: 'sandbox-acme-notices',
    },
  },
  async notices({ noticeSecrets }) {
    const { noticeReader } = await import('./notices.js');
    const secrets = noticeSecrets.split(',').map((secret) => secret.trim());
    // An empty secret is not a secret.
    return noticeReader(secrets.filter((secret) => secret !== ''));
  },
  async open({ url, clientId, clientSecret }, timeoutMs) {
    const { openAcme } = await import('./adapter.js');
    return openAcme({ url, clientId, clientSecret: () => clientSecret, timeoutMs });
  },
});
