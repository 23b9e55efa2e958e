// Third-party programs that `npm run test:soak` compares the service with. Pip and go install them once, outside the project, so the tests themselves
// need no other machine. A suite whose program is missing is reported as not run, and does not fail.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './installation.mjs';

const INSTALL_WITHIN_MS = 300_000;
const VERIFY_GO = join(ROOT, 'test', 'support', 'verify-go');
const STRIPE_MOCK = 'github.com/stripe/stripe-mock@v0.203.0';
const MOTO = 'moto[server]==5.2.1';
const VERIFIERS = ['standardwebhooks==1.1.0', 'svix==2.9.1'];

/** Keyed by the name under which test/support/foreign.ts finds the program: its suite, and the steps that fill a new folder with the program. */
const PROGRAMS = {
  moto: {
    suite: 'the vault on moto',
    pins: [MOTO],
    program: ['bin', 'python'],
    install: (folder) => inPython(folder, [MOTO]),
  },
  'stripe-mock': {
    suite: 'the Stripe adapter on stripe-mock',
    pins: [STRIPE_MOCK],
    program: ['stripe-mock'],
    install: (folder) => run('go', ['install', STRIPE_MOCK], { env: { ...process.env, GOBIN: folder } }),
  },
  'verify-python': {
    suite: 'deliveries verified by libraries of Python',
    pins: VERIFIERS,
    program: ['bin', 'python'],
    install: (folder) => inPython(folder, VERIFIERS),
  },
  'verify-go': {
    suite: 'deliveries verified by libraries of Go',
    pins: ['main.go', 'go.mod', 'go.sum'].map((file) => readFileSync(join(VERIFY_GO, file), 'utf8')),
    program: ['verify'],
    install: (folder) => {
      // A copy outside the project, because the build may write next to its sources.
      cpSync(VERIFY_GO, join(folder, 'source'), { recursive: true });
      run('go', ['build', '-o', join(folder, 'verify'), '.'], { cwd: join(folder, 'source') });
    },
  },
};

/** Returns the variables that name the programs for the suites. Prints one line for each suite that will not run, with the reason. */
export function ensureForeignPrograms() {
  const found = {};
  for (const [name, { suite, pins, program, install }] of Object.entries(PROGRAMS)) {
    const made = createHash('sha256').update(JSON.stringify(pins)).digest('hex').slice(0, 12);
    const folder = join(
      process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
      'screening-service-tests',
      `${name}-${made}`,
    );
    try {
      ensureIn(folder, name, install);
      found[variableOf(name)] = join(folder, ...program);
    } catch (error) {
      console.log(`Not run: ${suite}: ${error.message}.`);
    }
  }
  return found;
}

function ensureIn(folder, name, install) {
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return;
  console.error(`Installing ${name} ...`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  install(folder);
  writeFileSync(whole, '');
}

function variableOf(name) {
  return `FOREIGN_${name.toUpperCase().replaceAll('-', '_')}`;
}

function inPython(folder, packages) {
  run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
}

function run(command, args, options = {}) {
  const { error, status, stderr } = spawnSync(command, args, {
    timeout: INSTALL_WITHIN_MS,
    encoding: 'utf8',
    ...options,
  });
  if (error?.code === 'ENOENT') throw new Error(`${command} is not there`);
  if (error) throw new Error(`${command} ${args[0]} took too long or failed: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr.trim().split('\n').at(-1)}`);
}
