// The process of the sandbox.
import { startVendors } from './vendors.js';

// The reader of the output may have ended.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

function say(stream: NodeJS.WriteStream, line: object): void {
  stream.write(`${JSON.stringify(line)}\n`);
}

try {
  const sandbox = await startVendors(process.env);
  say(process.stdout, { level: 'info', msg: 'sandbox listening', url: sandbox.url, pid: process.pid });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void sandbox.close().then(() => process.exit(0)));
} catch (error) {
  say(process.stderr, { level: 'fatal', msg: 'the sandbox cannot start', error: String(error) });
  process.exit(1);
}
