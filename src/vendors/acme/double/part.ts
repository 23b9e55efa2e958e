import { defineDouble } from '../../../vendor-kit/double/sandbox-part.js';

export const double = defineDouble({
  variables: {
    VENDOR_ACME_CLIENT_ID: 'sandbox-acme-client',
    VENDOR_ACME_CLIENT_SECRET: 'sandbox-acme-secret',
    VENDOR_ACME_NOTICE_SECRET: 'sandbox-acme-notices',
    // The address of acme's pages for browsers, if they reach the sandbox at another address than the service.
    VENDOR_ACME_PAGES_URL: '',
  },
  async open({ variables, folder, slowMs, noticesUrl, now }) {
    const { AcmeDouble } = await import('./acme.js');
    // While secrets are rotated, the variable lists several. The newest is first and signs.
    const [secret = ''] = variables.VENDOR_ACME_NOTICE_SECRET.split(',');
    return new AcmeDouble({
      folder,
      clientId: variables.VENDOR_ACME_CLIENT_ID,
      clientSecret: variables.VENDOR_ACME_CLIENT_SECRET,
      notices: { url: noticesUrl, secret: secret.trim() },
      // Tests that make the sandbox faster have time limits that no pause of a whole second fits into.
      retryAfter: slowMs < 1_000 ? null : 1,
      pagesUrl: variables.VENDOR_ACME_PAGES_URL,
      slowMs,
      now,
    });
  },
});
