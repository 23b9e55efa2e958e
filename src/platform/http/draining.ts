import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, RawServerDefault } from 'fastify';
import { withTimeout } from '../../kernel/with-timeout.js';

const IDLE_CLOSED_EVERY_MS = 100;

/**
 * A server that closes takes no further connection, answers what comes on those that it has, and tells their callers to leave them. One on
 * which nothing came for `patienceMs` is closed: it would hold the process for as long as its caller likes.
 */
export function drainBeforeClose(fastify: FastifyInstance<RawServerDefault>, patienceMs: number): void {
  const { server } = fastify;
  /** On which no request has begun, as browsers open them in advance: Node does not count them as idle. */
  const unused = new Set<Socket>();
  let closing = false;
  // Requests over TLS know the socket inside it.
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
      // As a server of HTTP it would close idle connections at once, under requests that are on their way.
      Server.prototype.close.call(server);
      await withTimeout(patienceMs, once(server, 'close'));
    }
    const closeIdle = (): void => {
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
    };
    // In the part of a turn that comes after reading: what has arrived is answered.
    const rounds = setInterval(() => setImmediate(closeIdle), IDLE_CLOSED_EVERY_MS);
    server.once('close', () => clearInterval(rounds));
    await nextTurn();
  });
}
