// The output of each projection for the sample events of `test/unit/upcasting/samples`, by version.
// `npm run projections:versions` updates `versions.json`. The command refuses to update when an output changed and its
// version did not.
import 'reflect-metadata';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPCASTING } from '../../src/modules/stored-events.module.js';
import { PROJECTIONS } from '../support/declarations.js';
import { categoryOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { foldState } from '../../src/kernel/projection.js';

interface Sample {
  readonly after: readonly string[];
  readonly event: Omit<RecordedEvent, 'position'>;
}

/** Keyed by projection: its version, and for each sample a hash of the document, the index entries and the due time. */
export type Versions = Readonly<
  Record<string, { readonly version: number; readonly outputs: Readonly<Record<string, string>> }>
>;

const SAMPLES = join(import.meta.dirname, '../unit/upcasting/samples');
const FILE = join(import.meta.dirname, 'versions.json');

export function recordedVersions(): Versions {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Versions;
}

export function currentVersions(): Versions {
  const samples = new Map(
    readdirSync(SAMPLES)
      .sort()
      .map((file) => [file.replace(/\.json$/, ''), JSON.parse(readFileSync(join(SAMPLES, file), 'utf8')) as Sample]),
  );
  return Object.fromEntries(
    PROJECTIONS.map((projection) => {
      const { name, version, category } = projection;
      const own = [...samples].filter(([, { event }]) => categoryOf(event.stream) === category);
      const outputs = own.map(([sample, { after, event }]) => {
        const stored = [...after.map((earlier) => samples.get(earlier)?.event ?? event), event];
        const state = foldState(
          projection,
          stored.map((one) => UPCASTING.apply({ ...one, position: '' })),
        );
        const output = [projection.view(state), projection.entries?.(state) ?? [], projection.dueAt?.(state) ?? null];
        return [sample, hash('sha256', JSON.stringify(output)).slice(0, 16)];
      });
      return [name, { version, outputs: Object.fromEntries(outputs) as Record<string, string> }];
    }),
  );
}

/** The samples whose output changed although the projection's version is the recorded one. */
export function changedWithoutVersion(recorded: Versions, current: Versions): string[] {
  return Object.entries(current).flatMap(([name, { version, outputs }]) => {
    const before = recorded[name];
    if (before === undefined || before.version !== version) return [];
    return Object.entries(outputs).flatMap(([sample, output]) =>
      before.outputs[sample] === undefined || before.outputs[sample] === output ? [] : `${name}: ${sample}`,
    );
  });
}

export function record(versions: Versions): void {
  writeFileSync(FILE, `${JSON.stringify(versions, null, 2)}\n`);
}
