import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Finds a port without a listener. Systems give higher ports to outgoing connections. This port therefore stays free
 * until a program uses it, and while that program restarts.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(11_000, 32_768);
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
