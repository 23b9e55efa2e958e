// Starts the sandbox: the vendors of the test environment in one process. Imports nothing of the service.
import { join } from 'node:path';
import { SandboxIdentityVendor } from './identity-vendor/identity-vendor.js';
import { startSandbox } from './server.js';

const { SANDBOX_HOST = '127.0.0.1', SANDBOX_PORT = '3001', DATA_DIR = '.data', SANDBOX_API_KEY = 'sandbox-vendor-key' } = process.env;

function say(stream: NodeJS.WriteStream, line: object): void {
  stream.write(`${JSON.stringify(line)}\n`);
}

try {
  const sandbox = await startSandbox({
    host: SANDBOX_HOST,
    port: Number(SANDBOX_PORT),
    parts: [new SandboxIdentityVendor({ folder: join(DATA_DIR, 'sandbox'), credential: SANDBOX_API_KEY })],
  });
  say(process.stdout, { level: 'info', msg: 'sandbox listening', url: sandbox.url, pid: process.pid });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.close().then(() => process.exit(0)));
} catch (error) {
  say(process.stderr, { level: 'fatal', msg: 'the sandbox cannot start', error: String(error) });
  process.exit(1);
}
