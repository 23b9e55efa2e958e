import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The body of an answer or webhook event as the vendor gives it, of a made-up person: `src/vendors/<vendor>/fixtures/<name>.json`. */
export function recordedAnswer(vendor: string, name: string): any {
  const file = join(import.meta.dirname, '../../src/vendors', vendor, 'fixtures', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}
