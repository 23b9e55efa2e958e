// Finds or installs the browser that prints PDFs. The service looks for it by the same names (src/adapters/pdf-renderer).
import { install, isProgram, onPath } from './programs.mjs';

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

export const NO_CHROMIUM = 'no Chromium on this machine; install it so that it is on the PATH, or set CHROMIUM_PATH';

/** Installs Chromium when there is none and the machine lets us; tells whether there is one now. */
export function ensureChromium() {
  // A path that names nothing is for the service to complain about: somebody meant a certain browser.
  if (process.env.CHROMIUM_PATH) return isProgram(process.env.CHROMIUM_PATH);
  if (isFound()) return true;
  install({ apt: ['chromium-headless-shell', 'chromium'], brew: 'chromium' });
  return isFound();
}

function isFound() {
  return NAMES.some((name) => onPath(name));
}
