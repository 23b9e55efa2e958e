// The host script: what an integrator's page calls. It exchanges the publishable key, puts the frame into the page and passes on what
// the frame tells. No framework, no storage, nothing personal.
import type { ServiceGlobal } from '../contract/options.js';
import { readSettings, serviceOf } from './init-options.js';
import { createInstance } from './instance.js';

/** `scriptUrl`: where the host script was loaded from, where that is known; the service is there by default. */
export function hostScript(scriptUrl: string | undefined): ServiceGlobal {
  return {
    async init(publishableKey, options = {}) {
      return createInstance(readSettings(publishableKey, options, serviceOf(scriptUrl)));
    },
  };
}
