import { secretOf } from '../../kernel/vendor-settings.js';
import { defineVendor } from '../../vendor-kit/define-vendor.js';

export const vendor = defineVendor({
  id: 'acme',
  about:
    'Identities, credit reports and proof of income from one company. The service polls for results, and people at the vendor decide some of them. ' +
    'Bureau and income know a person by the own data of the person; a page of the vendor can ask the person for the proof of income.',
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
    income: { operations: { start: 'idempotent', outcomeOf: 'query' }, needs: 'applicant' },
  },
  settings: {
    url: { kind: 'url' },
    clientId: { kind: 'text', published: 'sandbox-acme-client' },
    clientSecret: { kind: 'secret', published: 'sandbox-acme-secret' },
    noticeSecret: { kind: 'secrets', published: 'sandbox-acme-notices' },
  },
  async notices({ noticeSecret }) {
    const { noticeReader } = await import('./notices.js');
    return (request) => {
      const secrets = secretOf(noticeSecret)
        .split(',')
        .map((secret) => secret.trim());
      // An empty secret is not a secret.
      return noticeReader(secrets.filter((secret) => secret !== ''))(request);
    };
  },
  personal: [
    '/person/given_name',
    '/person/middle_name',
    '/person/family_name',
    '/person/birth_date',
    '/person/ssn',
    '/person/phone/number',
    '/person/email',
    '/person/organization',
    '/person/address/line1',
    '/person/address/city',
    '/person/address/postal_code',
    '/device',
    '/challenge/questions/*/options/*/text',
    '/consumer/display_name',
    '/consumer/addresses',
    '/consumer/ssn_tail',
  ],
  async open({ url, clientId, clientSecret }, timeoutMs) {
    const { openAcme } = await import('./adapter.js');
    return openAcme({ url, clientId, clientSecret, timeoutMs });
  },
});
