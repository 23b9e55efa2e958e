import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, RawServerDefault } from 'fastify';
import { withTimeout } from '../../kernel/with-timeout.js';

const IDLE_CLOSED_EVERY_MS = 100;

/**
 * A closing server accepts no new connection, answers requests on open connections, and tells their callers to close them. The server closes a
 * connection that sends no request for `patienceMs`, so that no caller can keep the process running.
 */
export function drainBeforeClose(fastify: FastifyInstance<RawServerDefault>, patienceMs: number): void {
  const { server } = fastify;
  /** Connections on which no request has begun. Browsers open such connections in advance, and Node does not count them as idle. */
  const unused = new Set<Socket>();
  let closing = false;
  // Requests over TLS refer to the inner socket.
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket));
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) void reply.header('connection', 'close');
    done(null, payload);
  });
  fastify.addHook('preClose', async () => {
    closing = true;
    if (!server.listening) return;
    if (patienceMs > 0) {
      // The HTTP server's own close would end idle connections at once, even if requests are on their way.
      Server.prototype.close.call(server);
      await withTimeout(patienceMs, once(server, 'close'));
    }
    const closeIdle = (): void => {
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
    };
    // Runs in the phase of a turn that follows reading, so that requests that have arrived are answered.
    const rounds = setInterval(() => setImmediate(closeIdle), IDLE_CLOSED_EVERY_MS);
    server.once('close', () => clearInterval(rounds));
    await nextTurn();
  });
}
