import { defineVendor } from '../../vendor-kit/define-vendor.js';

export const vendor = defineVendor({
  id: 'idv',
  about:
    'This vendor confirms identities by one-time codes (SMS) or questions, and returns credit reports of the persons that it has confirmed. ' +
    '`authSession` identifies a challenge; `UserToken`, issued with the confirmation, identifies the person for `credit`. The tables ' +
    '`identity-codes.ts` and `credit-codes.ts` translate its numbers; an unlisted number is `unintelligible`.',
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
