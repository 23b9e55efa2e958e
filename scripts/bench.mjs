// `npm run bench [-- arguments]`: compiles src/ and test/bench/ and runs test/bench/run.ts with the arguments.
//
// To add a benchmark, write test/bench/<what-it-measures>.ts and call it from test/bench/run.ts. Import from '../../src/...js' as usual,
// because dist-bench/ has the same layout.
// The service itself is built too, so a benchmark may start dist/src/main.js as a separate process. The PATH
// then has redis-server and a Chromium.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureChromium, NO_CHROMIUM } from './chromium.mjs';
import { ensureBenchBuilt, ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';
import { ensureRedisServer } from './redis.mjs';

await runCommand(async () => {
  if (!existsSync(join(ROOT, 'test', 'bench', 'run.ts')))
    throw new Problem('There is no benchmark: test/bench/run.ts is missing.');
  ensureInstalled();
  ensureRedisServer();
  if (!ensureChromium())
    throw new Problem(`A benchmark opens the component in a browser, and there is ${NO_CHROMIUM}.`);
  ensureBuilt();
  ensureBenchBuilt();
  const bench = spawn(
    process.execPath,
    ['--enable-source-maps', join(ROOT, 'dist-bench', 'test', 'bench', 'run.js'), ...process.argv.slice(2)],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  );
  // Ctrl-C also reaches the benchmark, which ends its own processes. This script waits for the benchmark.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => bench.kill('SIGTERM'));
  process.exitCode = await new Promise((resolve, reject) => {
    bench.on('error', reject);
    bench.on('exit', (code) => resolve(code ?? 1));
  });
});
