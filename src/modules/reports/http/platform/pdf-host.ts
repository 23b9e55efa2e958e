// PDFs may show content of third parties, so they can have a host of their own (docs/contract/platform.md#printing).
import type { FastifyInstance } from 'fastify';
import { DomainError } from '../../../../kernel/domain-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Serves the route only at the host for PDFs, if that host is configured. */
    pdf?: true;
  }
}

/** The host for PDFs serves only PDFs, and no other host serves them. */
export function servePdfsApart(fastify: FastifyInstance, pdfUrl: string): void {
  const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');
  const own = plain(new URL(pdfUrl).hostname);
  fastify.addHook('onRequest', ({ hostname, routeOptions }, _reply, done) => {
    const isRight = (plain(hostname) === own) === (routeOptions.config.pdf ?? false);
    done(isRight ? undefined : new DomainError('request.unknown_path'));
  });
}
