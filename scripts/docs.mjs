// `npm run docs` writes the documents that are made from the code; `npm run docs -- --check` fails when a committed one differs.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';

/** Each generator prints its document on standard output. */
const GENERATORS = {
  'docs/errors.md': 'dist/errors/generate-docs.js',
  'docs/events.md': 'dist/published/generate-docs.js',
};

await runCommand(() => {
  ensureInstalled();
  ensureBuilt();
  const check = process.argv.includes('--check');
  const stale = [];
  for (const [document, generator] of Object.entries(GENERATORS)) {
    if (!existsSync(join(ROOT, generator))) continue;
    const text = generate(generator);
    const file = join(ROOT, document);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    if (check) stale.push(document);
    else writeFileSync(file, text);
  }
  if (stale.length > 0) throw new Problem(`Not up to date with the code: ${stale.join(', ')}. Run: npm run docs`);
});

function generate(generator) {
  const result = spawnSync(process.execPath, [join(ROOT, generator)], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64_000_000 });
  if (result.status !== 0 || result.stdout === '') throw new Problem(`${generator} printed no document.\n${result.stderr}`);
  return result.stdout;
}
