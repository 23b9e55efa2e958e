import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The body of a vendor's answer or webhook event about a made-up person, from `src/vendors/<vendor>/fixtures/<name>.json`. */
export function recordedAnswer(vendor: string, name: string): any {
  const file = join(import.meta.dirname, '../../src/vendors', vendor, 'fixtures', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
