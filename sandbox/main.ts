// Starts the sandbox: the vendors of the test environment in one process. Imports nothing of the service.
import { join } from 'node:path';
import { SandboxIdentityVendor } from '../src/vendors/idv/double/identity-vendor.js';
import { SandboxIncomeVendor } from '../src/vendors/voie/double/income-vendor.js';
import { SandboxProcessor } from '../src/vendors/stripe/double/processor.js';
import { startSandbox } from './server.js';

const {
  SANDBOX_HOST = '127.0.0.1',
  SANDBOX_PORT = '3001',
  DATA_DIR = '.data',
  STEP_UP_ATTEMPTS,
  PORT = '3000',
  INTERNAL_PORT,
} = process.env;
// An empty value counts as none.
const credential = process.env.SANDBOX_API_KEY || 'sandbox-vendor-key';
const secretKey = process.env.PROCESSOR_SECRET_KEY || 'sk_test_sandbox_processor';
const eventSecrets = process.env.PROCESSOR_WEBHOOK_SECRET || 'whsec_sandbox_processor_events';
const eventsUrl =
  process.env.PROCESSOR_EVENTS_URL || `http://127.0.0.1:${INTERNAL_PORT || PORT}/internal/processor/events`;

// Whoever read what we say may be gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

function say(stream: NodeJS.WriteStream, line: object): void {
  stream.write(`${JSON.stringify(line)}\n`);
}

try {
  const folder = join(DATA_DIR, 'sandbox');
  const identityVendor = new SandboxIdentityVendor({ folder, credential, attempts: Number(STEP_UP_ATTEMPTS || 3) });
  const incomeVendor = new SandboxIncomeVendor({
    folder,
    credential,
    personOf: (session) => identityVendor.personOf(session),
  });
  // While secrets are rotated there are several: the newest, which comes first, signs.
  const [eventSecret = ''] = eventSecrets.split(',');
  const processor = new SandboxProcessor({ folder, secretKey, events: { url: eventsUrl, secret: eventSecret.trim() } });
  const sandbox = await startSandbox({
    host: SANDBOX_HOST,
    port: Number(SANDBOX_PORT),
    parts: [identityVendor, incomeVendor, processor],
  });
  say(process.stdout, { level: 'info', msg: 'sandbox listening', url: sandbox.url, pid: process.pid });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void sandbox.close().then(() => process.exit(0)));
} catch (error) {
  say(process.stderr, { level: 'fatal', msg: 'the sandbox cannot start', error: String(error) });
  process.exit(1);
}
