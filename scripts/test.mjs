// `npm test [-- jest arguments]`: installs and builds missing parts, runs the suites, and prints one closing line of counts.
// Without the name of a suite it runs the quick first tier of two; `npm run test:all` runs both.
// With RETRIES=1, as in `.ci/run`, it runs a few failed suites once more, and names each test that failed at first.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ensureBrowserOfPeople, ensureChromium, ensureOtherEngines, NO_CHROMIUM } from './chromium.mjs';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';
import { ensureRedisServer } from './redis.mjs';

const OTHER_TIER = {
  first:
    'This was the first tier. `npm run test:all` also runs the suites that wait, kill, or need a browser all along.',
  all: 'These were both tiers. `npm test` runs the first alone.',
};
/** One or two suites may fail because a machine is busy. When more suites fail, none is run again. */
const MOST_SUITES_RUN_AGAIN = 3;
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
    const passedAlone = (await passWhenRunAlone(results)) ? { code: 0, signal: null } : null;
    process.exitCode = report(passedAlone ?? ending, results, passedAlone !== null);
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
  // Ctrl-C also reaches Jest, which cleans up. This script waits for Jest.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => jest.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    jest.on('error', reject);
    jest.on('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Names the failed tests, runs their suites once more alone, and returns whether all of them passed. */
async function passWhenRunAlone(results) {
  if (!existsSync(results)) return false;
  const failed = JSON.parse(readFileSync(results, 'utf8')).testResults.filter(({ status }) => status === 'failed');
  for (const { name, assertionResults } of failed) {
    const tests = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    for (const test of tests.length > 0 ? tests : ['could not run'])
      console.log(`Failed: ${relative(ROOT, name)}: ${test}`);
  }
  if (process.env.RETRIES !== '1' || failed.length === 0 || failed.length > MOST_SUITES_RUN_AGAIN) return false;
  console.log('The failed suites run once more, one after the other.');
  const { code } = await runJest(['--runInBand', '--runTestsByPath', ...failed.map(({ name }) => name)]);
  return code === 0;
}

/** Prints the closing line and returns the exit code. A suite that could not run counts as a failed test. */
function report({ code, signal }, results, passedAlone) {
  if (!existsSync(results)) {
    // Jest had another task, such as --help, or it died.
    if (code === 0) return 0;
    console.error(`Jest ended early (${signal ?? `exit code ${code}`}).`);
    console.log('0 passed, 1 failed');
    return 1;
  }
  const counts = JSON.parse(readFileSync(results, 'utf8'));
  const failedAtFirst = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
  const passed = counts.numPassedTests + (passedAlone ? failedAtFirst : 0);
  const failed = passedAlone ? 0 : failedAtFirst;
  const skipped = counts.numPendingTests > 0 ? `, ${counts.numPendingTests} skipped` : '';
  if (tier !== null) console.log(OTHER_TIER[tier]);
  if (passedAlone)
    console.log(`${failedAtFirst} of these failed at first and passed when run alone. See the lines "Failed:" above.`);
  console.log(`${passed} passed, ${failed} failed${skipped}`);
  return code === 0 && failed === 0 ? 0 : 1;
}
