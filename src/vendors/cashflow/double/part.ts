import { defineDouble } from '../../../vendor-kit/double/sandbox-part.js';

export const double = defineDouble({
  variables: { VENDOR_CASHFLOW_CREDENTIAL: 'sandbox-cashflow-key', SANDBOX_SLOWNESS: '' },
  async open({ variables: { VENDOR_CASHFLOW_CREDENTIAL, SANDBOX_SLOWNESS }, folder, slowMs, personOf, now }) {
    const { CashflowDouble } = await import('./cashflow.js');
    return new CashflowDouble({
      folder,
      credential: VENDOR_CASHFLOW_CREDENTIAL,
      personOf,
      slowMs,
      now,
      ...(SANDBOX_SLOWNESS !== '' && { paceMs: Number(SANDBOX_SLOWNESS) * 500 }),
    });
  },
});
