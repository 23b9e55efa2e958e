import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import type { Metrics } from '../observability/metrics.js';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** The headers that proxies add. */
const FORWARDING = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'];

/** The address of the socket is used. A request through a proxy does not come from this machine. */
export function isFromLoopback(request: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  return (
    LOOPBACK.has(request.socket.remoteAddress ?? '') && FORWARDING.every((name) => request.headers[name] === undefined)
  );
}

/** `GET /metrics`. A separate port serves every scraper in the private network. The main port serves only callers on this machine. */
export function serveMetrics(fastify: FastifyInstance, metrics: Metrics, admits: typeof isFromLoopback): void {
  fastify.all('/metrics', { config: { probe: true } }, async (request, reply) => {
    if (request.method !== 'GET' || !admits(request)) throw new DomainError('request.unknown_path');
    return reply.type(metrics.registry.contentType).send(await metrics.text());
  });
}
