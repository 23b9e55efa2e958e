// Certifies a vendor in its vendor.test.ts: one test for each case of each capability, and one for the committed level.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona } from '../double/certified-double.js';
import { type CaseResult, certificateFrom, certificationOf } from './certification.js';
import { certificateOf } from '../certificate.js';
import { recordingsOf } from './recording.js';

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
  const results = await certificationOf(vendor, double, personas, writes ? { write } : {});
  const committed = certificateOf(vendor.id);
  const certificate = certificateFrom(results, committed?.smokeTested);
  const file = join(FOLDERS, vendor.id, 'certification.json');
  if (writes) writeFileSync(file, `${JSON.stringify(certificate, null, 2)}\n`);

  describe(`the vendor ${vendor.id}`, () => {
    for (const result of results) {
      if (result.problems === null) it.skip(`${titleOf(result)} (${result.reason ?? ''})`, () => undefined);
      else it(titleOf(result), () => expect(result.problems).toEqual([]));
    }

    it('has the certificate that its folder tells', () => {
      // `npm run vendor:certify` writes the certificate again.
      expect(writes ? certificate : certificateOf(vendor.id)).toEqual(certificate);
    });
  });
}

/** `VENDOR_CERTIFY=record` writes fixtures, as `npm run vendor:record` does. */
async function record(vendor: Vendor, double: CertifiedDouble, personas: readonly CertifiedPersona[]): Promise<void> {
  const recordings = await recordingsOf(vendor, double, personas);
  const folder = join(FOLDERS, vendor.id, 'fixtures', 'recorded');
  mkdirSync(folder, { recursive: true });
  for (const { name, text } of recordings) writeFileSync(join(folder, `${name}.json`), text);
  it(`has ${recordings.length} recordings in fixtures/recorded`, () => expect(recordings).not.toEqual([]));
}

function titleOf({ capability, level, name }: CaseResult): string {
  return `${level}: ${capability}: ${name}`;
}
