// The root of the service, which leads to the documents.
import type { FastifyInstance } from 'fastify';

export function serveStart(fastify: FastifyInstance, docsUrl: string): void {
  fastify.get('/', { config: { authenticator: null, readsOnly: true } }, (_request, reply) =>
    reply.header('link', `<${docsUrl}>; rel="service-doc"`).send({
      documents: docsUrl,
      errors: `${docsUrl}/errors`,
      health: '/health/ready',
    }),
  );
}
