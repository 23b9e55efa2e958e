import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server on which no request has begun, as browsers open them in advance. Node does not count them as idle, and
 * sets them no limit once the server closes: each would keep a process that stops for as long as its caller likes.
 */
export class UnusedConnections {
  private readonly sockets = new Set<Socket>();

  constructor(server: Server) {
    // Requests over TLS know the socket inside it.
    server.on('setSecureContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('request', ({ socket }: IncomingMessage) => this.sockets.delete(socket));
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}
