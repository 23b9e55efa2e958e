// Finds or installs the browsers that print PDFs and that the tests use. The service looks for the same names (src/adapters/pdf-renderer).
import { install, isProgram, onPath } from './programs.mjs';

const HEADLESS_SHELL = 'chromium-headless-shell';
const BROWSERS = [
  'chromium',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
];

export const NO_CHROMIUM = 'no Chromium on this machine; install it so that it is on the PATH, or set CHROMIUM_PATH';

/** Installs a browser for PDFs if this machine has none and allows an installation. Returns whether a browser is now present. */
export function ensureChromium() {
  // If the path names no program, the service reports this, because the operator wanted exactly this browser.
  if (process.env.CHROMIUM_PATH) return isProgram(process.env.CHROMIUM_PATH);
  return ensure([HEADLESS_SHELL, ...BROWSERS], [HEADLESS_SHELL, 'chromium']);
}

/** Makes sure that a browser with windows is installed, like the browsers that people use. Such a browser blocks third-party cookies, for example. */
export function ensureBrowserOfPeople() {
  return ensure(BROWSERS, ['chromium']) || isProgram(process.env.CHROMIUM_PATH ?? '');
}

/** The browsers of other engines, from Debian. The tests report the browsers that are missing (test/support/web-driver.ts). */
export function ensureOtherEngines() {
  const isThere = (...names) => names.every((name) => onPath(name) !== undefined);
  if (!isThere('firefox-esr')) install({ apt: ['firefox-esr fonts-liberation'] });
  if (!isThere('WebKitWebDriver', 'Xvfb')) install({ apt: ['webkit2gtk-driver xvfb fonts-liberation'] });
}

function ensure(names, apt) {
  const isFound = () => names.some((name) => onPath(name));
  if (!isFound()) install({ apt, brew: 'chromium' });
  return isFound();
}
