// What code and documents refer to is in the repository: pages, headings, files and ADRs.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
/** They hold samples of what is wrong. */
const HOLD_SAMPLES = [
  'test/architecture/comments.unit.test.ts',
  'test/architecture/documents.int.test.ts',
  'test/architecture/repository.unit.test.ts',
];

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && !HOLD_SAMPLES.includes(path) && existsSync(join(ROOT, path)));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** As GitHub makes them of headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} +(.+)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function leadsNowhere(page: string, anchor: string | undefined): boolean {
  if (!existsSync(join(ROOT, page))) return true;
  return anchor !== undefined && !anchorsOf(read(page)).has(anchor);
}

/** The targets of a page's links that are neither a page, nor a heading of one, nor a file. */
function brokenLinks(path: string, markdown: string): string[] {
  return [...markdown.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
    .filter(([, target = '', anchor]) => {
      const page = target === '' ? path : relative(ROOT, join(ROOT, dirname(path), target));
      return leadsNowhere(page, anchor);
    })
    .map(([link]) => link);
}

/** Citations in code, `docs/<page>.md#heading, #other`, that lead nowhere. */
function brokenCitations(text: string): string[] {
  return [...text.matchAll(/\b(docs\/[\w/-]+\.md)((?:(?:, )?#[\w-]+)*)/g)].flatMap(([, page = '', anchors = '']) => {
    const named = anchors.match(/#[\w-]+/g)?.map((anchor) => anchor.slice(1)) ?? [undefined];
    return named.filter((anchor) => leadsNowhere(page, anchor)).map((anchor) => `${page}#${anchor ?? ''}`);
  });
}

/** Files that a page names in backticks and that are not there. Places in a pattern (`<name>`, `*`) are not looked for. */
function missingFiles(markdown: string): string[] {
  return [...markdown.matchAll(/`((?:src|test|docs|sandbox|scripts)\/[\w./-]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(ROOT, path)));
}

/** How-tos whose excerpts are the code of the service; a line with `...` is shortened, and a comment may be worded in another way. */
const WORKED_EXAMPLES = ['docs/how-to/add-a-use-case.md', 'docs/how-to/add-a-listing.md'];
const plain = (line: string): string => line.trim().replace(/\s+/g, ' ');

/** Lines of a page's TypeScript that no file has. */
function missingLines(markdown: string, lines: ReadonlySet<string>): string[] {
  return [...markdown.matchAll(/^ *```ts\n([\s\S]*?)^ *```/gm)]
    .flatMap(([, excerpt = '']) => excerpt.split('\n').map(plain))
    .filter((line) => line !== '' && !line.includes('...') && !/^(?:\/|\*)/.test(line) && !lines.has(line));
}

/** Sources that are not in the repository. */
const ELSEWHERE = /\bdecisions? \d|\bdecisions,? section\b|\bthe specification\b|[sS]pecification,? "|\(design[:)]/;
const CODE = /\.(?:ts|mjs|cjs|js|yml)$|Dockerfile$/;
const pages = tracked.filter((path) => path.endsWith('.md'));
const code = tracked.filter((path) => CODE.test(path));
const faults = (files: readonly string[], of: (path: string, text: string) => readonly string[]): string[] =>
  files.flatMap((path) => of(path, read(path)).map((fault) => `${path}: ${fault}`));

describe('documents', () => {
  it('link to pages, headings and files that are there', () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(brokenLinks('docs/a.md', '[a](b.md) [c](#d) [e](contract/general.md#f)')).toHaveLength(3);
    expect(brokenLinks('docs/a.md', '[ok](contract/general.md#errors) [out](https://example.test/a)')).toEqual([]);
    expect(faults(pages, brokenLinks)).toEqual([]);
  });

  it('name files that are there', () => {
    expect(missingFiles('`src/nothing.ts` `src/<m>/a.ts` `src/main.ts`')).toEqual(['src/nothing.ts']);
    const current = pages.filter((path) => !path.startsWith('docs/adr/'));
    expect(faults(current, (_path, text) => missingFiles(text))).toEqual([]);
  });

  it('show code that is there, where they are worked examples', () => {
    expect(missingLines('```ts\n  a();\n  b();\n  ...\n// c\n```', new Set(['a();']))).toEqual(['b();']);
    const sources = tracked.filter((path) => path.endsWith('.ts'));
    const lines = new Set(sources.flatMap((path) => read(path).split('\n').map(plain)));
    expect(faults(WORKED_EXAMPLES, (_path, text) => missingLines(text, lines))).toEqual([]);
  });

  it('have ADRs that are numbered without a gap', () => {
    const numbers = pages.flatMap((path) => /^docs\/adr\/(\d{4})-/.exec(path)?.[1] ?? []).map(Number);
    expect(numbers.sort((one, other) => one - other)).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('code', () => {
  it('cites pages and headings that are there', () => {
    expect(brokenCitations('// docs/contract/general.md#errors, #nothing; docs/nothing.md')).toEqual([
      'docs/contract/general.md#nothing',
      'docs/nothing.md#',
    ]);
    expect(faults(code, (_path, text) => brokenCitations(text))).toEqual([]);
  });

  it('cites nothing that is not in the repository', () => {
    const elsewhere = (_path: string, text: string): string[] =>
      text.split('\n').filter((line) => ELSEWHERE.test(line));
    const samples = ['// (decisions 3.1)', '// decisions, section 2', '// specification "Limits"', '// (design: "x")'];
    expect(elsewhere('', samples.join('\n'))).toEqual(samples);
    expect(faults([...code, ...pages], elsewhere)).toEqual([]);
  });

  it('cites ADRs that are there', () => {
    const adrs = new Set(pages.flatMap((path) => /^docs\/adr\/(\d{4})-/.exec(path)?.[1] ?? []).map(Number));
    const missing = (_path: string, text: string): string[] =>
      [...text.matchAll(/\bADR (\d+)\b/g)].filter(([, number]) => !adrs.has(Number(number))).map(([cited]) => cited);
    expect(missing('', 'ADR 999')).toEqual(['ADR 999']);
    expect(faults([...code, ...pages], missing)).toEqual([]);
  });
});
