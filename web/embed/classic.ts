// `service.js`: sets the global Service, and nothing else.
import { hostScript } from './service.js';

const { currentScript } = document;
const origin = currentScript instanceof HTMLScriptElement ? new URL(currentScript.src).origin : null;

Object.defineProperty(globalThis, 'Service', { value: hostScript(origin), configurable: true, enumerable: true });
