import { defineDouble } from '../../../vendor-kit/double/sandbox-part.js';

export const double = defineDouble({
  variables: {
    PROCESSOR_SECRET_KEY: 'sk_test_sandbox_processor',
    PROCESSOR_PUBLISHABLE_KEY: 'pk_test_sandbox_processor',
    PROCESSOR_WEBHOOK_SECRET: 'whsec_sandbox_processor_events',
    PROCESSOR_EVENTS_URL: '',
  },
  rootPath: '',
  async open({ variables, folder, slowMs, noticesUrl, now }) {
    const { SandboxProcessor } = await import('./processor.js');
    const { PROCESSOR_EVENTS_URL, PROCESSOR_WEBHOOK_SECRET } = variables;
    // While secrets are rotated, the variable lists several. The newest is first and signs.
    const [secret = ''] = PROCESSOR_WEBHOOK_SECRET.split(',');
    const url = PROCESSOR_EVENTS_URL || new URL('/internal/processor/events', noticesUrl).href;
    return new SandboxProcessor({
      folder,
      secretKey: variables.PROCESSOR_SECRET_KEY,
      publishableKey: variables.PROCESSOR_PUBLISHABLE_KEY,
      slowMs,
      now,
      events: { url, secret: secret.trim() },
    });
  },
});
