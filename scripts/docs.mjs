// `npm run docs` writes the documents that are generated from the code. `npm run docs -- --check` fails when a committed document differs.
//
// A generator is a source file named generate-docs.ts anywhere in src/. Each generator writes below the current folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ensureBuilt, ensureInstalled, ROOT } from './installation.mjs';
import { Problem, runCommand } from './problem.mjs';

await runCommand(() => {
  ensureInstalled();
  ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'generated-docs-'));
  try {
    compareOrWrite(generateInto(folder), process.argv.includes('--check'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The path of each document in the repository, with its text. */
function generateInto(folder) {
  mkdirSync(join(folder, 'docs'));
  const generators = readdirSync(join(ROOT, 'dist'), { recursive: true }).filter((file) =>
    /(^|[/\\])generate-docs\.js$/.test(file),
  );
  for (const generator of generators) {
    const result = spawnSync(process.execPath, [join(ROOT, 'dist', generator)], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
    });
    if (result.status !== 0) throw new Problem(`dist/${generator} failed; its message is above.`);
  }
  const documents = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  if (documents.length === 0) throw new Problem('No generator wrote a document.');
  return documents.map((entry) => {
    const file = join(entry.parentPath ?? entry.path, entry.name);
    return { path: file.slice(folder.length + 1), text: readFileSync(file, 'utf8') };
  });
}

/** The collection has no other files than its generator makes. Files that begin with a dot belong to the user. */
function leftOver(documents) {
  const made = new Set(documents.map(({ path }) => path));
  const folders = new Set([...made].map(dirname).filter((folder) => folder.startsWith(join('docs', 'bruno'))));
  return [...folders].flatMap((folder) => {
    if (!existsSync(join(ROOT, folder))) return [];
    const files = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter((entry) => entry.isFile());
    return files
      .map(({ name }) => join(folder, name))
      .filter((path) => !made.has(path) && !basename(path).startsWith('.'));
  });
}

function compareOrWrite(documents, check) {
  const changed = documents.filter(
    ({ path, text }) => !existsSync(join(ROOT, path)) || readFileSync(join(ROOT, path), 'utf8') !== text,
  );
  const left = leftOver(documents);
  const stale = [...changed.map(({ path }) => path), ...left];
  if (check && stale.length > 0)
    throw new Problem(`Not up to date with the code: ${stale.join(', ')}. Run: npm run docs`);
  for (const { path, text } of changed) {
    mkdirSync(join(ROOT, dirname(path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
  for (const path of left) rmSync(join(ROOT, path));
}
