// Strict and type-checked. A rule is silenced on the line, with a reason; test/architecture/repository.unit.test.ts checks the reason.
import { defineConfig, globalIgnores } from 'eslint/config';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import language from './tools/language/eslint-plugin.mjs';
import limits from './tools/lint/parameters.mjs';
import { FINISHED_FOLDERS } from './tools/language/list.mjs';

/** Code that reads the machine's time. */
const READS_THE_TIME = [
  "MemberExpression[object.name='Date']:matches([property.name='now'], [property.value='now'])",
  "VariableDeclarator[init.name='Date'] Property[key.name='now']",
  "NewExpression[callee.name='Date'][arguments.length=0]",
];

/** Sources of time, chance and ids. A decider must receive these in its command. */
const IMPURE = [
  ...READS_THE_TIME.map((selector) => ({ selector, message: 'The domain is pure: time arrives in the command.' })),
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: 'The domain is pure: chance arrives in the command.',
  },
  { selector: 'AwaitExpression', message: 'The domain is pure: it waits for nothing.' },
];

/** Deciders decide. A use case hands commands on, which are data. */
const DECIDES = [
  ":matches(ObjectExpression > Property, MethodDefinition, PropertyDefinition):matches([key.name='decide'], [key.value='decide'])",
  "AssignmentExpression[left.property.name='decide']",
].map((selector) => ({ selector, message: 'The decider decides: hand on { decider, id, command }.' }));

/** A call whose result is the function's result. */
const LAST = [
  ':matches(ReturnStatement, ArrowFunctionExpression[expression=true]) > CallExpression',
  ':matches(ReturnStatement, ArrowFunctionExpression[expression=true]) > ChainExpression > CallExpression',
  ':matches(ReturnStatement, ArrowFunctionExpression[expression=true]) > :matches(LogicalExpression, ConditionalExpression, SequenceExpression) CallExpression',
];
const LOSES_ITS_SENDER = LAST.map((call) => ({
  selector: `${call}[callee.property.name='postMessage']`,
  message: 'WebKit then sends the message without its origin and source. Write the call as a statement of its own.',
}));

/** The machine's time. Everything else asks `Clock`, or `machineNow`. */
const MACHINE_TIME = READS_THE_TIME.map((selector) => ({
  selector,
  message: "Only kernel/machine-time.ts reads the machine's time: ask Clock, or machineNow.",
}));

/** Node 20 loses the time limit of a joined signal when it collects garbage: the signal then never aborts. */
const LOSES_ITS_LIMIT = {
  object: 'AbortSignal',
  property: 'any',
  message:
    'Node 20 may lose the time limit of a joined signal. Use `limited` of kernel/with-timeout.ts, or one controller.',
};

/** Browsers do not have this fault. */
const REFUSES_NAMES = {
  object: 'URL',
  property: 'canParse',
  message: 'Node 20 refuses names with letters such as ü after some thousand calls. Use `urlIn` of kernel/url.ts.',
};

const complexity = (max) => ({ complexity: ['error', { max, variant: 'modified' }] });

export default defineConfig(
  globalIgnores([
    'dist/',
    'dist-bench/',
    'dist-web/',
    'coverage/',
    '.data/',
    'test/architecture/fixtures/',
    // Its types are generated. `npm run openapi` checks it.
    'tools/openapi/journeys/',
    'tools/openapi/generated/',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx,js,mjs,cjs}'],
    rules: { 'no-restricted-properties': ['error', LOSES_ITS_LIMIT, REFUSES_NAMES] },
  },
  { files: ['web/**/*.{ts,tsx}'], rules: { 'no-restricted-properties': ['error', LOSES_ITS_LIMIT] } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { minimumDescriptionLength: 10 }],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Nest's modules, and namespaces of constants, are classes that hold nothing but decorators or statics.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true, allowStaticOnly: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // This code marks such calls with `void`, or returns them from a function without a result.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // Bodies on the wire are plain objects; their classes exist for their decorators.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // An event may carry nothing but its type.
      '@typescript-eslint/no-generated-empty-object-type': 'off',
      '@typescript-eslint/no-unnecessary-type-arguments': 'off',
      // The compiler assumes that a field or captured variable stays unchanged across an await and a call, and reports a check of it as needless.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // A method may implement an asynchronous port without waiting for anything.
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: [
      'src/**/domain/**',
      'src/platform/aggregates/**',
      'src/vendors/**',
      'src/vendor-kit/double/**',
      'src/kernel/machine-time.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...DECIDES, ...MACHINE_TIME] },
  },
  {
    // The servers of the sandbox are programs of their own.
    files: ['src/platform/aggregates/**/*.ts', 'src/vendors/*/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...MACHINE_TIME] },
  },
  {
    files: ['src/modules/*/domain/**/*.ts', 'src/challenges/domain/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...IMPURE],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'node:crypto',
              allowImportNames: [
                'createHash',
                'createHmac',
                'timingSafeEqual',
                'createCipheriv',
                'createDecipheriv',
                'createPrivateKey',
                'createPublicKey',
                'KeyObject',
                'sign',
                'verify',
              ],
              message: 'The domain is pure: of crypto it takes what gives the same for the same, and nothing random.',
            },
          ],
        },
      ],
    },
  },
  {
    // Not tests: a row of a table of cases has a parameter for each column.
    files: ['src/**', 'web/**', 'packages/**', 'sandbox/**', 'scripts/**', 'tools/**'].flatMap((path) => [
      `${path}/*.{ts,tsx}`,
      `${path}/*.{js,mjs}`,
    ]),
    plugins: { limits },
    rules: { 'limits/parameters': ['error', { max: 4, maxOfMessage: 3 }] },
  },
  {
    files: ['src/**/application/**/*.ts', 'src/**/read/**/*.ts'],
    rules: { 'max-lines': ['error', 250] },
  },
  {
    files: [
      'src/**/*.ts',
      'web/**/*.{ts,tsx}',
      'packages/**/*.{tsx,mjs}',
      'sandbox/**/*.ts',
      'scripts/**/*.mjs',
      'tools/**/*.mjs',
    ],
    // In these rooms of the engine, a loop over a log or a connection is one function. Their budget of lines forbids to split it.
    ignores: ['src/adapters/**', 'src/platform/**'],
    rules: complexity(12),
  },
  { files: ['src/**/domain/**/*.ts'], rules: complexity(20) },
  {
    files: FINISHED_FOLDERS.map((folder) => `${folder}/**/*.{ts,tsx,js,mjs,cjs}`),
    plugins: { language },
    rules: { 'language/plain': 'error' },
  },
  { files: ['packages/react/**/*.tsx'], extends: [reactHooks.configs.flat['recommended-latest']] },
  { files: ['web/**/*.{ts,tsx}'], rules: { 'no-restricted-syntax': ['error', ...LOSES_ITS_SENDER] } },
  {
    // Programs of their own that talk to a terminal.
    files: ['src/ops/**/*.ts', 'src/errors/generate-docs.ts', 'sandbox/main.ts', 'test/bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // A test that meets an absent value fails, as it should.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Tests read replies and stored events as an outsider would, without their types.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // Messages of generated protocol code carry numbers.
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      // `expect(mock.method)` calls nothing.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'AbortController',
          'AbortSignal',
          'Blob',
          'Buffer',
          'DecompressionStream',
          'TextDecoder',
          'TextEncoder',
          'URL',
          'atob',
          'btoa',
          'clearInterval',
          'clearTimeout',
          'console',
          'crypto',
          'fetch',
          'process',
          'setInterval',
          'setTimeout',
        ].map((name) => [name, 'readonly']),
      ),
    },
    rules: {
      eqeqeq: 'error',
      'no-undef': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: { module: 'writable', require: 'readonly' } },
  },
);
