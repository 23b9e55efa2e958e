import { defineVendor } from '../../vendor-kit/define-vendor.js';

/** Identity and credit from one company: the token of a confirmed person gives access to the credit report. */
export const vendor = defineVendor({
  id: 'idv',
  capabilities: {
    identity: {
      operations: {
        register: 'at-most-once',
        verifyOtp: 'at-most-once',
        resendOtp: 'at-most-once',
        verifyKba: 'at-most-once',
        reauthenticate: 'at-most-once',
        authenticationStatus: 'query',
        expireAuthentication: 'idempotent',
        outcomeOf: 'query',
      },
      stepUp: ['otp', 'kba'],
      outcomes: 'closes-keys',
      speaks: 'direct-dialect',
    },
    credit: { operations: { pullReport: 'idempotent' }, needs: ['session-of:idv'], speaks: 'direct-dialect' },
  },
  settings: {
    url: { kind: 'url', variable: 'IDENTITY_VENDOR_URL', sandboxPath: '' },
    credential: {
      kind: 'secret',
      variable: 'IDENTITY_VENDOR_KEY',
      testVariable: 'SANDBOX_VENDOR_KEY',
      published: 'sandbox-vendor-key',
    },
  },
  personal: [
    '/firstName',
    '/middleName',
    '/lastName',
    '/dateOfBirth',
    '/ssn',
    '/phone/number',
    '/email',
    '/companyName',
    '/address/street',
    '/address/city',
    '/address/zip',
    '/ipAddress',
    '/device',
    '/report/consumer/name',
    '/report/consumer/addresses',
    '/report/consumer/ssnLastFour',
  ],
  async open({ url, credential }, timeoutMs) {
    const { IdvIdentityVendor } = await import('./identity.js');
    const { IdvCreditBureau } = await import('./credit.js');
    const options = { baseUrl: url, credential, timeoutMs };
    const [identity, credit] = [new IdvIdentityVendor(options), new IdvCreditBureau(options)];
    return { identity, credit, close: async () => void (await Promise.all([identity.close(), credit.close()])) };
  },
});
