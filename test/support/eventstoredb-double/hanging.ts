// Stands before a node and hangs on demand, as a stopped process, a hung disk or a network that drops packets does: connections
// stay open, new ones are accepted, and no byte goes through.
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { EventStoreDbDouble } from './server.js';

export class Hanging {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #hangs = false;

  private constructor(port: number) {
    this.#server = createServer((caller) => {
      const node = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [caller, node],
        [node, caller],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes) => void (this.#hangs || to.write(bytes)));
        from.on('error', () => undefined);
        from.on('close', () => {
          this.#sockets.delete(from);
          if (!this.#hangs) to.destroy();
        });
      }
    });
  }

  /** From now on the node is known by the port of what stands before it. */
  static async before(node: EventStoreDbDouble): Promise<Hanging> {
    const hanging = new Hanging(node.port);
    await new Promise<void>((resolve) => hanging.#server.listen(0, '127.0.0.1', resolve));
    node.port = (hanging.#server.address() as { port: number }).port;
    return hanging;
  }

  hang(): void {
    this.#hangs = true;
  }

  /** Cuts every connection. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
