// Serves the reference at `/docs`: the built page, with the list of the APIs, under a policy of its own.
import type { FastifyInstance } from 'fastify';
import { IMMUTABLE, readPage, serveStaticFolder } from '../../platform/http/static-files.js';
import type { ServedDocument } from '../openapi.js';
import { escaped } from './markdown.js';

/** The page's library writes styles of its own. It loads and calls nothing of another origin. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface ReferenceOptions {
  /** The folder that `npm run build` writes the page to. */
  readonly folder: string;
  /** The OpenAPI documents, in the order of the page's selector. */
  readonly documents: readonly ServedDocument[];
}

/** Without the built page, `/docs` leads to the guides. */
export function serveReference(fastify: FastifyInstance, { folder, documents }: ReferenceOptions): void {
  const open = { config: { authenticator: null, readsOnly: true } } as const;
  const built = readPage(`${folder}/index.html`);
  if (built === null) {
    fastify.get('/docs', open, (_request, reply) => reply.redirect('docs/guides', 302));
    return;
  }
  const page = built.replace('%SETTINGS%', () => escaped(JSON.stringify(documents)));
  // Addresses in the page are relative, so that they hold behind a proxy that puts a path before them.
  const pages = { '/docs': page.replaceAll('"./', '"./docs/'), '/docs/': page };
  for (const [path, html] of Object.entries(pages))
    fastify.get(path, open, (_request, reply) =>
      reply
        .type('text/html; charset=utf-8')
        .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' })
        .send(html),
    );
  serveStaticFolder(fastify, { folder: `${folder}/assets`, path: '/docs/assets', cacheControl: () => IMMUTABLE });
}
