// Certifies a vendor of a copy of the sources, and prints the cases that failed. Arguments: the folder of the copy and the vendor.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CaseResult, certificationOf } from '../../src/vendor-kit/certification/certification.js';

const [folder = '', id = 'acme'] = process.argv.slice(2);
const load = async (file: string): Promise<Record<string, never>> =>
  (await import(pathToFileURL(join(folder, file)).href)) as Record<string, never>;

const certification = (await load('vendor-kit/certification/certification.ts')) as unknown as {
  readonly certificationOf: typeof certificationOf;
};
const { vendor } = await load(`vendors/${id}/vendor.ts`);
const { double, personas } = await load(`vendors/${id}/double/certified.ts`);
/** The first failed case shows the bug. */
async function failedCases(withChanges: boolean): Promise<readonly CaseResult[]> {
  const options = { untilFailure: true, withChanges, bronzeOnly: withChanges };
  const results = await certification.certificationOf(vendor as never, double as never, personas as never, options);
  // A copy that does not run shows nothing.
  if (JSON.stringify(results).includes('the certification fails'))
    throw new Error(JSON.stringify(results[0]?.problems));
  return results.filter(({ problems }) => problems !== null && problems.length > 0);
}
// The comparison of changed answers costs more than all other cases, so it comes last.
const first = await failedCases(false);
const failed = first.length > 0 ? first : await failedCases(true);
process.stdout.write(
  `\n${JSON.stringify(failed.map(({ capability, name, problems }) => [capability, name, problems?.[0]]))}\n`,
  () => process.exit(0),
);
