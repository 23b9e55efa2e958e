// The internal listener: what vendors tell us. Outside the API surfaces; raw bodies, because signatures are over bytes.
import { type FastifyInstance, type FastifyRequest, fastify as createFastify, type RawServerBase } from 'fastify';
import type { DiscoveryService } from '@nestjs/core';
import { newId } from '../../kernel/ids.js';
import { DomainError } from '../../kernel/domain-error.js';
import { providedBy } from '../provided.js';
import type { ErrorReplies } from './error-reply.js';
import { isFromLoopback } from './metrics-page.js';

export interface InternalRequest {
  readonly body: Uint8Array;
  readonly headers: FastifyRequest['headers'];
  readonly requestId: string;
}

/** A provider of a feature module; `internalRoutes` finds it. */
export abstract class InternalRoute {
  abstract readonly path: string;
  /** What it throws becomes an error reply that says nothing of the reason. */
  abstract receive(request: InternalRequest): Promise<void>;
}

export function internalRoutes(discovery: DiscoveryService): InternalRoute[] {
  return providedBy(discovery, InternalRoute);
}

const BODY_LIMIT_BYTES = 256_000;

/** On the main port: for callers on this machine only; to all others there is nothing here. */
export function serveInternalToLoopback<Server extends RawServerBase>(
  fastify: FastifyInstance<Server>,
  routes: readonly InternalRoute[],
  replies: ErrorReplies,
): void {
  void fastify.register((scope, _options, done) => {
    scope.addHook('onRequest', (request, _reply, next) =>
      next(isFromLoopback(request) ? undefined : new DomainError('request.unknown_path')),
    );
    mount(scope, routes, replies);
    done();
  });
}

/** On a port of its own, for the private network. */
export async function listenForInternal(
  port: number,
  host: string,
  routes: readonly InternalRoute[],
  replies: ErrorReplies,
): Promise<FastifyInstance> {
  const server = createFastify({ logger: false, forceCloseConnections: true, genReqId: () => newId() });
  server.setNotFoundHandler((request, reply) => replies.send(new DomainError('request.unknown_path'), request, reply));
  mount(server, routes, replies);
  await server.listen({ port, host });
  return server;
}

function mount(scope: FastifyInstance, routes: readonly InternalRoute[], replies: ErrorReplies): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  scope.setErrorHandler((error, request, reply) => replies.send(error, request, reply));
  for (const route of routes) {
    scope.post(route.path, async (request, reply) => {
      const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      await route.receive({ body, headers: request.headers, requestId: request.id });
      return reply.status(200).send({ received: true });
    });
  }
}
