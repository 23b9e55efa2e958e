// A comment that names a file must name an existing file, so that a reader finds it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const FOLDERS = ['src', 'web', 'scripts', 'sandbox', 'test', 'tools'];
const TOP_FOLDERS = [...FOLDERS, 'docs', 'dist'];
/** This file contains samples with missing files. */
const THIS_FILE = 'test/architecture/comments.unit.test.ts';

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : filesIn(path);
  });
const rootFiles = readdirSync('.', { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
const present = [...[...FOLDERS, 'docs'].flatMap(filesIn), ...rootFiles];
const names = new Set(present.map((path) => basename(path)));
const read = (path: string): string => readFileSync(path, 'utf8');

/**
 * The pattern matches comments first. The other alternatives are texts that may look like comments: regular
 * expressions, strings and templates.
 */
const PARTS =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<=[=(,:[!&|?{;>]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/g;

function partsOf(
  path: string,
  text: string,
): { readonly comments: readonly string[]; readonly strings: readonly string[] } {
  if (path.endsWith('.html')) return { comments: text.match(/<!--[\s\S]*?-->/g) ?? [], strings: [] };
  const parts = [...text.matchAll(PARTS)].map(({ groups }) => groups ?? {});
  return {
    comments: parts.flatMap(({ comment }) => comment ?? []),
    strings: parts.flatMap(({ string }) => string ?? []),
  };
}

const code = present.filter((path) => /\.(?:[cm]?[jt]sx?|css|html)$/.test(path) && path !== THIS_FILE);
const parts = new Map(code.map((path) => [path, partsOf(path, read(path))]));

const NAME =
  /(?<![\w.$<*{-])(?:[\w@.-]+\/)*[\w@.-]*\w\.(?:[cm]?[jt]sx?|json|md|css|html|ya?ml|lua|sh|py|go|svg|png)\b(?![\w.-]*[\w(])/g;
/** A path without an extension may be the beginning of a longer path: `docs/adr/0011`. */
const PATH = new RegExp(`(?<![\\w./<*@{-])(?:${TOP_FOLDERS.join('|')})/[\\w./-]*\\w(?![\\w./-]*[<*{])`, 'g');

/** A program names each file that it writes in a string. */
const written = new Set(
  [...parts]
    .filter(([path]) => !path.startsWith('test/'))
    .flatMap(([, { strings }]) => strings.flatMap((string) => string.match(NAME) ?? []))
    .map((name) => basename(name)),
);

/** The source of a built file: `src/main.ts` for `dist/src/main.js`. */
const source = (path: string): string => path.replace(/^dist\/(.*)\.js$/, '$1.ts').replace(/^dist\//, '');

function isThere(name: string, from: string): boolean {
  const path = source(name.replace(/^(?:\.\/)+/, ''));
  if (existsSync(path) || existsSync(join(dirname(from), path))) return true;
  if (!path.includes('/')) return names.has(path) || written.has(path);
  return present.some((file) => file.startsWith(path) || file.endsWith(`/${path}`)) || written.has(basename(path));
}

/** The files that comments name, but that neither the repository nor its programs provide. */
function missingIn(comment: string, from: string): string[] {
  const text = comment.replace(/\bhttps?:\/\/\S+/g, '').replace(/\bNode\.js\b/g, '');
  const named = new Set([...(text.match(NAME) ?? []), ...(text.match(PATH) ?? [])]);
  return [...named].filter((name) => !isThere(name, from));
}

describe('comments', () => {
  it.each([
    '// See nothing.ts.',
    '// nothing.test.ts; more',
    '/* `src/kernel/nothing.ts` */',
    '/** docs/nothing.md#heading */',
    '// (src/nothing/at-all)',
    '// ./nothing.mjs, nothing.tsx',
  ])('are reported when they name a missing file: %s', (comment) => {
    expect(missingIn(comment, THIS_FILE)).not.toEqual([]);
  });

  it.each([
    '// clock.ts, kernel/clock.ts, src/kernel/clock.ts and dist/src/main.js',
    '// ./repository.unit.test.ts, docs/adr/0011 and docs/adr/',
    '// <name>.ts, when-*.ts, src/modules/<m>/domain, https://example.test/a.html and Node.js',
    '// The service writes run.json.',
  ])('may name an existing file, a pattern or a written file: %s', (comment) => {
    expect(missingIn(comment, THIS_FILE)).toEqual([]);
  });

  it('are distinguished from strings and regular expressions', () => {
    const text = "const a = '// a.ts'; // b.ts\nconst c = /[`/]\\/\\/ c.ts/; /* d.ts */\nconst e = `// e.ts`;";
    expect(partsOf('a.ts', text).comments).toEqual(['// b.ts', '/* d.ts */']);
    expect(partsOf('a.html', '<p>a.ts</p><!-- b.ts -->').comments).toEqual(['<!-- b.ts -->']);
  });

  it('name only existing files', () => {
    const faults = [...parts].flatMap(([path, { comments }]) =>
      comments.flatMap((comment) => missingIn(comment, path).map((name) => `${path}: ${name}`)),
    );
    expect(faults).toEqual([]);
  });
});
