// Changes the wire files of one vendor, MUTATED_VENDOR. scripts/test-mutants.mjs runs this and reads the report.
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const vendor = process.env.MUTATED_VENDOR;
const folder = `src/vendors/${vendor}`;
/** These files hold no wire format. Other suites test notices. */
const OTHERS = ['vendor', '*.test', 'adapter', 'identity', 'credit', 'income', 'payment', 'notices', 'webhook-events'];

export default {
  mutate: [`${folder}/${process.env.MUTATED_FILES ?? '*'}.ts`, ...OTHERS.map((name) => `!${folder}/${name}.ts`)],
  ignorePatterns: ['/*', '!/src/**', '!/package.json'],
  plugins: [at('./certificate-runner.mjs')],
  testRunner: 'certificate',
  testRunnerNodeArgs: ['--import', at('../../test/support/typescript.js')],
  coverageAnalysis: 'all',
  // The certification waits on a busy machine, and an endless loop is found all the same.
  timeoutMS: 60_000,
  concurrency: Number(process.env.MUTATED_AT_ONCE ?? 2),
  // Each run keeps its copies of the vendor's files.
  maxTestRunnerReuse: 150,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `.data/mutation/${vendor}.json` },
  tempDirName: '.data/mutation/tmp',
  checkers: [],
  thresholds: { high: 100, low: 95, break: null },
};
