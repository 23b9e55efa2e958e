// The smoke test: runs operations at the vendor itself, with the settings in the environment variables of the vendor.
import { readFileSync } from 'node:fs';
import { within } from '../../kernel/with-timeout.js';
import { CAPABILITIES } from '../../kernel/vendor-choice.js';
import { variableOf, variablesOf } from '../../kernel/vendor-settings.js';
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble } from '../double/certified-double.js';
import type { CaseResult } from './certification.js';
import { NotPrepared, type Operation, fits, newCall } from './operations.js';
import { operationsOf } from './vendor-operations.js';

/** A vendor may need longer than its double. */
const LIMIT_MS = 30_000;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that asks for the smoke test, such as VENDOR_ACME_LIVE_SMOKE. */
export function smokeVariableOf(vendor: Vendor): string {
  return variableOf(vendor.id, 'liveSmoke');
}

/** The case of each capability. A vendor without test persons of its own cannot be tested. */
export function smokeResults(
  vendor: Vendor,
  double: CertifiedDouble,
  smokeTested: string | undefined,
): readonly CaseResult[] {
  const operations = smokeOperationsOf(vendor, double);
  return CAPABILITIES.filter((capability) => vendor.capabilities[capability] !== undefined).map((capability) => {
    const result = { capability, name: 'smoke test at the vendor', level: 'gold' } as const;
    if (!operations.some((operation) => operation.capability === capability))
      return { ...result, problems: null, reason: 'the double names no person of the vendor itself' };
    if (smokeTested === undefined) return { ...result, problems: null, reason: 'not tested yet' };
    return { ...result, problems: [] };
  });
}

/** The operations that the vendor's own test persons allow. */
function smokeOperationsOf(vendor: Vendor, double: CertifiedDouble): readonly Operation[] {
  return double.smoke === undefined ? [] : operationsOf(vendor, double, double.smoke);
}

/** The problems of each operation. Every problem names a kind of verdict, and no data. */
export async function smokeProblems(
  vendor: Vendor,
  double: CertifiedDouble,
  environment: Environment,
): Promise<readonly string[]> {
  const adapters = await vendor.open(settingsIn(vendor, environment) as never, LIMIT_MS);
  try {
    const problems: string[] = [];
    for (const operation of smokeOperationsOf(vendor, double)) {
      try {
        const told = operation.prepare(adapters).then((act) => act(adapters, newCall()));
        const verdict = await within(2 * LIMIT_MS, told, () => null);
        if (!fits(operation.expected, verdict))
          problems.push(`${operation.name}: the verdict is ${verdict?.kind ?? 'missing'}`);
      } catch (error) {
        if (!(error instanceof NotPrepared)) throw error;
        problems.push(`${operation.name}: ${error.message}`);
      }
    }
    return problems;
  } finally {
    await adapters.close();
  }
}

function settingsIn({ id, settings }: Vendor, environment: Environment): Readonly<Record<string, unknown>> {
  const entries = Object.entries(settings).map(([name, setting]) => {
    const { variable } = variablesOf(id, name, setting);
    const file = environment[`${variable}_FILE`];
    const value = file === undefined ? environment[variable] : readFileSync(file, 'utf8').trim();
    if (value !== undefined) return [name, setting.kind === 'number' ? Number(value) : value] as const;
    const fallback = 'fallback' in setting ? setting.fallback : undefined;
    if (fallback === undefined && setting.optional !== true) throw new Error(`The smoke test needs ${variable}.`);
    return [name, fallback ?? null] as const;
  });
  return Object.fromEntries(entries);
}
