// `service.js`: sets the global Service, and nothing else.
import { hostScript } from './service.js';

const { currentScript } = document;
const service = hostScript(currentScript instanceof HTMLScriptElement ? currentScript.src : undefined);

Object.defineProperty(globalThis, 'Service', { value: service, configurable: true, enumerable: true });
