// A proxy in front of a node. The proxy can hang like a stopped process or a stalled network. While it hangs,
// connections stay open, new connections are accepted, and no byte passes.
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { EventStoreDbDouble } from './server.js';

export class Hanging {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #hangs = false;

  private constructor(port: number) {
    this.#server = createServer((caller) => {
      const node = connect(port, '127.0.0.1');
      this.#pass(caller, node);
      this.#pass(node, caller);
    });
  }

  /** From now on the node announces the port of the proxy. */
  static async before(node: EventStoreDbDouble): Promise<Hanging> {
    const hanging = new Hanging(node.port);
    await new Promise<void>((resolve) => hanging.#server.listen(0, '127.0.0.1', resolve));
    node.port = (hanging.#server.address() as { port: number }).port;
    return hanging;
  }

  hang(): void {
    this.#hangs = true;
    for (const socket of this.#sockets) socket.pause();
  }

  goOn(): void {
    this.#hangs = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Breaks every connection. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => to.write(bytes));
    if (this.#hangs) from.pause();
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#sockets.delete(from);
      to.end();
    });
  }
}
