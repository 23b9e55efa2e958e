// Finds the browser on this machine.
import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';

/** Debian's browser, the fastest (docs/benchmarks.md). Debian's file of this name in the path is a script. The browser is in another folder. */
const HEADLESS_SHELL = 'chromium-headless-shell';
const BESIDE = join('..', 'lib', 'chromium');

/** The names of desktop browsers that are Chromium or derived from Chromium. scripts/chromium.mjs looks for the same names. */
export const BROWSERS: readonly string[] = [
  'chromium',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
];

/** The given path if it names a program, otherwise the first of the names in `searchPath`; null if neither exists. */
export function findChromium(
  executablePath: string | null,
  searchPath: string,
  names: readonly string[] = [HEADLESS_SHELL, ...BROWSERS],
): string | null {
  if (executablePath !== null) return isProgram(executablePath) ? executablePath : null;
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).filter(isProgram);
  const itself = (file: string): string =>
    basename(file) === HEADLESS_SHELL ? join(dirname(file), BESIDE, HEADLESS_SHELL) : file;
  return found.map(itself).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // The reason does not matter: the file cannot be executed.
    return false;
  }
}
