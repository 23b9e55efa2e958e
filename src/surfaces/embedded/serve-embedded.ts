// Serves the browser code: the host script that integrators load, and the frame that the script opens (docs/contract/platform.md#embedded-component).
import type { FastifyInstance } from 'fastify';
import { IMMUTABLE, readPage, serveStaticFolder } from '../../platform/http/static-files.js';
import type { AccessKeys } from '../../published/access-keys.js';
import { type FrameOptions, serveFramePage } from './frame-page.js';

export interface EmbeddedOptions extends Omit<FrameOptions, 'html'> {
  /** The folder into which `npm run build` writes the browser code. */
  readonly folder: string;
}

const FRAME_PATH = '/embedded';
const SCRIPT_PATH = '/embed/v1';
/** The name of a folder that is derived from the folder's content. */
const VERSION = /^[0-9a-f]{16}\//;

/** Returns one sentence with the reason if the frame is not served; null if it is served. */
export function serveEmbedded(
  fastify: FastifyInstance,
  keys: AccessKeys,
  { folder, ...options }: EmbeddedOptions,
): string | null {
  const html = readPage(`${folder}/frame/index.html`);
  if (html === null) return 'the browser code is not built (npm run build)';
  serveStaticFolder(fastify, {
    folder: `${folder}/embed`,
    path: SCRIPT_PATH,
    cacheControl: (file) => (VERSION.test(file) ? IMMUTABLE : 'public, max-age=300'),
  });
  if (options.scripts.live === null && options.scripts.test === null)
    return 'PROCESSOR_JS_URL, PROCESSOR_PUBLISHABLE_KEY and FINGERPRINT_SCRIPT_URL are not set';
  for (const path of framePaths(options.embeddedUrl, options.apiUrl)) {
    serveFramePage(fastify, path, keys, { ...options, html });
    serveStaticFolder(fastify, {
      folder: `${folder}/frame/assets`,
      path: `${path}/assets`,
      cacheControl: () => IMMUTABLE,
    });
  }
  return null;
}

/** The paths of the frame: the path to which a proxy maps a separate origin, and the path of EMBEDDED_URL on the API's own origin. */
function framePaths(embeddedUrl: string, apiUrl: string): Set<string> {
  return new Set(embeddedUrl.startsWith(`${apiUrl}/`) ? [FRAME_PATH, embeddedUrl.slice(apiUrl.length)] : [FRAME_PATH]);
}
