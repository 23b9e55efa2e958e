// `node scripts/node24.mjs <command> [arguments]`: runs a command with the image's Node version first on the PATH.
import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import { ensureNode24 } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';

await runCommand(async () => {
  const [command, ...args] = process.argv.slice(2);
  if (command === undefined) throw new Problem('Name the command to run.');
  const env = { ...process.env, PATH: `${ensureNode24()}${delimiter}${process.env.PATH ?? ''}` };
  const child = spawn(command, args, { env, stdio: 'inherit' });
  // Ctrl-C also reaches the command. This script waits for the command.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.exitCode = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
});
