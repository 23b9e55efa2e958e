// Creates every value that could run as a script: the addresses of third-party scripts, and the report. The page's policy refuses all other values.
import type { FrameSettings } from '../contract/frame-settings.js';

interface Policy {
  /**
   * The browser's TrustedScriptURL and TrustedHTML, for which TypeScript has no types. In browsers without these types, the functions return strings.
   */
  createScriptURL(url: string): string;
  createHTML(html: string): string;
}

declare global {
  var trustedTypes: { createPolicy(name: string, rules: Policy): Policy } | undefined;
}

const SCRIPT_LIMIT_MS = 20_000;

let policy: Policy | null = null;
const scripts = new Map<string, Promise<boolean>>();

/** A browser allows each policy name once. */
function policyOf({ processor, fingerprintScriptUrl }: FrameSettings): Policy {
  const rules: Policy = {
    createScriptURL(url) {
      if (url === processor.scriptUrl || url === fingerprintScriptUrl) return url;
      throw new TypeError('This script is not one of the frame.');
    },
    createHTML: (html) => html,
  };
  return (policy ??= globalThis.trustedTypes?.createPolicy('service-frame', rules) ?? rules);
}

/** Resolves to whether the script could be loaded. A loaded script is not loaded again. After a failure, the next call loads it again. */
export function loadScript(settings: FrameSettings, url: string): Promise<boolean> {
  const known = scripts.get(url);
  if (known) return known;
  const loading = new Promise<boolean>((resolve) => {
    const script = document.createElement('script');
    const end = (loaded: boolean): void => {
      clearTimeout(limit);
      if (!loaded) {
        scripts.delete(url);
        script.remove();
      }
      resolve(loaded);
    };
    const limit = setTimeout(() => end(false), SCRIPT_LIMIT_MS);
    script.onload = () => end(true);
    script.onerror = () => end(false);
    script.src = policyOf(settings).createScriptURL(url);
    document.head.append(script);
  });
  scripts.set(url, loading);
  return loading;
}

/** For a script that was loaded but does not work. The next call loads the script again. */
export function forgetScript(url: string): void {
  scripts.delete(url);
}

/** Shows a report, as the service renders it, in a frame whose sandbox runs no scripts. */
export function showReport(settings: FrameSettings, frame: HTMLIFrameElement, html: string): void {
  if (frame.sandbox.length === 0 || frame.sandbox.contains('allow-scripts'))
    throw new TypeError('A report is shown where no script can run.');
  frame.srcdoc = policyOf(settings).createHTML(html);
}
