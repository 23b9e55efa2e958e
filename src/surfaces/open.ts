import { defineSurface } from '../platform/http/surface.js';
import { PLATFORM_DOCUMENT } from './platform.js';
import { STRING_CODES } from './string-codes.js';

/** What belongs to no API: public keys, health, metrics, the documents themselves, and paths that do not exist. */
export const open = defineSurface({
  ...STRING_CODES,
  name: 'open',
  prefixes: { '/': {} },
  authenticator: null,
  cors: null,
  document: PLATFORM_DOCUMENT,
});
