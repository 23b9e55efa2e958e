// `npm test` ends its output with one line of counts, even if Jest dies. Jest is a stub here, and the command is the
// real one.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const COUNTS = {
  numPassedTests: 5,
  numFailedTests: 0,
  numRuntimeErrorTestSuites: 0,
  numPendingTests: 0,
  testResults: [],
};

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'test-command-'));
  cpSync('scripts', join(project, 'scripts'), { recursive: true });
  write('package-lock.json', '{"packages":{}}');
  write('node_modules/.package-lock.json', '{"packages":{}}');
  write('node_modules/@nestjs/cli/bin/nest.js', '');
  for (const file of ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json']) write(file, '{}');
});

afterEach(() => rmSync(project, { recursive: true }));

describe('npm test', () => {
  it.each([
    ['5 passed, 0 failed', 0, COUNTS, 0],
    ['5 passed, 2 failed', 1, { ...COUNTS, numFailedTests: 2 }, 1],
    ['5 passed, 1 failed', 1, { ...COUNTS, numRuntimeErrorTestSuites: 1 }, 1],
    ['5 passed, 0 failed, 3 skipped', 0, { ...COUNTS, numPendingTests: 3 }, 0],
    // When coverage is below its threshold, for example, Jest fails although every test passed.
    ['5 passed, 0 failed', 1, COUNTS, 1],
  ])('ends its output with "%s" and has exit code %d', (line, status, counts, jestStatus) => {
    const run = runWith(
      `writeFileSync(outputFile, ${JSON.stringify(JSON.stringify(counts))}); process.exit(${jestStatus});`,
    );
    expect([lastLine(run.stdout), run.status]).toEqual([line, status]);
  });

  it.each(['process.exit(1);', "process.kill(process.pid, 'SIGKILL');"])(
    'counts a Jest that died without a result as a failure (%s)',
    (ending) => {
      const run = runWith(ending);
      expect([lastLine(run.stdout), run.status]).toEqual(['0 passed, 1 failed', 1]);
    },
  );

  it('passes its arguments and the module flag to Jest, and leaves no file behind', () => {
    runWith(
      "writeFileSync('seen', JSON.stringify([process.argv.slice(2, 4), process.env.NODE_OPTIONS, outputFile]));",
      ['test/unit', '--bail'],
    );
    const [args, nodeOptions, outputFile] = JSON.parse(readFileSync(join(project, 'seen'), 'utf8'));
    expect(args).toEqual(['test/unit', '--bail']);
    expect(nodeOptions).toContain('--experimental-vm-modules');
    expect(() => readdirSync(dirname(outputFile))).toThrow('ENOENT');
  });
});

describe('a suite that fails', () => {
  const results = (suites: number): string => {
    const failed = { status: 'failed', assertionResults: [{ status: 'failed', fullName: 'pays once' }] };
    const testResults = Array.from({ length: suites }, (_, index) => ({
      ...failed,
      name: join(project, `test/s${index}`),
    }));
    return JSON.stringify(JSON.stringify({ ...COUNTS, numFailedTests: suites, testResults }));
  };
  // Like Jest, the stub writes results only on request. The second run, of the failed suites alone, does not request
  // them.
  const jest = (suites: number, codeAlone: number): string =>
    `if (process.argv.includes('--json')) { writeFileSync(outputFile, ${results(suites)}); process.exit(1); }
     writeFileSync('alone', JSON.stringify(process.argv.slice(2))); process.exit(${codeAlone});`;

  it('is named with its path and its tests, and runs once when no setting requests a second run', () => {
    const run = runWith(jest(1, 0));
    expect(run.stdout).toContain('Failed: test/s0: pays once');
    expect([lastLine(run.stdout), run.status]).toEqual(['5 passed, 1 failed', 1]);
    expect(existsSync(join(project, 'alone'))).toBe(false);
  });

  it('runs once more alone with RETRIES=1, and the run passes when the suite then passes', () => {
    const run = runWith(jest(2, 0), [], { RETRIES: '1' });
    expect(JSON.parse(readFileSync(join(project, 'alone'), 'utf8'))).toEqual([
      '--runInBand',
      '--runTestsByPath',
      join(project, 'test/s0'),
      join(project, 'test/s1'),
    ]);
    expect(run.stdout).toContain('2 of these failed at first');
    expect([lastLine(run.stdout), run.status]).toEqual(['7 passed, 0 failed', 0]);
  });

  it.each([
    ['it fails again', 1, 1],
    ['more than three suites failed', 4, 0],
  ])('makes the run fail with RETRIES=1 when %s', (_case, suites, codeAlone) => {
    const run = runWith(jest(suites, codeAlone), [], { RETRIES: '1' });
    expect([lastLine(run.stdout), run.status]).toEqual([`5 passed, ${suites} failed`, 1]);
    expect(existsSync(join(project, 'alone'))).toBe(suites <= 3);
  });
});

describe('the tiers of the tests', () => {
  it.each([
    ['the first tier without arguments', [], {}, 'first', 'npm run test:all'],
    ['both tiers with TIER=all, as npm run test:all does', [], { TIER: 'all' }, 'all', 'both tiers'],
    ['the named suites, whatever their tier', ['test/faults', '--bail'], {}, 'all', ''],
    ['the first tier with only options', ['--bail'], {}, 'first', 'npm run test:all'],
  ])('npm test runs %s, and names the tier', (_case, args, env, tier, told) => {
    const counts = JSON.stringify(JSON.stringify(COUNTS));
    const run = runWith(`writeFileSync('seen', process.env.TIER); writeFileSync(outputFile, ${counts});`, args, env);
    expect(readFileSync(join(project, 'seen'), 'utf8')).toBe(tier);
    expect(lastLine(run.stdout)).toBe('5 passed, 0 failed');
    if (told === '') expect(run.stdout).not.toContain('tier');
    else expect(run.stdout).toContain(told);
  });
});

describe('npm test without a browser', () => {
  it('says in one sentence that the browser is missing, and runs no test', () => {
    const folder = join(project, 'bin');
    write('bin/redis-server', '#!/bin/sh\necho "Redis server v=7.0.0"\n');
    chmodSync(join(folder, 'redis-server'), 0o755);
    const run = runWith("writeFileSync('seen', '');", [], { PATH: folder, CHROMIUM_PATH: '' });
    expect(run.stderr).toContain(
      'The tests print PDFs and open pages, and there is no Chromium on this machine; install it so that it is on the PATH, or set CHROMIUM_PATH.',
    );
    expect(run.status).toBe(1);
    expect(existsSync(join(project, 'seen'))).toBe(false);
    const wrong = runWith("writeFileSync('seen', '');", [], { PATH: folder, CHROMIUM_PATH: '/no/such/browser' });
    expect(wrong.stderr).toContain('there is no Chromium');
  });
});

function runWith(jest: string, args: string[] = [], env: Record<string, string> = {}) {
  write(
    'node_modules/jest/bin/jest.js',
    `const { writeFileSync } = require('node:fs');\nconst outputFile = process.argv.at(-1).replace('--outputFile=', '');\n${jest}`,
  );
  return spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, TIER: undefined, RETRIES: undefined, ...env },
  });
}

const lastLine = (text: string): string | undefined => text.trim().split('\n').at(-1);

function write(path: string, text: string): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
