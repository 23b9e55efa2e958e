// The second part of `npm run test:certify`: makes small changes in the wire files of a vendor, one at a time. The vendor's certificate must be red for
// at least 95 of 100 changes.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureMutationTool, ensureNode24, ROOT } from './installation.mjs';
import { Problem } from './problem.mjs';

const LEAST_PERCENT = 95;
const VENDORS = join(ROOT, 'src', 'vendors');

export function certifiedVendors() {
  return readdirSync(VENDORS).filter((id) => existsSync(join(VENDORS, id, 'vendor.test.ts')));
}

/** `files`: the names of the files to change, such as `*-wire`. The default is every wire file. */
export async function testMutants(id, files = '*') {
  await stryker(id, files);
  const report = JSON.parse(readFileSync(join(ROOT, '.data', 'mutation', `${id}.json`), 'utf8'));
  const mutants = Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ ...mutant, file, ...wordsOf(source, mutant.location) })),
  );
  const equivalent = equivalentOf(mutants);
  const counted = mutants.filter((mutant) => !equivalent.has(mutant));
  const left = counted.filter(({ status }) => status !== 'Killed' && status !== 'Timeout');
  for (const { file, line, text, replacement } of left)
    console.log(`GREEN: ${file}:${line}: ${text} -> ${replacement}`);
  const percent = (100 * (counted.length - left.length)) / Math.max(counted.length, 1);
  console.log(
    `${id}: the certificate is red for ${counted.length - left.length} of ${counted.length} changes (${percent.toFixed(1)} %). ` +
      `${equivalent.size} further changes change nothing.`,
  );
  return percent >= LEAST_PERCENT ? [] : [`${percent.toFixed(1)} % of the changes of ${id} are found`];
}

function wordsOf(source, { start, end }) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  lines.push(lines.pop().slice(0, end.column - 1));
  lines[0] = lines[0].slice(start.column - 1);
  return { line: start.line, text: lines.join(' ').replace(/\s+/g, ' ') };
}

/** The compiler proves that these branches never run. */
const UNREACHABLE = /^default: return [\w.]+ satisfies never;$/;

/** Unreachable branches, and the mutants that tools/mutation/equivalent.json names. Each entry tells why no test can see the change. */
function equivalentOf(mutants) {
  const named = JSON.parse(readFileSync(join(ROOT, 'tools', 'mutation', 'equivalent.json'), 'utf8'));
  const isNamed = ({ file, text, replacement, status }) =>
    status !== 'Killed' &&
    (UNREACHABLE.test(text) ||
      named.some((one) => file.endsWith(one.file) && one.from === text && (one.to === '*' || one.to === replacement)));
  return new Set(mutants.filter(isNamed));
}

async function stryker(id, files) {
  const folder = ensureMutationTool();
  const program = join(folder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  const env = { ...process.env, MUTATED_VENDOR: id, MUTATED_FILES: files };
  const child = spawn(join(ensureNode24(), 'node'), [program, 'run', join(folder, 'stryker.config.mjs')], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  if (code !== 0) throw new Problem(`Stryker failed for ${id}.`);
}
