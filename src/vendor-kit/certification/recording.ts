// Records the exchanges of each operation as fixtures, without personal data and credentials.
import type { Vendor } from '../define-vendor.js';
import type { CertifiedDouble, CertifiedPersona } from '../double/certified-double.js';
import { findingsOf } from '../canaries.js';
import { canariesOf } from './certification.js';
import { Laboratory } from './laboratory.js';
import { fits } from './operations.js';
import { operationsOf } from './vendor-operations.js';

export interface Recording {
  /** The name of the operation, as the name of a file. */
  readonly name: string;
  readonly text: string;
}

/** Throws if an operation has not its expected verdict, or if a canary is left in a recording. */
export async function recordingsOf(
  vendor: Vendor,
  double: CertifiedDouble,
  personas: readonly CertifiedPersona[],
): Promise<readonly Recording[]> {
  const laboratory = await Laboratory.open(vendor, double);
  try {
    const recordings: Recording[] = [];
    // The first persona of each verdict is recorded.
    const named = new Map(
      [...operationsOf(vendor, double, personas, laboratory.running.pay)].reverse().map((one) => [one.name, one]),
    );
    for (const operation of named.values()) {
      const seen = await laboratory.observe(operation);
      if (!fits(operation.expected, seen.verdict)) throw new Error(`${operation.name} has another verdict`);
      const canaries = [...canariesOf(laboratory, personas, [seen])];
      const exchanges = seen.requests.map(({ role, method, url, body, answer }) => ({
        role,
        method,
        url,
        body,
        answer,
      }));
      const whole = JSON.stringify({ operation: operation.name, exchanges }, null, 2);
      const text = canaries.reduce((scrubbed, [name, canary]) => scrubbed.replaceAll(canary, `<${name}>`), whole);
      const left = findingsOf(canaries, `the recording of ${operation.name}`, Buffer.from(text));
      if (left.length > 0) throw new Error(`Nothing is recorded: ${left.join(', ')}`);
      recordings.push({ name: operation.name.toLowerCase().replace(/[^a-z0-9]+/g, '-'), text: `${text}\n` });
    }
    return recordings;
  } finally {
    await laboratory.close();
  }
}
