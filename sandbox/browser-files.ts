// The vendors' files for browsers, under /browser: the payment processor's library with its pages, and the collector of device fingerprints. The
// files are bundled from web/sandbox-*/.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { SandboxPart } from '../src/vendor-kit/double/sandbox-part.js';

/** The policy of the pages allows them to run their own scripts, call the sandbox, and be embedded by any page. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export class BrowserFiles implements SandboxPart {
  mount(server: FastifyInstance): void {
    server.register(fastifyStatic, {
      root: join(packageFolder(), 'dist-web', 'sandbox'),
      prefix: '/browser/',
      extensions: ['html'],
      index: false,
      cacheControl: false,
      setHeaders: (reply, path) => {
        reply.setHeader('cache-control', 'public, max-age=300');
        reply.setHeader('cross-origin-resource-policy', 'cross-origin');
        reply.setHeader('referrer-policy', 'no-referrer');
        reply.setHeader('x-content-type-options', 'nosniff');
        if (!path.endsWith('.html')) return;
        reply.setHeader('content-security-policy', PAGE_POLICY);
        // Without this header, a frame that isolates itself could not embed the pages.
        reply.setHeader('cross-origin-embedder-policy', 'require-corp');
      },
    });
  }

  close(): void {
    // This part uses no resources that must be closed.
  }
}

/** This file is below the folder, both as source and compiled. */
function packageFolder(): string {
  const above = join(import.meta.dirname, '..');
  return existsSync(join(above, 'package.json')) ? above : join(above, '..');
}
