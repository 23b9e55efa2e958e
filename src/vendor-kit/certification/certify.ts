// Certifies a vendor in its vendor.test.ts: one test for each case of each capability, and one for the committed level.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { machineNow } from '../../kernel/machine-time.js';
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona } from '../double/certified-double.js';
import { type CaseResult, certificateFrom, certificationOf } from './certification.js';
import { certificateOf } from '../certificate.js';
import { type Recording, recordingsOf } from './recording.js';
import { smokeProblems, smokeResults, smokeVariableOf } from './smoke.js';

/** `VENDOR_CERTIFY=write` in the environment writes certification.json, as `npm run vendor:certify` does. */
const writes = process.env.VENDOR_CERTIFY === 'write';
const FOLDERS = join(import.meta.dirname, '..', '..', 'vendors');

export async function certify(
  vendor: Vendor,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
): Promise<void> {
  if (process.env.VENDOR_CERTIFY === 'record') {
    await record(vendor, double, personas);
    return;
  }
  const write = (text: string): void => writeFileSync(join(FOLDERS, vendor.id, 'behaviour.json'), text);
  const recordings = recordingsIn(vendor);
  const results = await certificationOf(vendor, double, personas, {
    recordings,
    withChanges: writes,
    ...(writes && { write }),
  });
  const tested = writes ? await smokeTest(vendor, double) : null;
  const committed = certificateOf(vendor.id);
  const smokeTested = tested === null ? committed?.smokeTested : tested.problems.length === 0 ? tested.day : undefined;
  const certificate = certificateFrom([...results, ...smokeResults(vendor, double, smokeTested)], smokeTested);
  const file = join(FOLDERS, vendor.id, 'certification.json');
  if (writes) writeFileSync(file, `${JSON.stringify(certificate, null, 2)}\n`);

  describe(`the vendor ${vendor.id}`, () => {
    for (const result of results) {
      if (result.problems === null) it.skip(`${titleOf(result)} (${result.reason ?? ''})`, () => undefined);
      else it(titleOf(result), () => expect(result.problems).toEqual([]));
    }
    if (tested !== null) it('passes the smoke test at the vendor itself', () => expect(tested.problems).toEqual([]));

    it('has the certificate that its folder tells', () => {
      // `npm run vendor:certify` writes the certificate again.
      expect(writes ? certificate : certificateOf(vendor.id)).toEqual(certificate);
    });
  });
}

/** `VENDOR_CERTIFY=record` writes fixtures, as `npm run vendor:record` does. */
async function record(vendor: Vendor, double: CertifiedDouble, personas: readonly CertifiedPersona[]): Promise<void> {
  const recordings = await recordingsOf(vendor, double, personas);
  const folder = recordedIn(vendor);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, recording] of recordings)
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(recording, null, 2)}\n`);
  it(`has ${recordings.size} recordings in fixtures/recorded`, () => expect(recordings.size).not.toBe(0));
}

const recordedIn = ({ id }: Vendor): string => join(FOLDERS, id, 'fixtures', 'recorded');

function recordingsIn(vendor: Vendor): readonly Recording[] {
  const folder = recordedIn(vendor);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording);
}

/** Null unless the environment asks for the test. */
async function smokeTest(
  vendor: Vendor,
  double: CertifiedDouble,
): Promise<{ readonly day: string; readonly problems: readonly string[] } | null> {
  if (!process.env[smokeVariableOf(vendor)]) return null;
  const day = new Date(machineNow()).toISOString().slice(0, 10);
  return { day, problems: await smokeProblems(vendor, double, process.env) };
}

function titleOf({ capability, level, name }: CaseResult): string {
  return `${level}: ${capability}: ${name}`;
}
