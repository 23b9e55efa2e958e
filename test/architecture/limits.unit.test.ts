// The lint rules that keep functions and files small. The tests try each rule on samples that break it.
import { ESLint, Linter } from 'eslint';
import { describe, expect, it } from '@jest/globals';
import { parser } from 'typescript-eslint';
import limits from '../../tools/lint/parameters.mjs';

const RULES = ['limits/parameters', 'max-lines', 'complexity'] as const;
const eslint = new ESLint({ cwd: process.cwd() });

async function faultsIn(path: string, code: string): Promise<(string | null)[]> {
  const { rules = {} } = (await eslint.calculateConfigForFile(path)) as Linter.Config;
  const config: Linter.Config = {
    files: ['**/*.ts'],
    plugins: { limits },
    languageOptions: { parser: parser as Linter.Parser },
    rules: Object.fromEntries(RULES.flatMap((name) => (rules[name] ? [[name, rules[name]]] : []))),
  };
  return new Linter().verify(code, config, 'a.ts').map(({ ruleId }) => ruleId);
}

const USE_CASE = 'src/modules/parties/application/register-party.ts';
const READER = 'src/modules/parties/read/party-calls.ts';
const DECIDER = 'src/modules/parties/domain/party-decider.ts';
const PLACES = [
  USE_CASE,
  DECIDER,
  'src/adapters/vault/s3.ts',
  'src/platform/http/server.ts',
  'web/frame/flow.ts',
  'sandbox/main.ts',
  'scripts/start.mjs',
];

describe('a function with five parameters', () => {
  it.each(PLACES)('is refused in %s', async (path) => {
    expect(await faultsIn(path, 'function put(a, b, c, d, e) {}')).toEqual(['limits/parameters']);
  });

  it.each([
    ['an arrow', 'const put = (a, b, c, d, e) => a;'],
    ['a method', 'class Store { put(a, b, c, d, e = 1) {} }'],
    ['an abstract method', 'abstract class Store { abstract put(a: A, b: B, c: C, d: D, e?: E): void; }'],
    ['a method of an interface', 'interface Store { put(a: A, b: B, c: C, d: D, e: E): void }'],
    ['a type', 'type Put = (a: A, b: B, c: C, d: D, e: E) => void;'],
    ['an overload', 'declare function put(a: A, b: B, c: C, d: D, e: E): void;'],
  ])('is refused as %s', async (_as, code) => {
    expect(await faultsIn(USE_CASE, code)).toEqual(['limits/parameters']);
  });

  it.each([
    [
      'the constructor of a service',
      'class Store { constructor(private a, private b, private c, private d, private e) {} }',
    ],
    ['a factory', 'const provider = { provide: Store, useFactory: (a, b, c, d, e) => new Store(a) };'],
    ['a factory with a name', 'const provider = { useFactory: made }; function made(a, b, c, d, e) { return a; }'],
  ])('is allowed as %s', async (_as, code) => {
    expect(await faultsIn(USE_CASE, code)).toEqual([]);
  });

  it('is allowed with four parameters', async () => {
    expect(await faultsIn(USE_CASE, 'function put(a, b, c, d) {}')).toEqual([]);
  });
});

describe('a command or a query', () => {
  it.each(['Command<void>', 'Query<string>'])('is refused as %s with four arguments', async (of) => {
    const code = (more: string): string =>
      `class Put extends ${of} { constructor(readonly a, readonly b, c${more}) {} }`;
    expect(await faultsIn(USE_CASE, code(', d'))).toEqual(['limits/parameters']);
    expect(await faultsIn(USE_CASE, code(''))).toEqual([]);
  });
});

describe('a file of use cases or readers', () => {
  it.each([USE_CASE, READER, 'src/challenges/application/challenge-service.ts'])(
    'is refused with 251 lines: %s',
    async (path) => {
      expect(await faultsIn(path, 'go();\n'.repeat(250).trimEnd())).toEqual([]);
      expect(await faultsIn(path, 'go();\n'.repeat(251).trimEnd())).toEqual(['max-lines']);
    },
  );
});

/** A function of that complexity. The switch in this function counts once. */
const branching = (complexity: number): string =>
  `function put(a) { switch (a) { case 1: case 2: case 3: break; } ${'if (a) go();'.repeat(complexity - 2)} }`;

describe('a function with many branches', () => {
  it.each([
    [USE_CASE, 12],
    [READER, 12],
    [DECIDER, 20],
    ['src/challenges/domain/challenge.ts', 20],
    ['src/service.ts', 12],
    ['src/vendors/stripe/payment.ts', 12],
    ['web/frame/flow.ts', 12],
    ['web/frame/steps/report/report.tsx', 12],
    ['sandbox/vendors.ts', 12],
    ['scripts/start.mjs', 12],
    ['tools/lint/parameters.mjs', 12],
  ])('is refused in %s with more than %i branches', async (path, most) => {
    expect(await faultsIn(path, branching(most))).toEqual([]);
    expect(await faultsIn(path, branching(most + 1))).toEqual(['complexity']);
  });
});
