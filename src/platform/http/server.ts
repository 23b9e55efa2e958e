// The HTTP servers that Nest uses and those without Nest: TLS, bodies, error replies of the framework, request log and latency.
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  fastify as createFastify,
  type FastifyInstance,
  type FastifyRequest,
  type RawServerBase,
  type RawServerDefault,
} from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import { Edge } from './edge.js';
import { drainBeforeClose } from './draining.js';
import { ErrorReplies } from './error-reply.js';
import { isBeyondLimits, SMALL_BODY_BYTES } from './json-limits.js';
import { isPlainUtf8, OF_ANOTHER_TYPE, UNREADABLE, UNSUPPORTED, wellFormed } from './readable-body.js';
import type { Surfaces } from './surface.js';

export interface ServerOptions {
  readonly surfaces: Surfaces;
  readonly trustedProxies: readonly string[];
  readonly requireTls: boolean;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The path by which a request is routed. */
  readonly readable?: (url: string) => string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The largest request body of this single route, in bytes. `@RouteConfig` sets this size. */
    bodyLimit?: number;
    /** For probes on the machine itself or in the private network. Every role serves this port over plain HTTP, without a log line. */
    probe?: true;
  }
}

/** In characters: the part of the 300 bytes of a failed request's log line that the cause may use. */
const ROUTE_AND_CAUSE = 70;

/** For a port in the private network. */
export function createPrivateServer(surfaces: Surfaces, log: Log): FastifyInstance {
  const server = createFastify({ ...new Edge(surfaces, log).options(), return503OnClosing: false });
  drainBeforeClose(server, 0);
  logRequests(server, log);
  const replies = new ErrorReplies(surfaces, log);
  server.setErrorHandler((error, request, reply) => replies.send(error, request, reply));
  server.setNotFoundHandler((request, reply) => replies.send(new DomainError('request.unknown_path'), request, reply));
  return server;
}

export function createServer({
  surfaces,
  trustedProxies,
  requireTls,
  tls,
  log,
  metrics,
  readable = (url) => url,
}: ServerOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    ...new Edge(surfaces, log, requireTls || tls !== null).options(tls),
    bodyLimit: SMALL_BODY_BYTES,
    // Requests that arrive while the process is stopping are answered as before (draining.ts).
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    // In a path, an integrator's id can take twelve characters for each of its up to 128 characters (docs/contract/direct.md#parties).
    routerOptions: { maxParamLength: 128 * 12 },
    rewriteUrl: ({ url = '/' }) => readable(url),
    // The framework would run the GET for a HEAD, and a GET may bill a report. Therefore only `ReadsOnly` routes accept a HEAD.
    exposeHeadRoutes: false,
  });
  const fastify = adapter.getInstance<FastifyInstance<RawServerDefault>>();
  acceptJson(fastify);
  fastify.addHook('onRoute', (route) => {
    if (route.config?.bodyLimit !== undefined) route.bodyLimit = route.config.bodyLimit;
  });
  if (requireTls)
    fastify.addHook('onRequest', ({ protocol, routeOptions }, _reply, done) =>
      done(protocol === 'https' || routeOptions.config.probe ? undefined : new DomainError('request.plain_http')),
    );
  // A caller that is still sending a refused body must be able to read the answer.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode === 413) void reply.removeHeader('connection');
    done(null, payload);
  });
  fastify.addHook('onResponse', ({ method, routeOptions }, { statusCode: status, elapsedTime }, done) => {
    metrics.httpDuration.observe({ method, route: routeOptions.url ?? 'none', status }, elapsedTime / 1_000);
    done();
  });
  logRequests(fastify, log);
  return adapter;
}

function logRequests<Server extends RawServerBase>(fastify: FastifyInstance<Server>, log: Log): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, notServedFor, principal, routeOptions } = request;
    const level = notServedFor === undefined ? 'info' : 'warn';
    if (log.isLevelEnabled(level) && !routeOptions.config.probe) {
      const route = routeOptions.url ?? 'none';
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      const more =
        notServedFor === undefined
          ? { accountId: principal?.accountId }
          : { cause: notServedFor.slice(0, Math.max(0, ROUTE_AND_CAUSE - route.length)) };
      log[level]({ requestId, method, route, status: reply.statusCode, ms, ...more }, 'request');
    }
    done();
  });
}

/** Accepts only JSON in strict UTF-8. An empty body counts as absent, whatever type it declares. */
function acceptJson(fastify: FastifyInstance<RawServerDefault>): void {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  // Keys that name a prototype are dropped, like fields that the route does not have.
  const parseText = fastify.getDefaultJsonParser('remove', 'remove');
  type Done = (error: Error | null, body?: unknown) => void;
  const parse = (request: FastifyRequest, body: Buffer, done: Done): void => {
    let text = '';
    try {
      if (!isBeyondLimits(body, request.routeOptions.bodyLimit)) text = decoder.decode(body);
    } catch {
      // The body is not UTF-8, so the parser gets an empty text and refuses the body.
    }
    void parseText(request, text, (error, value) => done(null, error ? UNREADABLE : wellFormed(text, value)));
  };
  const take = (type: string, read: typeof parse): void =>
    void fastify.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body: Buffer, done: Done) => {
      if (body.length === 0) done(null, undefined);
      else if (!isPlainUtf8(request.headers)) done(null, UNSUPPORTED);
      else read(request, body, done);
    });
  fastify.removeAllContentTypeParsers();
  take('application/json', parse);
  take('*', (_request, _body, done) => done(null, OF_ANOTHER_TYPE));
}
