// The test checks that pages, headings, files and ADRs exist when code or documents refer to them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
/** These files contain samples with faults. */
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

const withoutCode = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```/gm, '');

/** The anchors that GitHub makes from headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = withoutCode(markdown).matchAll(/^#{1,6} +(.+)$/gm);
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

/** The links of a page whose targets are missing. */
function brokenLinks(path: string, markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g)]
    .filter(([, target = '', anchor]) => {
      const page = target === '' ? path : relative(ROOT, join(ROOT, dirname(path), target));
      return leadsNowhere(page, anchor);
    })
    .map(([link]) => link);
}

/** Citations in code with a missing target, in the form `docs/<page>.md#heading, #other`. */
function brokenCitations(text: string): string[] {
  return [...text.matchAll(/\b(docs\/[\w/-]+\.md)((?:(?:, )?#[\w-]+)*)/g)].flatMap(([, page = '', anchors = '']) => {
    const named = anchors.match(/#[\w-]+/g)?.map((anchor) => anchor.slice(1)) ?? [undefined];
    return named.filter((anchor) => leadsNowhere(page, anchor)).map((anchor) => `${page}#${anchor ?? ''}`);
  });
}

/**
 * The missing files that a page names in backticks. The function skips paths with a placeholder (`<name>`, `*`), and
 * files that a worked example adds.
 */
function missingFiles(markdown: string): string[] {
  return [
    ...markdown.replace(/^The new file `.*`:$/gm, '').matchAll(/`((?:src|test|docs|sandbox|scripts)\/[\w./-]+)`/g),
  ]
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(ROOT, path)));
}

/** Mentions of sources outside the repository. */
const ELSEWHERE = /\bdecisions? \d|\bdecisions,? section\b|\bthe specification\b|[sS]pecification,? "|\(design[:)]/;
const CODE = /\.(?:ts|mjs|cjs|js|yml)$|Dockerfile$/;
const pages = tracked.filter((path) => path.endsWith('.md'));
const code = tracked.filter((path) => CODE.test(path));
const faults = (files: readonly string[], of: (path: string, text: string) => readonly string[]): string[] =>
  files.flatMap((path) => of(path, read(path)).map((fault) => `${path}: ${fault}`));

describe('documents', () => {
  it('link to existing pages, headings and files', () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(brokenLinks('docs/a.md', '[a](b.md) [c](#d) [e](contract/general.md#f)')).toHaveLength(3);
    expect(brokenLinks('docs/a.md', '[ok](contract/general.md#errors) [out](https://example.test/a)')).toEqual([]);
    expect(faults(pages, brokenLinks)).toEqual([]);
  });

  it('show every picture of the repository, and only pictures that exist', () => {
    const shown = pages.flatMap((path) =>
      [...read(path).matchAll(/(?:\]\(|src=")([^)"\s]+\.png)/g)].map(([, file = '']) =>
        relative(ROOT, join(ROOT, dirname(path), file)),
      ),
    );
    const pictures = tracked.filter((path) => path.startsWith('docs/') && path.endsWith('.png'));
    expect([...new Set(shown)].sort()).toEqual(pictures.sort());
  });

  it('name existing files', () => {
    expect(missingFiles('`src/nothing.ts` `src/<m>/a.ts` `src/main.ts`')).toEqual(['src/nothing.ts']);
    expect(missingFiles('The new file `src/nothing.ts`:')).toEqual([]);
    const current = pages.filter((path) => !path.startsWith('docs/adr/'));
    expect(faults(current, (_path, text) => missingFiles(text))).toEqual([]);
  });

  it('number the ADRs without a gap', () => {
    const numbers = pages.flatMap((path) => /^docs\/adr\/(\d{4})-/.exec(path)?.[1] ?? []).map(Number);
    expect(numbers.sort((one, other) => one - other)).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('code', () => {
  it('cites existing pages and headings', () => {
    expect(brokenCitations('// docs/contract/general.md#errors, #nothing; docs/nothing.md')).toEqual([
      'docs/contract/general.md#nothing',
      'docs/nothing.md#',
    ]);
    expect(faults(code, (_path, text) => brokenCitations(text))).toEqual([]);
  });

  it('cites no source outside the repository', () => {
    const elsewhere = (_path: string, text: string): string[] =>
      text.split('\n').filter((line) => ELSEWHERE.test(line));
    const samples = ['// (decisions 3.1)', '// decisions, section 2', '// specification "Limits"', '// (design: "x")'];
    expect(elsewhere('', samples.join('\n'))).toEqual(samples);
    expect(faults([...code, ...pages], elsewhere)).toEqual([]);
  });

  it('cites existing ADRs', () => {
    const adrs = new Set(pages.flatMap((path) => /^docs\/adr\/(\d{4})-/.exec(path)?.[1] ?? []).map(Number));
    const missing = (_path: string, text: string): string[] =>
      [...text.matchAll(/\bADR (\d+)\b/g)].filter(([, number]) => !adrs.has(Number(number))).map(([cited]) => cited);
    expect(missing('', 'ADR 999')).toEqual(['ADR 999']);
    expect(faults([...code, ...pages], missing)).toEqual([]);
  });
});
