// `npm run vendor:new`, `vendor:test`, `vendor:certify` and `vendor:record`: make a vendor's folder, and certify the vendor. Nothing is built.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';
import { makeVendor } from './vendor-folder.mjs';

const VENDORS = join(ROOT, 'src', 'vendors');
const [command, ...args] = process.argv.slice(2);
const USAGE = [
  'npm run vendor:new <id> -- --port identity|credit|income [--auth bearer|basic|oauth2] [--polls]',
  'npm run vendor:test <id> [-- --watch]      certifies the vendor, and writes nothing',
  'npm run vendor:certify <id>                also writes certification.json and behaviour.json',
  'npm run vendor:record <id>                 writes fixtures/recorded/',
  'docs/how-to/add-a-vendor.md describes each step.',
];

await runCommand(async () => {
  if (args.includes('--help')) {
    for (const line of USAGE) console.log(line);
    return;
  }
  ensureInstalled();
  switch (command) {
    case 'new':
      for (const line of await makeVendor(VENDORS, args)) console.log(line);
      writeReadmes();
      return;
    case 'test':
      process.exitCode = await jest(args, {}, args.includes('--watch') ? ['--watchAll'] : []);
      return;
    case 'certify':
      process.exitCode = await jest(args, { VENDOR_CERTIFY: 'write' }, ['--silent']);
      return;
    case 'record':
      process.exitCode = await jest(args, { VENDOR_CERTIFY: 'record' }, []);
      return;
    default:
      throw new Problem('The commands are vendor:new, vendor:test, vendor:certify and vendor:record.');
  }
});

/** The pages of all vendors, as `npm run docs` writes them, but from the sources. */
function writeReadmes() {
  const program = ['--import', './test/support/typescript.js', 'src/vendor-kit/generate-docs.ts'];
  const { status } = spawnSync(process.execPath, program, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Problem('The README of the vendor was not written. Run: npm run docs');
}

function idIn(args) {
  const [id, ...more] = args.filter((argument) => argument !== '--watch');
  const known = readdirSync(VENDORS).filter((name) => existsSync(join(VENDORS, name, 'vendor.test.ts')));
  if (id === undefined || more.length > 0)
    throw new Problem(`Name one vendor of ${known.join(', ')}. --help shows how.`);
  if (!known.includes(id)) throw new Problem(`There is no vendor.test.ts for ${id}. Name one of ${known.join(', ')}.`);
  return id;
}

/** Runs the certification of one vendor alone, and prints its matrix and its level at the end. */
async function jest(args, env, options) {
  const id = idIn(args);
  const nodeOptions = [process.env.NODE_OPTIONS, '--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const test = join(VENDORS, id, 'vendor.test.ts');
  const run = spawn(
    process.execPath,
    [join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), '--runTestsByPath', test, '--verbose', ...options],
    {
      cwd: ROOT,
      env: { ...process.env, ...env, NODE_OPTIONS: nodeOptions.filter(Boolean).join(' ') },
      stdio: 'inherit',
    },
  );
  // Ctrl-C also reaches Jest, which ends by itself.
  process.on('SIGINT', () => undefined);
  const code = await new Promise((resolve, reject) => {
    run.on('error', reject);
    run.on('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  if (env.VENDOR_CERTIFY === 'write') printCertificate(id);
  return code;
}

function printCertificate(id) {
  const { level, cases } = JSON.parse(readFileSync(join(VENDORS, id, 'certification.json'), 'utf8'));
  for (const [capability, results] of Object.entries(cases))
    for (const [name, result] of Object.entries(results))
      console.log(`${capability.padEnd(9)} ${name.padEnd(80)} ${result}`);
  console.log(`The level of ${id} is ${level}.`);
}
