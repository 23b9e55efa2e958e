import { defineVendor } from '../../vendor-kit/define-vendor.js';

export const vendor = defineVendor({
  id: 'voie',
  about:
    'This vendor verifies income and employment: it asks the payroll of the employer, or reads bank transactions. A session of `idv` identifies the ' +
    'person, or the inquiry begins without a session. Answers have up to 2 MB.',
  capabilities: { income: { operations: { start: 'idempotent', outcomeOf: 'query' }, needs: ['session-of:idv'] } },
  settings: {
    url: { kind: 'url', variable: 'INCOME_VENDOR_URL', sandboxPath: '' },
    credential: {
      kind: 'secret',
      variable: 'INCOME_VENDOR_KEY',
      testVariable: 'SANDBOX_VENDOR_KEY',
      published: 'sandbox-vendor-key',
    },
  },
  async open({ url, credential }, timeoutMs) {
    const { VoieIncomeVendor } = await import('./income.js');
    const income = new VoieIncomeVendor({ baseUrl: url, credential, timeoutMs });
    return { income, close: () => income.close() };
  },
});
