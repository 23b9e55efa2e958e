// The npm package `@screening-service/embed`: loads the host script from the service. So a page always runs the build of its service, and the package
// has the version of the API.
import type { ServiceGlobal } from '../contract/options.js';
import { rejection } from './rejections.js';

export type * from '../contract/callbacks.js';
export type * from '../contract/options.js';

let loaded: { readonly address: string; readonly service: Promise<ServiceGlobal> } | null = null;

/**
 * Loads the host script of the service at `baseUrl`, and gives the global `Service`. All calls of a page share one script, so a page has one address.
 * After a failure, whose code is `SCRIPT_LOAD_FAILED`, the next call tries again. A mistake in the address rejects without a code.
 */
export async function loadScreening(baseUrl: string): Promise<ServiceGlobal> {
  const address = scriptAt(baseUrl);
  if (typeof document === 'undefined') throw new Error('loadScreening needs a page: call it in the browser.');
  if (loaded !== null && loaded.address !== address) throw new Error(`The page has already loaded ${loaded.address}.`);
  loaded ??= { address, service: load(address) };
  const { service } = loaded;
  service.catch(() => (loaded = null));
  return service;
}

/** The same as the global `Service`. `init` loads the script from `baseUrl`, which is therefore needed. */
export const Service: ServiceGlobal = {
  async init(publishableKey, options = {}) {
    if (options.baseUrl === undefined) throw rejection('baseUrlUnknown');
    return (await loadScreening(options.baseUrl)).init(publishableKey, options);
  },
};

function scriptAt(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || !/^https?:/.test(baseUrl) || !URL.canParse(baseUrl)) throw rejection('baseUrl');
  return `${baseUrl.replace(/\/+$/, '')}/embed/v1/service.js`;
}

/** A page that has the script already, from a tag, keeps it. Another library may also have a global of this name. */
function load(address: string): Promise<ServiceGlobal> {
  const present = (): ServiceGlobal | undefined => {
    const { Service: found } = globalThis as { readonly Service?: ServiceGlobal | null };
    return typeof found?.init === 'function' ? found : undefined;
  };
  return new Promise((resolve, reject) => {
    const service = present();
    if (service !== undefined) return resolve(service);
    const script = document.createElement('script');
    const failed = (): void => {
      script.remove();
      const failure = new Error(`The script ${address} could not be loaded.`);
      reject(Object.assign(failure, { code: 'SCRIPT_LOAD_FAILED' }));
    };
    script.addEventListener('load', () => {
      const found = present();
      if (found === undefined) failed();
      else resolve(found);
    });
    script.addEventListener('error', failed);
    script.src = address;
    document.head.append(script);
  });
}
