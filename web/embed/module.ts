// `service.mjs`: for pages that load modules, and for bundlers.
import { hostScript } from './service.js';

export const Service = hostScript(import.meta.url);
