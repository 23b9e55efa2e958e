// `npm test [-- jest arguments]`: installs and builds missing parts, runs the suites, and prints one closing line of counts.
// Without the name of a suite it runs the quick first tier of two; `npm run test:all` runs both.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBrowserOfPeople, ensureChromium, ensureOtherEngines, NO_CHROMIUM } from './chromium.mjs';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';
import { ensureRedisServer } from './redis.mjs';

const OTHER_TIER = {
  first:
    'This was the first tier. `npm run test:all` also runs the suites that wait, kill, or need a browser all along.',
  all: 'These were both tiers. `npm test` runs the first alone.',
};
const args = process.argv.slice(2);
const namesSuites = args.some((argument) => !argument.startsWith('-'));
const tier = process.env.SOAK !== undefined || namesSuites ? null : (process.env.TIER ?? 'first');

await runCommand(async () => {
  ensureInstalled();
  ensureRedisServer();
  if (!ensureChromium() || !ensureBrowserOfPeople())
    throw new Problem(`The tests print PDFs and open pages, and there is ${NO_CHROMIUM}.`);
  ensureBuilt();
  if (process.env.SOAK !== undefined) {
    ensureOtherEngines();
    const { ensureForeignPrograms } = await import('./foreign-programs.mjs');
    Object.assign(process.env, ensureForeignPrograms());
  }
  const folder = mkdtempSync(join(tmpdir(), 'test-results-'));
  try {
    const results = join(folder, 'results.json');
    const ending = await runJest([...args, '--json', `--outputFile=${results}`]);
    process.exitCode = report(ending, results);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function runJest(args) {
  const nodeOptions = [process.env.NODE_OPTIONS, '--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
    .filter(Boolean)
    .join(' ');
  const jest = spawn(process.execPath, [join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: nodeOptions, TIER: tier ?? 'all' },
    // With --json and a file, Jest writes only to standard error.
    stdio: ['inherit', 'inherit', 'inherit'],
  });
  // Ctrl-C reaches Jest too, and Jest cleans up. This script waits for it.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => jest.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    jest.on('error', reject);
    jest.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Prints the closing line and returns the exit code. A suite that could not run counts as a failed test. */
function report({ code, signal }, results) {
  if (!existsSync(results)) {
    // Jest had another task, such as --help, or it died.
    if (code === 0) return 0;
    console.error(`Jest ended early (${signal ?? `exit code ${code}`}).`);
    console.log('0 passed, 1 failed');
    return 1;
  }
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = JSON.parse(
    readFileSync(results, 'utf8'),
  );
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  if (tier !== null) console.log(OTHER_TIER[tier]);
  console.log(`${numPassedTests} passed, ${failed} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''}`);
  return code === 0 && failed === 0 ? 0 : 1;
}
