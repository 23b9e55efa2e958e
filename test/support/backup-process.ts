// A process that makes or restores a backup. The process is killed at one of its steps on the file system. The
// process's arguments are: `<step> <data folder> create <into>`, or
// `<step> <data folder> restore <backup> <to> <ledger>`.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [step = '', dataDir = '', command = '', from = '', to = '', ledger = ''] = process.argv.slice(2);

let left = Number(step);
const steps = fs.promises as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
for (const name of ['open', 'rename', 'copyFile', 'mkdir', 'rm']) {
  const real = steps[name]!;
  steps[name] = async (...args) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
syncBuiltinESMExports();

const { readConfig } = await import('../../src/config/config.js');
const { SystemClock } = await import('../../src/kernel/clock.js');
const { Backups } = await import('../../src/ops/backups.js');
const backups = new Backups(
  readConfig({ ...process.env, DATA_DIR: dataDir, REDIS_URL: 'redis://127.0.0.1' }, { tools: true }),
  new SystemClock(),
);
if (command === 'create') await backups.create(from);
else await backups.restore(from, { to, ledger: { file: ledger } }, async () => undefined);
