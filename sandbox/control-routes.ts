// Restricts the callers of the routes under /control and /vendors/<id>/control, which need no credential.
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sendError } from '../src/vendor-kit/double/sandbox-part.js';

const CONTROL = /^(?:\/vendors\/[^/]+)?\/control\//;

/**
 * Protects against DNS rebinding: a web page can make its own name resolve to this machine, and then call it like a local caller. The browser still
 * sends that name as Host. Only callers that name an address, this machine or a container are therefore accepted.
 */
export function guardControlRoutes(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (CONTROL.test(request.routeOptions.url ?? '') && isPublicName(request.hostname))
      void sendError(reply, 403, 'forbidden_host', 'the controls are not reached by a public name');
    else done();
  });
}

/** Whether the public DNS may resolve the name: it has several labels, and the last label is not reserved for private use. */
function isPublicName(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|[\].]$/g, '');
  return name.includes('.') && isIP(name) === 0 && !/\.(?:localhost|internal)$/.test(name);
}
