// The page of the frame: the built page with the settings of its key, and a policy that names the pages that may embed it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Environment } from '../../kernel/environment.js';
import type { AccessKeys } from '../../published/access-keys.js';
import {
  type BrowserScripts,
  contentSecurityPolicy,
  embeddableBy,
  NOTHING,
  permissionsPolicy,
} from './content-security-policy.js';

export interface FrameOptions {
  /** Address of the API, without a trailing slash. */
  readonly apiUrl: string;
  /** The origin of PDFs, when they have a host of their own. */
  readonly pdfUrl: string | null;
  /** Address of the frame, without a trailing slash. */
  readonly embeddedUrl: string;
  /** With null, keys of that environment have no frame. */
  readonly scripts: Readonly<Record<Environment, BrowserScripts | null>>;
  /** The built page, with a placeholder for its settings. */
  readonly html: string;
}

const PLACE = '%SERVICE_SETTINGS%';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // A change of the origins that may embed the frame must take effect at once.
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
};

/** A cross-origin isolated page embeds only frames that send this policy. A frame with this policy also embeds only frames with this policy. */
const ISOLATED = { 'cross-origin-embedder-policy': 'require-corp' };
/** The published key of the sandbox's processor. The sandbox's frames send this policy, and Stripe's frames do not. */
const SANDBOX_KEY = 'pk_test_sandbox_processor';

/** `path`: without a trailing slash. */
export function serveFramePage(fastify: FastifyInstance, path: string, keys: AccessKeys, options: FrameOptions): void {
  const open = { config: { authenticator: null, readsOnly: true } } as const;
  // The address is relative, so it is also right behind a proxy that maps another path to the frame's path.
  const name = path.slice(path.lastIndexOf('/') + 1);
  fastify.get(path, open, (request, reply) => reply.redirect(`${name}/${queryOf(request)}`, 308));
  fastify.get(`${path}/`, open, (request, reply) => sendPage(request, reply, keys, options));
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  keys: AccessKeys,
  { apiUrl, pdfUrl, embeddedUrl, scripts: all, html }: FrameOptions,
): Promise<FastifyReply> {
  const { key: text, isolated } = request.query as { readonly key?: unknown; readonly isolated?: unknown };
  const key = typeof text === 'string' ? await keys.publishable(text) : null;
  const scripts = key?.active ? all[key.environment] : null;
  void reply.headers(HEADERS);
  if (key === null || scripts === null)
    return reply.status(404).header('content-security-policy', NOTHING).send('<!doctype html>\n');
  if (isolated !== undefined || scripts.processor.publishableKey === SANDBOX_KEY) void reply.headers(ISOLATED);
  const allowedOrigins = embeddableBy(key);
  const settings = { apiUrl, embeddedUrl, allowedOrigins, ...scripts };
  return reply
    .header('content-security-policy', contentSecurityPolicy(scripts, apiUrl, allowedOrigins, pdfUrl))
    .header('permissions-policy', permissionsPolicy(scripts))
    .send(html.replace(PLACE, () => escaped(JSON.stringify(settings))));
}

function queryOf({ url }: FastifyRequest): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
