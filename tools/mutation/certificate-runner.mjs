// A test runner of Stryker: the certificate of one vendor is the only test. Stryker loads this file in the folder with the changed sources.
import { register } from 'node:module';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';

const VENDOR = process.env.MUTATED_VENDOR ?? '';
const TEST = { id: 'certificate', name: `the certificate of ${VENDOR}` };

register('./fresh-modules.mjs', import.meta.url);

class CertificateRunner {
  runs = 0;

  capabilities() {
    return { reloadEnvironment: true };
  }

  async dryRun() {
    const { problem, timeSpentMs } = await this.certified(undefined);
    if (problem !== null) return { status: 'error', errorMessage: problem };
    const tests = [{ ...TEST, status: 0, timeSpentMs }];
    return { status: 'complete', tests, mutantCoverage: globalThis.__stryker__?.mutantCoverage };
  }

  async mutantRun({ activeMutant }) {
    const { problem } = await this.certified(activeMutant.id);
    return problem === null
      ? { status: 'survived', nrOfTests: 1 }
      : { status: 'killed', killedBy: [TEST.id], failureMessage: problem, nrOfTests: 1 };
  }

  /** Many changed expressions run when their file is loaded, so each run loads the vendor's files again. */
  async certified(mutant) {
    const began = performance.now();
    globalThis.__stryker__ = { activeMutant: mutant };
    const problem = await this.firstProblem().catch((error) => `the certification fails: ${error?.stack}`);
    return { problem, timeSpentMs: performance.now() - began };
  }

  async firstProblem() {
    const addressOf = (file) => pathToFileURL(join(process.cwd(), 'src', file)).href;
    const load = (file) => import(addressOf(file));
    const { certificationOf } = await load('vendor-kit/certification/certification.ts');
    const { double, personas } = await load(`vendors/${VENDOR}/double/certified.ts`);
    const { vendor } = await import(`${addressOf(`vendors/${VENDOR}/vendor.ts`)}?run=${(this.runs += 1)}`);
    // Most changes are seen by the cheap cases. The record names personal texts of all capabilities, so all of them run.
    for (const part of [{ bronzeOnly: true, withChanges: false }, { bronzeOnly: true }, { withChanges: false }]) {
      const results = await certificationOf(vendor, double, personas, { untilFailure: true, ...part });
      const failed = results.find(({ problems }) => problems?.length > 0);
      if (failed !== undefined) return `${failed.capability}, ${failed.name}: ${failed.problems[0]}`;
    }
    return null;
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'certificate', CertificateRunner)];
