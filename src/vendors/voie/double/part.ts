import { defineDouble } from '../../../vendor-kit/double/sandbox-part.js';

export const double = defineDouble({
  variables: { SANDBOX_API_KEY: 'sandbox-vendor-key', SANDBOX_SLOWNESS: '' },
  rootPath: '',
  async open({ variables: { SANDBOX_API_KEY, SANDBOX_SLOWNESS }, folder, slowMs, personOf, now }) {
    const { SandboxIncomeVendor } = await import('./income-vendor.js');
    return new SandboxIncomeVendor({
      folder,
      credential: SANDBOX_API_KEY,
      personOf,
      slowMs,
      now,
      ...(SANDBOX_SLOWNESS !== '' && { paceMs: Number(SANDBOX_SLOWNESS) * 500 }),
    });
  },
});
