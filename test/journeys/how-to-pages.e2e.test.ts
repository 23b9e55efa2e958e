// The test follows a how-to page literally in a copy of the repository: it applies every block and runs every command.
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['docs/how-to/add-a-use-case.md', 'docs/how-to/add-a-listing.md'];
/** The time for a build, the type check and some suites on a busy machine. */
const LONGEST_MS = 1_200_000;

interface Block {
  readonly kind: string;
  readonly text: string;
  /** The file that the sentence above names at its end. */
  readonly file: string;
}

function blocksOf(markdown: string): Block[] {
  const parts = markdown.split(/^```(\w+)\n([\s\S]*?)^```$/m);
  return Array.from({ length: (parts.length - 1) / 3 }, (_, at) => {
    const [prose = '', kind = '', text = ''] = parts.slice(3 * at);
    return { kind, text, file: /`([^`\s]+)`[^`]*:\s*$/.exec(prose)?.[1] ?? '' };
  });
}

/** The numbers of source files, test files and documents in the table row of the example. */
function promisedBy(markdown: string): number[] {
  const row = /^\| \*\*the example.*$/m.exec(markdown)?.[0] ?? '';
  return [...row.matchAll(/\*\*(\d+)\*\*/g)].map(([, count]) => Number(count));
}

/**
 * Applies each hunk of a diff to a text. If the text does not have the hunk's lines exactly once, the page is wrong.
 */
function changed(text: string, diff: string): string {
  return diff.split(/^@@\n/m).reduce((before, place) => {
    const lines = place.trimEnd().split('\n');
    const without = (mark: string): string =>
      `\n${lines.flatMap((line) => (line.startsWith(mark) ? [] : [line.slice(1)])).join('\n')}\n`;
    const [start = '', end, more] = `\n${before}`.split(without('+'));
    if (end === undefined || more !== undefined) throw new Error(`Not there once:${without('+')}`);
    return `${start}${without('-')}${end}`.slice(1);
  }, text);
}

const git = (folder: string, ...args: string[]): string[] =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

/**
 * The repository as a new reader has it. Files are copied and not linked, because commands of a page may overwrite
 * them.
 */
class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), 'how-to-'));

  constructor() {
    const files = git(ROOT, 'ls-files', '--cached', '--others', '--exclude-standard');
    // The existing build is copied too, so that only the changes are built.
    for (const path of [...files, 'dist', 'dist-web'].filter((name) => existsSync(join(ROOT, name))))
      cpSync(join(ROOT, path), join(this.folder, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
    git(this.folder, 'init', '--quiet');
    git(this.folder, 'add', '--all');
  }

  async apply({ kind, text, file }: Block): Promise<void> {
    if (kind === 'sh') return this.run('sh', '-ec', text);
    const path = join(this.folder, file);
    if (file === '' || existsSync(path) !== (kind === 'diff'))
      throw new Error(`A block for no such file: ${file}\n${text}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, kind === 'diff' ? changed(readFileSync(path, 'utf8'), text) : text);
  }

  async run(program: string, ...args: string[]): Promise<void> {
    // The command is not a part of this test run.
    const { NODE_ENV: _env, NODE_OPTIONS: _options, JEST_WORKER_ID: _worker, TIER: _tier, ...env } = process.env;
    await promisify(execFile)(program, args, { cwd: this.folder, env, maxBuffer: 2 ** 26 }).catch(
      ({ message, stdout, stderr }: { message: string; stdout: string; stderr: string }) => {
        throw new Error(`${message}\n${stdout.slice(-5_000)}\n${stderr.slice(-10_000)}`);
      },
    );
  }

  changes(): string[] {
    const made = git(this.folder, 'ls-files', '--others', '--exclude-standard').filter(
      (path) => path !== 'node_modules',
    );
    return [...git(this.folder, 'diff', '--name-only'), ...made].filter((path) => !this.isRenumbered(path));
  }

  /** `npm run docs` numbers the requests for Bruno. A new request moves the numbers of the requests after it. */
  private isRenumbered(path: string): boolean {
    const lines = git(this.folder, 'diff', '--unified=0', '--', path).filter((line) => /^[+-](?![+-])/.test(line));
    return path.endsWith('.bru') && lines.length > 0 && lines.every((line) => /^[+-] {2}seq: \d+$/.test(line));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

describe('a how-to page', () => {
  let checkout: Checkout;
  beforeEach(() => {
    checkout = new Checkout();
  });
  afterEach(() => checkout.remove());

  // Two builds and a type check of each page take minutes, so `.ci/run` omits these tests. `npm run test:how-to` runs
  // the tests of how-to pages.
  const each = process.env['HOW_TO'] === undefined ? it.skip.each : it.each;
  each(PAGES)(
    '%s shows a change that passes every check and has as many files as the page says',
    async (page) => {
      const markdown = readFileSync(join(ROOT, page), 'utf8');
      const blocks = blocksOf(markdown);
      for (const block of blocks.slice(0, -1)) await checkout.apply(block);

      const files = checkout.changes();
      const kinds = [/^src\//, /^test\//, /^(?!src\/|test\/)/].map((kind) => files.filter((path) => kind.test(path)));
      expect([kinds, kinds.map(({ length }) => length)]).toEqual([kinds, promisedBy(markdown)]);
      const code = files.filter((path) => path.endsWith('.ts'));
      await checkout.run('npx', 'eslint', '--max-warnings', '0', ...code);
      await checkout.run('npx', 'prettier', '--check', '--ignore-unknown', ...files);
      await checkout.run('npm', 'run', '--silent', 'lint:language');
      // The page ends with the commands that check the change.
      for (const block of blocks.slice(-1)) await checkout.apply(block);
    },
    LONGEST_MS,
  );
});
