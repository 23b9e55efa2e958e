import { defineDouble } from '../../../vendor-kit/double/sandbox-part.js';

export const double = defineDouble({
  variables: { SANDBOX_API_KEY: 'sandbox-vendor-key', STEP_UP_ATTEMPTS: '3', REAUTH_VALIDITY: '' },
  rootPath: '',
  async open({ variables: { SANDBOX_API_KEY, STEP_UP_ATTEMPTS, REAUTH_VALIDITY }, folder, slowMs, now }) {
    const { SandboxIdentityVendor } = await import('./identity-vendor.js');
    return new SandboxIdentityVendor({
      folder,
      credential: SANDBOX_API_KEY,
      attempts: Number(STEP_UP_ATTEMPTS),
      slowMs,
      now,
      ...(REAUTH_VALIDITY !== '' && { authenticationMs: Number(REAUTH_VALIDITY) * 1_000 }),
    });
  },
});
