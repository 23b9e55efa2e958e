// Cross-origin rules, as the surface of a route has them. Embedded components run on their own origin and host pages on theirs.
import type { FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';
import type { Surfaces } from './surface.js';

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
    allowReading(request, reply, surfaces);
    done(null, payload);
  });
}

/** Called by itself for the one kind of reply that no hook sees: a path that cannot be decoded. */
export function allowReading(request: FastifyRequest, reply: FastifyReply, surfaces: Surfaces): void {
  const { cors } = surfaces.of(request);
  if (cors === null) return;
  const vary = reply.getHeader('vary');
  void reply.header('vary', vary === undefined ? 'Origin' : `${String(vary)}, Origin`);
  const { origin } = request.headers;
  if (origin === undefined) return;
  void reply.header('access-control-allow-origin', origin);
  void reply.header('access-control-expose-headers', cors.replyHeaders.join(', '));
}
