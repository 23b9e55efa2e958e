// ESM mode: run through NODE_OPTIONS=--experimental-vm-modules (see the test script).

/**
 * Suites that only `npm run test:all` runs. They wait, kill or restart, or they need a browser, a second store or the operator's
 * processes.
 */
const SECOND_TIER = [
  '/test/faults/',
  '/test/journeys/(?!paying-for-a-report|generated-client)',
  '/test/e2e/ops/(?!lists)',
  '/test/e2e/cli/',
  '/test/e2e/documents/',
  '/test/e2e/dashboard/endpoint-health',
  '/test/e2e/embedded/(?!journey)',
  '/test/e2e/platform/(live-reports|signing-keys|test-log-share)',
  '/test/contract/event-store/(copy-log|eventstoredb|shared-log-reader)',
  '/test/contract/(audit|pdf-renderer|published-package|vault/s3)',
  '/test/contract/[a-z-]+/(faults|sandbox-process)',
  '/test/projections/(faults|event-feeds)',
];
const leftOut = process.env.TIER === 'first' ? SECOND_TIER : [];

export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  // SOAK: `npm run test:soak`.
  roots: process.env.SOAK === undefined ? ['<rootDir>/test', '<rootDir>/src/vendors'] : ['<rootDir>/test/soak'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.SOAK === undefined ? ['<rootDir>/test/soak/'] : []),
    ...leftOut,
  ],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'es6' },
      },
    ],
  },
  // Ends a test that hangs. Tests make no claim about their own duration.
  testTimeout: 300_000,
  // Of two cores, because most tests wait. The suites of the soak keep both busy.
  maxWorkers: process.env.SOAK === undefined ? 3 : 2,
};
