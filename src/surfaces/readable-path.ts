// A malformed id is as unknown as any other (docs/contract/general.md#unknown-and-foreign-ids). So its route must be found.
import { SURFACES } from './all.js';

/** In characters. Integrators' ids have up to 128, each of up to twelve in a path (docs/contract/direct.md#parties). */
const LONGEST_PARAMETER = 128 * 12;
const UNKNOWN_ID = '-';

/** Puts an unknown id in the place of each part that is too long or cannot be decoded. Ids of the direct API are the integrator's own. */
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
