import { defineVendor } from '../../vendor-kit/define-vendor.js';

export const vendor = defineVendor({
  id: 'cashflow',
  about:
    'This vendor reads bank transactions and finds the payers of wages in them, also several at once. A session of `idv` identifies the person, or ' +
    'the inquiry begins without a session. An account chooses the vendor with `--banking-vendor cashflow`. Answers have up to 2 MB.',
  capabilities: {
    income: {
      operations: { start: 'idempotent', outcomeOf: 'query' },
      needs: ['session-of:idv'],
      routes: ['BANKING'],
    },
  },
  settings: {
    url: { kind: 'url' },
    credential: { kind: 'secret', published: 'sandbox-cashflow-key' },
  },
  async open({ url, credential }, timeoutMs) {
    const { CashflowIncomeVendor } = await import('./income.js');
    const income = new CashflowIncomeVendor({ baseUrl: url, credential, timeoutMs });
    return { income, close: () => income.close() };
  },
});
