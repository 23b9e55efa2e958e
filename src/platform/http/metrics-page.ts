import { createServer, type Server } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import type { Metrics } from '../observability/metrics.js';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** What proxies add. */
const FORWARDING = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'];

/** The socket's address counts: a request through a proxy does not come from this machine. */
export function isFromLoopback(request: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  return (
    LOOPBACK.has(request.socket.remoteAddress ?? '') && FORWARDING.every((name) => request.headers[name] === undefined)
  );
}

/** `GET /metrics` on the main port, for callers on this machine only. */
export function serveMetricsToLoopback(fastify: FastifyInstance, metrics: Metrics): void {
  fastify.get('/metrics', { config: { probe: true } }, async (request, reply) => {
    if (!isFromLoopback(request)) throw new DomainError('request.unknown_path');
    return reply.type(metrics.registry.contentType).send(await metrics.text());
  });
}

/** The same on a port of its own, for scrapers elsewhere in the private network. */
export async function listenForMetrics(port: number, host: string, metrics: Metrics): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}
