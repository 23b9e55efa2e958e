// Rules about the repository's files that no linter knows. Each is tried on a sample that breaks it, so that it cannot rot unseen.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface Rule {
  readonly name: string;
  /** What is wrong with the file, one line each. */
  readonly faultsIn: (path: string, text: string) => readonly string[];
  readonly broken: readonly { readonly path: string; readonly text: string }[];
}

const matches = (pattern: RegExp) => (_path: string, text: string) =>
  text
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`line ${index + 1}: ${line.trim().slice(0, 160)}`] : []));

/** Holds the samples that break the rules. */
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
    name: 'a folder says what it holds',
    faultsIn: (path) =>
      path
        .split('/')
        .slice(0, -1)
        .filter((folder) => /^(utils?|common|helpers?|shared|misc|lib)$/i.test(folder)),
    broken: ['utils', 'common', 'helpers', 'shared'].map((folder) => ({ path: `src/${folder}/a.ts`, text: '' })),
  },
  {
    name: 'there are no barrels',
    faultsIn: (path) => (/^index\.[cm]?[jt]s$/.test(basename(path)) ? ['an index file'] : []),
    broken: [{ path: 'src/modules/screening/index.ts', text: '' }],
  },
  {
    name: 'a promise to do something later names its issue',
    faultsIn: matches(/\b(?:TODO|FIXME|XXX)\b(?!.*#\d+)/),
    broken: [{ path: 'src/kernel/a.ts', text: '// TODO: later' }],
  },
  {
    name: 'no file knows the machine or the registry it was made with',
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
    name: 'people read the name of the service, screening-service, and no working title',
    // Random numbers of tests begin with a seed.
    faultsIn: (path, text) => (path.startsWith('test/') ? [] : matches(/(?<![a-z])seed/i)(path, text)),
    broken: [
      { path: 'README.md', text: '# Seed' },
      { path: 'docs/a.md', text: "import { Service } from '@seed/embed';" },
      { path: 'docker-compose.yml', text: 'image: seed-service' },
      { path: 'src/platform/http/openapi.ts', text: ".setTitle('SEED: identity screening')" },
      { path: 'src/kernel/a.ts', text: 'SeedService' },
    ],
  },
  {
    name: 'every source file is in a room',
    faultsIn: (path) =>
      path.startsWith('src/') &&
      !/^src\/(?:(?:kernel|config|surfaces|ports|adapters|published|platform|ops|vendor-kit|external-calls)\/|challenges\/(?:domain|application)\/|vendors\/[^/]+\/|modules\/[^/]+\/(?:domain|application|read|http)\/|modules\/[^/]+\/[^/]+\.module\.ts$|modules\/(?:features\.module|stored-events\.module|surfaces\.module|erasure-evidence)\.ts$|(?:main|service|app\.module|process\.module)\.ts$)/.test(
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
    name: 'the root imports modules and makes nothing',
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

/** The repository's files: whatever .gitignore does not name. */
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
  it('is kept by every file', () => {
    const faults = filesOf(process.cwd()).flatMap((path) =>
      faultsIn(path, readFileSync(path, 'utf8')).map((fault) => `${path}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it.each(broken)('is seen to be broken by $path $text', ({ path, text }) => {
    expect(faultsIn(path, text)).not.toEqual([]);
  });
});
