import { defineSurface } from '../platform/http/surface.js';
import { PLATFORM_DOCUMENT } from './platform.js';
import { STRING_CODES } from './string-codes.js';

/** Routes outside every API: public keys, health, metrics, the documents themselves, and unknown paths. */
export const open = defineSurface({
  ...STRING_CODES,
  name: 'open',
  prefixes: { '/': {} },
  authenticator: null,
  cors: null,
  document: PLATFORM_DOCUMENT,
});
