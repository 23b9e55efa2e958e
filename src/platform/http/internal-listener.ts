// The internal listener for messages from vendors. The listener is outside the API surfaces, and reads raw bytes, because signatures are computed
// over bytes.
import type { FastifyInstance, FastifyRequest, RawServerBase } from 'fastify';
import type { DiscoveryService } from '@nestjs/core';
import { DomainError } from '../../kernel/domain-error.js';
import { providedBy } from '../provided.js';
import { isFromLoopback } from './metrics-page.js';

export interface InternalRequest {
  readonly body: Uint8Array;
  readonly headers: FastifyRequest['headers'];
  /** The parts of the path that the route's pattern names. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
}

/** `internalRoutes` finds the providers of this class. */
export abstract class InternalRoute {
  abstract readonly paths: readonly string[];
  /** An error becomes a reply that does not give the reason. */
  abstract receive(request: InternalRequest): Promise<void>;
}

export function internalRoutes(discovery: DiscoveryService): InternalRoute[] {
  return providedBy(discovery, InternalRoute);
}

const BODY_LIMIT_BYTES = 256_000;

/** Serves the routes on the main port for callers on this machine. For other callers, these routes do not exist. */
export function serveInternalToLoopback<Server extends RawServerBase>(
  fastify: FastifyInstance<Server>,
  routes: readonly InternalRoute[],
): void {
  void fastify.register((scope, _options, done) => {
    scope.addHook('onRequest', (request, _reply, next) =>
      next(isFromLoopback(request) ? undefined : new DomainError('request.unknown_path')),
    );
    serveInternal(scope, routes);
    done();
  });
}

/** For every caller, on a separate port in the private network. */
export function serveInternal(scope: FastifyInstance, routes: readonly InternalRoute[]): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const route of routes) {
    for (const path of route.paths) {
      scope.all(path, { bodyLimit: BODY_LIMIT_BYTES }, async (request, reply) => {
        if (request.method !== 'POST') throw new DomainError('request.unknown_path');
        const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
        const params = request.params as InternalRequest['params'];
        await route.receive({ body, headers: request.headers, params, requestId: request.id });
        return reply.status(200).send({ received: true });
      });
    }
  }
}
