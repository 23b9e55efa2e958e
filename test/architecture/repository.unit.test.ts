// Rules about the repository's files that no linter checks. The tests try each rule on samples that break it, so that a
// broken rule is noticed.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Rule {
  readonly name: string;
  /** The faults of the file, each in one line. */
  readonly faultsIn: (path: string, text: string) => readonly string[];
  readonly broken: readonly { readonly path: string; readonly text: string }[];
}

const matches = (pattern: RegExp) => (_path: string, text: string) =>
  text
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`line ${index + 1}: ${line.trim().slice(0, 160)}`] : []));

/** This file contains samples that break the rules. */
const THIS_FILE = 'test/architecture/repository.unit.test.ts';

const RULES: readonly Rule[] = [
  {
    name: 'lint is silenced only with a reason',
    faultsIn: matches(/eslint-disable(?!.* -- \S+ \S+)/),
    broken: [
      { path: 'src/kernel/a.ts', text: 'call(); // eslint-disable-line no-console' },
      { path: 'src/kernel/a.ts', text: '/* eslint-disable */' },
      { path: 'src/kernel/a.ts', text: '// eslint-disable-next-line no-console --' },
    ],
  },
  {
    name: 'a folder is named after its content',
    faultsIn: (path) =>
      path
        .split('/')
        .slice(0, -1)
        .filter((folder) => /^(utils?|common|helpers?|shared|misc|lib)$/i.test(folder)),
    broken: ['utils', 'common', 'helpers', 'shared'].map((folder) => ({ path: `src/${folder}/a.ts`, text: '' })),
  },
  {
    name: 'no file is an index of others',
    faultsIn: (path) => (/^index\.[cm]?[jt]s$/.test(basename(path)) ? ['an index file'] : []),
    broken: [{ path: 'src/modules/screening/index.ts', text: '' }],
  },
  {
    name: 'a note on later work names its issue',
    faultsIn: matches(/\b(?:TODO|FIXME|XXX)\b(?!.*#\d+)/),
    broken: [{ path: 'src/kernel/a.ts', text: '// TODO: later' }],
  },
  {
    name: 'no file names the machine or the registry of its author',
    faultsIn: matches(
      /(?<![\w.~}])\/(?:work|root|home\/\w+|Users\/\w+)\/|registry\.(?:npmjs|yarnpkg)|deb\.debian\.org|"resolved": "http/,
    ),
    broken: [
      { path: 'docs/a.md', text: 'See /root/a.txt' },
      { path: 'package-lock.json', text: '"resolved": "https://example.test/a.tgz"' },
      { path: '.npmrc', text: 'registry=https://registry.npmjs.org/' },
    ],
  },
  {
    name: 'texts use the name screening-service, and not the working title',
    // Random numbers in tests begin with a seed.
    faultsIn: (path, text) => (path.startsWith('test/') ? [] : matches(/(?<![a-z])seed/i)(path, text)),
    broken: [
      { path: 'README.md', text: '# Seed' },
      { path: 'docs/a.md', text: "import { Service } from '@seed/embed';" },
      { path: 'docker-compose.yml', text: 'image: seed-service' },
      { path: 'src/surfaces/openapi.ts', text: ".setTitle('SEED: identity screening')" },
      { path: 'src/kernel/a.ts', text: 'SeedService' },
    ],
  },
  {
    name: 'every source file is in a room of the architecture',
    faultsIn: (path) =>
      path.startsWith('src/') &&
      !/^src\/(?:(?:kernel|config|surfaces|ports|adapters|published|platform|ops|vendor-kit|external-calls|transparency)\/|challenges\/(?:domain|application)\/|vendors\/[^/]+\/|modules\/[^/]+\/(?:domain|application|read|http)\/|modules\/[^/]+\/[^/]+\.module\.ts$|modules\/(?:features\.module|routes\.module|stored-events\.module|surfaces\.module|erasure-evidence|case-tags)\.ts$|(?:main|service|app\.module|process\.module)\.ts$)/.test(
        path,
      )
        ? ['not in a room of the architecture']
        : [],
    broken: [
      { path: 'src/services/a.ts', text: '' },
      { path: 'src/modules/screening/a.ts', text: '' },
      { path: 'src/modules/screening/services/a.ts', text: '' },
    ],
  },
  {
    name: 'the root module only imports modules',
    faultsIn: (path, text) => {
      if (path !== 'src/app.module.ts') return [];
      const lines = text.split('\n').length - 1;
      return [
        ...(lines < 80 ? [] : [`${lines} lines`]),
        ...matches(/\b(?:useFactory|useValue|useClass|useExisting|new)\b/)(path, text),
      ];
    },
    broken: [
      { path: 'src/app.module.ts', text: '\n'.repeat(80) },
      { path: 'src/app.module.ts', text: '{ provide: Clock, useClass: SystemClock }' },
      { path: 'src/app.module.ts', text: 'const clock = new SystemClock();' },
    ],
  },
];

/** The repository's files, except files that .gitignore names. */
function filesOf(root: string): string[] {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const isIgnored = (name: string): boolean =>
    name === '.git' ||
    ignored.some((pattern) =>
      pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern.replace(/\/$/, ''),
    );
  const walk = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !isIgnored(entry.name))
      .flatMap((entry) => (entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)]));
  return walk(root)
    .map((file) => relative(root, file))
    .filter((file) => file !== THIS_FILE && !file.endsWith('.png'));
}

describe.each(RULES)('$name', ({ faultsIn, broken }) => {
  it('is followed by every file', () => {
    const faults = filesOf(process.cwd()).flatMap((path) =>
      faultsIn(path, readFileSync(path, 'utf8')).map((fault) => `${path}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it.each(broken)('finds the fault in $path $text', ({ path, text }) => {
    expect(faultsIn(path, text)).not.toEqual([]);
  });
});
