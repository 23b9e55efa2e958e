// Who may call the routes under /control, which need no credential.
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { sendError } from '../src/vendor-kit/double/sandbox-part.js';

/**
 * A web page can have a name of its own answered with the address of this machine (DNS rebinding), and then reads and writes here as if
 * it came from here. The browser still sends that name as Host. Callers that name an address, this machine or a container are let in.
 */
export function guardControlRoutes(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url?.startsWith('/control/') && isPublicName(request.hostname))
      void sendError(reply, 403, 'forbidden_host', 'the controls are not reached by a public name');
    else done();
  });
}

/** Whether the public DNS may answer for it: several labels, the last of which is not kept for private use. */
function isPublicName(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|[\].]$/g, '');
  return name.includes('.') && isIP(name) === 0 && !/\.(?:localhost|internal)$/.test(name);
}
