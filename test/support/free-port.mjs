import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port that nothing listens on. It is a random one below those that systems give to outgoing connections, so that it stays
 * free until it is used, and while what uses it is started again.
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
