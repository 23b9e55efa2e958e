import { fastify as createFastify, type FastifyInstance } from 'fastify';
import type { Metrics } from '../observability/metrics.js';
import { type Health, serveHealth } from './health.js';

/** The health and the metrics of one process, on a port that it shares with no other process of the service. */
export async function listenForProbes(
  port: number,
  host: string,
  health: Health,
  metrics: Metrics,
): Promise<FastifyInstance> {
  const server = createFastify({ logger: false, forceCloseConnections: true });
  serveHealth(server, health);
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.text()),
  );
  await server.listen({ port, host, exclusive: true });
  return server;
}
