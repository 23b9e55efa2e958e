// `npm run test:certify`: shows that certification finds bugs. `bugs [part of a name ...]` plants bugs in copies of the vendor acme and certifies each
// copy. `mutants [vendor] [files]` changes the wire files of vendors. Without arguments, both run.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';
import { certifiedVendors, testMutants } from './test-mutants.mjs';
import { makeVendor } from './vendor-folder.mjs';

/** Certifications that run at once. They wait for faults much of the time. */
const AT_ONCE = 3;
const ROOMS = ['kernel', 'ports', 'vendor-kit', 'vendors/acme'];
const [part, ...wanted] = process.argv.slice(2);

await runCommand(async () => {
  ensureInstalled();
  if (part !== undefined && part !== 'bugs' && part !== 'mutants') throw new Problem('Name bugs, mutants or nothing.');
  const missed = part === 'mutants' ? [] : await testBugs(part === 'bugs' ? wanted : []);
  const vendors = part === 'mutants' && wanted.length > 0 ? wanted.slice(0, 1) : certifiedVendors();
  if (part !== 'bugs') for (const id of vendors) missed.push(...(await testMutants(id, wanted[1])));
  if (missed.length > 0) throw new Problem(`Not as it must be: ${missed.join('; ')}.`);
});

/** `names`: parts of the names of the bugs to plant. Without one, all are planted. */
async function testBugs(names) {
  const bugs = (await plantedBugs()).filter(
    ({ name }) => names.length === 0 || names.some((one) => name.includes(one)),
  );
  const correct = await certified(null);
  console.log(
    correct.length === 0 ? 'green: the correct adapter' : `RED: the correct adapter: ${JSON.stringify(correct)}`,
  );
  const stub = await certified(null, 'newcomer');
  console.log(
    stub.length > 0 ? 'red: a new folder that is not filled in' : 'GREEN: a new folder that is not filled in',
  );
  const missed = [];
  const left = [...bugs];
  const testNext = async () => {
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
      const failed = await certified(bug);
      if (failed.length === 0) missed.push(bug.name);
      const [capability, name, problem] = failed[0] ?? [];
      console.log(
        failed.length === 0 ? `MISSED: ${bug.name}` : `red: ${bug.name} (${capability}, ${name}: ${problem})`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, testNext));
  console.log(`${bugs.length - missed.length} of ${bugs.length} planted bugs were found.`);
  return correct.length === 0 && stub.length > 0 ? missed : ['the adapter without a bug, or the new folder', ...missed];
}

async function plantedBugs() {
  const source = readFileSync(join(ROOT, 'test/certify/planted-bugs.ts'), 'utf8');
  const { code } = transformSync(source, {
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).PLANTED_BUGS;
}

/** The failed cases of a copy with the bug. */
async function certified(bug, id = 'acme') {
  const folder = mkdtempSync(join(tmpdir(), 'planted-bug-'));
  try {
    for (const room of ROOMS) cpSync(join(ROOT, 'src', room), join(folder, 'src', room), { recursive: true });
    for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
    if (bug !== null) plant(join(folder, 'src', bug.file), bug);
    if (id !== 'acme')
      await makeVendor(join(folder, 'src', 'vendors'), [id, '--port', 'identity', '--auth', 'oauth2', '--polls']);
    return JSON.parse(await run(join(folder, 'src'), id));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function plant(file, { name, change: [from, to] }) {
  const source = readFileSync(file, 'utf8');
  if (source.split(from).length !== 2) throw new Problem(`The bug "${name}" cannot be planted: its place has changed.`);
  writeFileSync(
    file,
    source.replace(from, () => to),
  );
}

function run(folder, id) {
  const loader = join(ROOT, 'test/support/typescript.js');
  const program = spawn(process.execPath, ['--import', loader, join(ROOT, 'test/certify/run.ts'), folder, id], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { out: '', error: '' };
  program.stdout.on('data', (chunk) => (written.out += chunk));
  program.stderr.on('data', (chunk) => (written.error += chunk));
  return new Promise((resolve, reject) => {
    program.on('error', reject);
    program.on('exit', (code) => {
      const last = written.out.trimEnd().split('\n').at(-1);
      if (code === 0) resolve(last);
      else reject(new Problem(`The certification did not run:\n${written.error.slice(-2_000)}`));
    });
  });
}
