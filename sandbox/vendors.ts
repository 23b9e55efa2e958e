// The vendors of the test environment in one process, as the environment variables configure them. Imports no part of the service.
import { join } from 'node:path';
import { SandboxIdentityVendor } from '../src/vendors/idv/double/identity-vendor.js';
import { SandboxIncomeVendor } from '../src/vendors/voie/double/income-vendor.js';
import { SandboxProcessor } from '../src/vendors/stripe/double/processor.js';
import { BrowserFiles } from './browser-files.js';
import { startSandbox, type RunningSandbox } from './server.js';

export function startVendors(env: Readonly<Record<string, string | undefined>>): Promise<RunningSandbox> {
  const {
    SANDBOX_HOST = '127.0.0.1',
    SANDBOX_PORT = '3001',
    DATA_DIR = '.data',
    REAUTH_VALIDITY,
    SANDBOX_SLOWNESS,
    PORT = '3000',
  } = env;
  if (SANDBOX_SLOWNESS && !(Number(SANDBOX_SLOWNESS) >= 0))
    throw new Error('SANDBOX_SLOWNESS must be a number of seconds');
  // An empty value counts as absent.
  const named = (name: string, fallback: string): string => env[name] || fallback;
  const credential = named('SANDBOX_API_KEY', 'sandbox-vendor-key');
  const secretKey = named('PROCESSOR_SECRET_KEY', 'sk_test_sandbox_processor');
  const publishableKey = named('PROCESSOR_PUBLISHABLE_KEY', 'pk_test_sandbox_processor');
  const eventSecrets = named('PROCESSOR_WEBHOOK_SECRET', 'whsec_sandbox_processor_events');
  const internalPort = named('INTERNAL_PORT', PORT);
  const eventsUrl = named('PROCESSOR_EVENTS_URL', `http://127.0.0.1:${internalPort}/internal/processor/events`);
  const folder = join(DATA_DIR, 'sandbox');
  const slowMs = Number(SANDBOX_SLOWNESS || 2) * 1_000;
  const identityVendor = new SandboxIdentityVendor({
    folder,
    credential,
    attempts: Number(named('STEP_UP_ATTEMPTS', '3')),
    slowMs,
    ...(REAUTH_VALIDITY && { authenticationMs: Number(REAUTH_VALIDITY) * 1_000 }),
  });
  const incomeVendor = new SandboxIncomeVendor({
    folder,
    credential,
    personOf: (session) => identityVendor.personOf(session),
    slowMs,
    ...(SANDBOX_SLOWNESS && { paceMs: Number(SANDBOX_SLOWNESS) * 500 }),
  });
  // While secrets are rotated, the variable lists several. The newest is first and signs.
  const [eventSecret = ''] = eventSecrets.split(',');
  const processor = new SandboxProcessor({
    folder,
    secretKey,
    publishableKey,
    slowMs,
    events: { url: eventsUrl, secret: eventSecret.trim() },
  });
  return startSandbox({
    host: SANDBOX_HOST,
    port: Number(SANDBOX_PORT),
    parts: [identityVendor, incomeVendor, processor, new BrowserFiles()],
  });
}
