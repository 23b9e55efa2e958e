// Checks and finds the ports on which a command will listen.
import { createServer } from 'node:net';
import { Problem } from './problem.mjs';

export function ensurePortFree(name, port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error) => {
      reject(
        new Problem(
          `Port ${port} cannot be used (${error.code === 'EADDRINUSE' ? 'another program listens on it' : error.code}); set ${name} to another one.`,
        ),
      );
    });
    server.listen({ port, host, exclusive: true }, () => server.close(resolve));
  });
}

/** A free loopback port that is not in `taken`. */
export async function freePort(taken = []) {
  const port = await new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
  return taken.includes(port) ? freePort(taken) : port;
}
