// The host script, which an integrator's page calls. The script exchanges the publishable key, puts the frame into the page and passes on the frame's
// callbacks. The script has no framework, stores nothing and contains no personal data.
import type { ServiceGlobal } from '../contract/options.js';
import { readSettings, serviceOf } from './init-options.js';
import { createInstance } from './instance.js';

/** `scriptUrl`: the address of the host script, if known. The service has the same base address by default. */
export function hostScript(scriptUrl: string | undefined): ServiceGlobal {
  return {
    async init(publishableKey, options = {}) {
      return createInstance(readSettings(publishableKey, options, serviceOf(scriptUrl)));
    },
  };
}
