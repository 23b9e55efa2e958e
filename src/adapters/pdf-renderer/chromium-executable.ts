// Finds the browser on this machine.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * What Chromium and the browsers made from it are called, seen from a folder of the search path; scripts/chromium.mjs looks for the same ones. First
 * Debian's `chromium-headless-shell`, which takes a third of the processor time for a page; under its own name there is a script that would
 * stand between us and the browser.
 */
const NAMES = [
  '../lib/chromium/chromium-headless-shell',
  'chromium',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
];

/** The given path if it names a program, otherwise the first of the usual names in `searchPath`; null when there is none. */
export function findChromium(executablePath: string | null, searchPath: string): string | null {
  if (executablePath !== null) return isProgram(executablePath) ? executablePath : null;
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Whatever the reason, it cannot be run from here.
    return false;
  }
}
