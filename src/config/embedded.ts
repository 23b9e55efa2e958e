import type { Environment } from '../kernel/environment.js';
import type { Variables } from './variables.js';
import type { VendorsSettings } from './vendors.js';

/** Third-party scripts that the embedded component loads in the browser. These settings contain no secret. */
export interface BrowserScripts {
  readonly processor: { readonly scriptUrl: string; readonly publishableKey: string };
  readonly fingerprintScriptUrl: string;
}

/** Settings of the embedded component. This class is also the injection token. */
export abstract class EmbeddedSettings {
  /** The scripts for each environment of a publishable key. With null, keys of that environment get no component. */
  abstract readonly scripts: Readonly<Record<Environment, BrowserScripts | null>>;
}

/** The key that the sandbox's processor publishes. */
const SANDBOX_KEY = 'pk_test_sandbox_processor';

const LIVE = ['PROCESSOR_JS_URL', 'PROCESSOR_PUBLISHABLE_KEY', 'FINGERPRINT_SCRIPT_URL'] as const;
const TEST = [
  'SANDBOX_PROCESSOR_JS_URL',
  'SANDBOX_PROCESSOR_PUBLISHABLE_KEY',
  'SANDBOX_FINGERPRINT_SCRIPT_URL',
] as const;

/** Outside production, the sandbox's scripts are used for all keys. In production, each environment names its own scripts, or has no component. */
export function readEmbedded(env: Variables, { sandboxUrl, forTest }: VendorsSettings): EmbeddedSettings {
  if (!env.production) {
    const base = `${sandboxUrl ?? ''}/browser`;
    const scripts = readScripts(env, LIVE, [`${base}/processor.js`, SANDBOX_KEY, `${base}/fingerprint.js`]);
    return { scripts: { live: scripts, test: scripts } };
  }
  const live = readNamed(env, LIVE);
  if (live?.processor.publishableKey === SANDBOX_KEY)
    env.fault('PROCESSOR_PUBLISHABLE_KEY', 'must not be the published key of the sandbox in production');
  return { scripts: { live, test: forTest ? readNamed(env, TEST) : null } };
}

type Names = readonly [processor: string, key: string, fingerprint: string];

/** Either all three variables are set, or none of them. */
function readNamed(env: Variables, names: Names): BrowserScripts | null {
  const missing = names.filter((name) => env.text(name) === null);
  if (missing.length === names.length) return null;
  for (const name of missing) env.fault(name, `must be set together with the others of ${names.join(', ')}`);
  return readScripts(env, names, ['', '', '']);
}

function readScripts(env: Variables, [processor, key, fingerprint]: Names, fallbacks: Names): BrowserScripts {
  return {
    processor: {
      scriptUrl: readScriptUrl(env, processor, fallbacks[0]),
      publishableKey: env.text(key) ?? fallbacks[1],
    },
    fingerprintScriptUrl: readScriptUrl(env, fingerprint, fallbacks[2]),
  };
}

/** The address exactly as written, because a slash at the end of a script's address matters. */
function readScriptUrl(env: Variables, name: string, fallback: string): string {
  const value = env.text(name);
  if (value === null) return fallback;
  return env.secureUrl(name, null) === null ? fallback : new URL(value).href;
}
