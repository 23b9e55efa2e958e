// The cross-origin rules of a route's surface. Embedded components and host pages have different origins.
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { Surface, Surfaces } from './surface.js';

/**
 * Answers preflights and lets every page read every reply, so that a page can distinguish an error from a broken network. The authenticator decides
 * what an origin may do. Credentials are never allowed, so cookies have no effect.
 */
export function allowCrossOrigin(fastify: FastifyInstance<RawServerDefault>, surfaces: Surfaces): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { cors } = surfaces.of(request);
    if (
      cors === null ||
      request.method !== 'OPTIONS' ||
      request.headers['access-control-request-method'] === undefined
    ) {
      done();
      return;
    }
    void reply
      .status(204)
      .header('access-control-allow-methods', cors.methods.join(', '))
      .header('access-control-allow-headers', cors.requestHeaders.join(', '))
      .header('access-control-max-age', cors.preflightSeconds)
      .send();
  });
  // The hook runs last, so that no later code replaces Vary, and so that every error has Vary too.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const vary = reply.getHeader('vary');
    const { vary: also, ...headers } = readableBy(request.headers.origin, surfaces.of(request));
    if (also !== undefined) void reply.header('vary', vary === undefined ? also : `${String(vary)}, ${also}`);
    void reply.headers(headers);
    done(null, payload);
  });
}

/** The headers that let a page of another origin read a reply. */
export function readableBy(origin: string | undefined, { cors }: Surface): Readonly<Record<string, string>> {
  if (cors === null) return {};
  const vary = { vary: 'Origin' };
  if (origin === undefined) return vary;
  const exposed = cors.replyHeaders.join(', ');
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed };
}
