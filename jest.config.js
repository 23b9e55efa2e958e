// ESM mode: run through NODE_OPTIONS=--experimental-vm-modules (see the test script).
export default {
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  // SOAK: `npm run test:soak`.
  roots: [process.env.SOAK === undefined ? '<rootDir>/test' : '<rootDir>/test/soak'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.SOAK === undefined ? ['<rootDir>/test/soak/'] : [])],
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
  // Ends what hangs. How long a test takes on a slow machine is nothing that tests say.
  testTimeout: 300_000,
  maxWorkers: 2,
};
