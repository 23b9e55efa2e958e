// `npm run screenshots` takes the pictures that the documents show. `-- --folder <folder> [--language es] [--width <pixels>]` takes every screen. The
// command starts a service and a browser for them (test/support/take-pictures.ts).
import { spawnSync } from 'node:child_process';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { runCommand } from './problem.mjs';
import { ensureRedisServer } from './redis.mjs';

await runCommand(async () => {
  ensureInstalled();
  ensureRedisServer();
  ensureBuilt();
  const { status } = spawnSync(
    process.execPath,
    ['--import', './test/support/typescript.js', 'test/support/take-pictures.ts', ...process.argv.slice(2)],
    { cwd: ROOT, stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
});
