// `npm run ops -- <arguments>`: the operator command line. The command uses the Redis of the service on the data folder, or starts a private one for
// the command.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Children } from './children.mjs';
import { DataFolderLock, runningIn } from './data-folder-lock.mjs';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { helpFor } from './ops-help.mjs';
import { runCommand } from './problem.mjs';
import { ensureRedisServer, preparePrivateRedis } from './redis.mjs';

const PROGRAM = join(ROOT, 'dist', 'src', 'ops', 'main.js');

await runCommand(async () => {
  const help = helpFor(process.argv.slice(2));
  if (help !== null) {
    (help.exitCode === 0 ? process.stdout : process.stderr).write(help.text);
    process.exitCode = help.exitCode;
    return;
  }
  const dataDir = resolve(ROOT, process.env.DATA_DIR || '.data');
  const running = runningIn(dataDir);
  // A running service may still load parts of the build, so the command uses the same build.
  if (running === undefined || !existsSync(PROGRAM)) {
    ensureInstalled();
    ensureBuilt();
  }
  const redisUrl = process.env.REDIS_URL || running?.redisUrl;
  // Backups need no Redis, and the target folder of a restore must stay empty.
  if (process.argv[2] === 'backup') process.exitCode = await runOps(dataDir, redisUrl ?? 'redis://127.0.0.1');
  else if (redisUrl) process.exitCode = await runOps(dataDir, redisUrl);
  else await withPrivateRedis(dataDir, async (url) => (process.exitCode = await runOps(dataDir, url)));
});

async function withPrivateRedis(dataDir, run) {
  const lock = await DataFolderLock.take(dataDir, 'ops.mjs');
  const children = new Children(lock, join(dataDir, 'logs'));
  try {
    const { url, command, isReady, readyWithinMs } = await preparePrivateRedis(ensureRedisServer(), dataDir);
    await children.start({ name: 'redis', ...command, graceMs: 15_000, isReady, readyWithinMs });
    await run(url);
  } finally {
    await children.stop();
    lock.release();
  }
}

function runOps(dataDir, redisUrl) {
  const ops = spawn(process.execPath, ['--enable-source-maps', PROGRAM, ...process.argv.slice(2)], {
    env: { ...process.env, DATA_DIR: dataDir, REDIS_URL: redisUrl },
    stdio: 'inherit',
  });
  // Ctrl-C also reaches the command. This script waits for it, then stops its own Redis.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => ops.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    ops.on('error', reject);
    ops.on('exit', (code) => resolve(code ?? 1));
  });
}
