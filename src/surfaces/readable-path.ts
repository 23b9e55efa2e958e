// A malformed id is answered like an unknown id (docs/contract/general.md#unknown-and-foreign-ids). The route of a malformed id must therefore be
// found.
import { SURFACES } from './all.js';

/** In characters. Integrators' ids have up to 128 characters, each of which takes up to twelve in a path (docs/contract/direct.md#parties). */
const LONGEST_PARAMETER = 128 * 12;
const UNKNOWN_ID = '-';

/** Replaces each path part that is too long or cannot be decoded by an unknown id. Ids of the direct API are the integrator's own. */
export function readablePath(url: string): string {
  if (!url.includes('%') && url.length <= LONGEST_PARAMETER) return url;
  if (['direct', 'open'].includes(SURFACES.at(url).name)) return url;
  const [path = ''] = url.split('?', 1);
  return path.replace(/[^/]+/g, (part) => (isReadable(part) ? part : UNKNOWN_ID)) + url.slice(path.length);
}

function isReadable(part: string): boolean {
  try {
    return part.length <= LONGEST_PARAMETER && decodeURIComponent(part) !== '';
  } catch {
    return false;
  }
}
