// Cross-origin rules of the platform door (docs/contract/platform.md#cross-origin-requests). The embedded component runs on its own origin and host pages on theirs.
import type { FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';

const PLATFORM = /^\/(?:auth|screening|payments|reports|voie)(?:[/?]|$)/;
const EXPOSED = [
  'Retry-After',
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Idempotent-Replayed',
].join(', ');
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'Accept',
  'X-Publishable-Key',
  'X-Session-Token',
  'Idempotency-Key',
  'X-Request-Id',
].join(', ');
const PREFLIGHT_SECONDS = 600;

/**
 * Answers preflights on the platform routes and lets every page read every reply there, errors included: a page could
 * otherwise not tell a refusal from a broken network. Whether its origin may do anything is for the token exchange and the
 * guards to say. Credentials are never allowed, so no cookie ever counts.
 */
export function allowCrossOrigin(fastify: FastifyInstance<RawServerDefault>): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (
      request.method !== 'OPTIONS' ||
      !PLATFORM.test(request.url) ||
      request.headers['access-control-request-method'] === undefined
    ) {
      done();
      return;
    }
    void reply
      .status(204)
      .header('access-control-allow-methods', 'GET, POST')
      .header('access-control-allow-headers', ALLOWED_HEADERS)
      .header('access-control-max-age', PREFLIGHT_SECONDS)
      .send();
  });
  // On the way out, so that nothing on the way can have replaced Vary, and so that it holds for every error too.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    allowReading(request, reply);
    done(null, payload);
  });
}

/** For the one kind of reply that no hook sees: a path that cannot be decoded. */
export function allowReading(
  request: Pick<FastifyRequest, 'url' | 'headers'>,
  reply: Pick<FastifyReply, 'header' | 'getHeader'>,
): void {
  if (!PLATFORM.test(request.url)) return;
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'Origin' : `${String(vary)}, Origin`);
  const { origin } = request.headers;
  if (origin === undefined) return;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', EXPOSED);
}
