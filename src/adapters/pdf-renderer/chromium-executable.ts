// Finds the browser on this machine.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Debian's `chromium-headless-shell`, seen from a folder of the search path. It takes a third of the processor time of Chromium for a page. Under its own
 * name there is a script that would stand between us and the browser.
 */
const HEADLESS_SHELL = '../lib/chromium/chromium-headless-shell';

/** What the browsers of people are called that are Chromium or made from it. scripts/chromium.mjs looks for all the same ones. */
export const BROWSERS: readonly string[] = [
  'chromium',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
];

/** The given path if it names a program, otherwise the first of the names in `searchPath`; null when there is none. */
export function findChromium(
  executablePath: string | null,
  searchPath: string,
  names: readonly string[] = [HEADLESS_SHELL, ...BROWSERS],
): string | null {
  if (executablePath !== null) return isProgram(executablePath) ? executablePath : null;
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram) ?? null;
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
