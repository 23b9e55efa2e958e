// Cross-origin rules, as the surface of a route has them. Embedded components run on their own origin and host pages on theirs.
import type { FastifyInstance, RawServerDefault } from 'fastify';
import type { Surface, Surfaces } from './surface.js';

/**
 * Answers preflights, and lets every page read every reply, errors included: a page could otherwise not tell a refusal from
 * a broken network. Whether its origin may do anything is for the authenticator to say. Credentials are never allowed, so no
 * cookie ever counts.
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
  // On the way out, so that nothing on the way can have replaced Vary, and so that it holds for every error too.
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
