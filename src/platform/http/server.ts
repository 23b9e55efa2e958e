// The HTTP server beneath Nest: request ids, TLS, bodies, error replies of the framework, request log and latency.
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, RawServerDefault } from 'fastify';
import { newId } from '../../kernel/ids.js';
import { DomainError } from '../../kernel/domain-error.js';
import type { Log } from '../observability/log.js';
import type { Metrics } from '../observability/metrics.js';
import { allowReading } from './cors.js';
import { ErrorReplies } from './error-reply.js';
import { isBeyondLimits } from './json-limits.js';
import { UNREADABLE } from './readable-body.js';
import type { Surfaces } from './surface.js';

export interface ServerOptions {
  readonly surfaces: Surfaces;
  readonly trustedProxies: readonly string[];
  readonly requireTls: boolean;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  readonly log: Log;
  readonly metrics: Metrics;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Largest request body of this one route, in bytes; `@RouteConfig` sets it. */
    bodyLimit?: number;
    /** For probes on the machine itself or in the private network: served by every role, over plain HTTP, and not logged. */
    probe?: true;
  }
}

/** Largest request body of a route that does not say otherwise (docs/contract/general.md#bodies). */
const BODY_LIMIT_BYTES = 256_000;
/** For the headers of a request to arrive, and for all of it; looked after this often. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_CHECK_MS = 2_000;
/** Further callers are not taken. Those that are there are bounded in time, so that there is room again soon. */
const MAX_CONNECTIONS = 10_000;
/** For a caller to read an answer before all was sent that it wanted to send. */
const LINGER_MS = 3_000;
const REQUEST_ID = /^[A-Za-z0-9!#$%&'*+.^_`|~:-]{1,128}$/;

const TIMEOUTS = { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS };

export function createServer({
  surfaces,
  trustedProxies,
  requireTls,
  tls,
  log,
  metrics,
}: ServerOptions): FastifyAdapter {
  const adapter = new FastifyAdapter({
    ...(tls ? { https: { ...tls, ...TIMEOUTS, minVersion: 'TLSv1.2' as const } } : { http: TIMEOUTS }),
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    // Integrators' ids are up to 128 characters, each of up to twelve in a path (docs/contract/direct.md#parties).
    routerOptions: { maxParamLength: 128 * 12 },
    // A HEAD would run its GET, and a GET may pull and bill a report.
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: (request: { headers: Record<string, string | string[] | undefined> }) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
    },
    // A path that cannot be decoded reaches no route and no hook; it names nothing that exists (docs/contract/general.md#unknown-and-foreign-ids).
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      void reply.header('x-request-id', request.id);
      allowReading(request, reply, surfaces);
      new ErrorReplies(surfaces, log).send(new DomainError('request.unknown_path'), request, reply);
    },
    clientErrorHandler: (_error, socket) => {
      const { status, body } = surfaces.reply(new DomainError('request.invalid'));
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      endSoon(socket);
      if (socket.writable) {
        socket.end(
          `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nx-request-id: ${newId()}\r\nconnection: close\r\n\r\n${text}`,
        );
      }
    },
  });
  const fastify = adapter.getInstance<FastifyInstance<RawServerDefault>>();
  fastify.server.maxConnections = MAX_CONNECTIONS;
  acceptJson(fastify);
  fastify.addHook('onRoute', (route) => {
    if (route.config?.bodyLimit !== undefined) route.bodyLimit = route.config.bodyLimit;
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    if (requireTls && request.protocol !== 'https' && !request.routeOptions.config.probe)
      done(new DomainError('request.plain_http'));
    else done();
  });
  // A caller that is still sending a refused body must be able to read the answer: some of the rest is taken and dropped.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode === 413) void reply.removeHeader('connection');
    if (!request.raw.complete && announcesBody(request.headers)) endSoon(request.raw);
    done(null, payload);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const seconds = reply.elapsedTime / 1_000;
    metrics.httpDuration.observe({ method: request.method, route, status: reply.statusCode }, seconds);
    if (log.isLevelEnabled('info') && !request.routeOptions.config.probe) {
      log.info(
        {
          requestId: request.id,
          method: request.method,
          route,
          status: reply.statusCode,
          ms: Math.round(seconds * 10_000) / 10,
          accountId: request.principal?.accountId,
        },
        'request',
      );
    }
    done();
  });
  return adapter;
}

function announcesBody({
  'content-length': length = '0',
  'transfer-encoding': encoding,
}: IncomingHttpHeaders): boolean {
  return encoding !== undefined || Number(length) > 0;
}

/** Destroys what is not closed by itself in time. */
function endSoon(stream: Readable): void {
  const late = setTimeout(() => stream.destroy(), LINGER_MS);
  stream.once('close', () => clearTimeout(late));
}

/** JSON only, strictly UTF-8. An empty body is no body, whatever its declared type. */
function acceptJson(fastify: FastifyInstance<RawServerDefault>): void {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parseText = fastify.getDefaultJsonParser('error', 'error');
  type Done = (error: Error | null, body?: unknown) => void;
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer, done: Done) => {
      if (body.length === 0) {
        done(null, undefined);
        return;
      }
      if (isBeyondLimits(body)) {
        done(null, UNREADABLE);
        return;
      }
      let text: string;
      try {
        text = decoder.decode(body);
      } catch {
        done(null, UNREADABLE);
        return;
      }
      void parseText(request, text, (error, value) => done(null, error ? UNREADABLE : value));
    },
  );
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request: FastifyRequest, body: Buffer, done: Done) =>
    done(null, body.length === 0 ? undefined : UNREADABLE),
  );
}
