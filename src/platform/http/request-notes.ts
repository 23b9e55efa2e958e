// Records the requests of known callers in the request log of their account.
import type { FastifyInstance } from 'fastify';
import { machineNow } from '../../kernel/machine-time.js';
import type { RequestLog } from '../../ports/request-log.js';

/** A request without valid credentials is not recorded, so that strangers cannot push an account's requests out of the log. */
export function noteRequests(fastify: FastifyInstance, requests: RequestLog): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const { admitted, principal, routeOptions } = request;
    if (admitted && principal !== undefined && !(routeOptions.config.unnoted && reply.statusCode < 400))
      requests.note(
        { ...principal, callers: principal.actor.kind === 'platform-token' ? 'pages' : 'servers' },
        {
          at: new Date(machineNow()).toISOString(),
          requestId: request.id,
          method: request.method,
          route: routeOptions.url ?? 'none',
          status: reply.statusCode,
          code: request.refusedWith ?? null,
          durationMs: Math.round(reply.elapsedTime),
          keyId: principal.actor.kind === 'dashboard-user' ? null : principal.actor.id,
          idempotency: request.idempotency ?? null,
        },
      );
    done();
  });
}
