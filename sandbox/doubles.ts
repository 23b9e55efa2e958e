// Finds the doubles of the vendors by their folders. Loads no routes, because `npm start` only needs the names of the variables.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { VendorDouble } from '../src/vendor-kit/double/sandbox-part.js';

export interface FoundDouble {
  /** The vendor's id. */
  readonly id: string;
  readonly double: VendorDouble;
}

export async function findDoubles(
  root = join(import.meta.dirname, '..', 'src', 'vendors'),
): Promise<readonly FoundDouble[]> {
  const found = readdirSync(root).flatMap((id) => {
    const files = ['part.js', 'part.ts'].map((name) => join(root, id, 'double', name));
    return files.filter((file) => existsSync(file)).map((file) => ({ id, file }));
  });
  return Promise.all(
    found.map(async ({ id, file }) => {
      const { double } = (await import(pathToFileURL(file).href)) as { readonly double: VendorDouble };
      return { id, double };
    }),
  );
}
