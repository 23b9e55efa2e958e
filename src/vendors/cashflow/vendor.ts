import { defineVendor } from '../../vendor-kit/define-vendor.js';

/** Verification of income by bank transactions. */
export const vendor = defineVendor({
  id: 'cashflow',
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
