// The download sizes of a page that integrators are promised. The tests measure the built browser code as the service
// sends it.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';

const BUILT = join(import.meta.dirname, '../../dist-web');

/** The total gzipped size in bytes of the files in a folder with these extensions. */
function sizeOf(folder: string, extensions: readonly string[]): number {
  const files = readdirSync(join(BUILT, folder)).filter((name) => extensions.includes(extname(name)));
  expect(files).not.toEqual([]);
  return files.reduce((sum, name) => sum + gzipSync(readFileSync(join(BUILT, folder, name)), { level: 9 }).length, 0);
}

it.each(['.js', '.mjs'])('the host script (%s) is at most 10 kB', (extension) => {
  expect(sizeOf('embed', [extension])).toBeLessThanOrEqual(10_000);
});

it('the script and the style of the frame are at most 60 kB', () => {
  expect(sizeOf('frame/assets', ['.js', '.css'])).toBeLessThanOrEqual(60_000);
});
