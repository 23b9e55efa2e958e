// The edge of HTTP, the same on every port. The edge answers requests that never reach the framework, and those that the framework fails to answer.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../kernel/domain-error.js';
import { newId } from '../../kernel/ids.js';
import type { Log } from '../observability/log.js';
import { clientAddressOf } from './client-address.js';
import { readableBy } from './cors.js';
import { JSON_TYPE } from './error-reply.js';
import { atMost } from './json-limits.js';
import type { Surfaces } from './surface.js';

/** The parts of a request that an error reply needs, even when the parser refused the request. */
interface Asked {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** The newest request on each connection. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The previous response on the same connection. */
  readonly before: ServerResponse | undefined;
}

/** Node's error for a request that its parser refuses. */
type Unparsed = Error & { readonly code?: string; readonly bytesParsed?: number; readonly rawPacket?: Buffer };

/** The largest request line with all headers, in characters. */
const LARGEST_HEAD = 16_384;
const LIMITS = {
  // The time limits for the headers of a request and for the whole request, and the interval of the check.
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 72_000,
  handshakeTimeout: 10_000,
  // The parser accepts more than the limit, so that the error reply can use the path and the headers.
  maxHeaderSize: 2 * LARGEST_HEAD,
  requireHostHeader: false,
};
/** The headers of every reply whose route does not set its own. Most replies concern a person. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
/** This host, without its subdomains, tells browsers to use only TLS for one year. */
const TLS_ONLY = { 'strict-transport-security': 'max-age=31536000' };
/** The largest number of connections. Each connection has a time limit, so that other callers can connect soon. */
const MAX_CONNECTIONS = 10_000;
const REMEMBERED_ADDRESSES = 10_000;
/** The time in which a caller can read an answer while it is still sending. */
const LINGER_MS = 3_000;
/** The caller's own id is only repeated to the caller, because it may contain any text. */
const CALLERS_ID = /^[A-Za-z0-9!#$%&'*+.^_`|~:-]{1,128}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export class Edge {
  private readonly exchanges = new WeakMap<Duplex, Exchange>();
  private readonly refused = new WeakSet<Duplex>();
  private readonly ids = new WeakMap<Asked, string>();
  /** The addresses of callers that have sent a whole request. */
  private readonly known = new LRUCache<string, true>({ max: REMEMBERED_ADDRESSES });
  /** Connections that have sent no request yet, by the caller's address and port. The oldest is first. */
  private readonly silent = new Map<string, Socket>();
  private open = 0;

  constructor(
    private readonly surfaces: Surfaces,
    private readonly log: Log,
    private readonly tlsOnly = false,
    private readonly maxConnections = MAX_CONNECTIONS,
  ) {}

  /** Passed to the framework. */
  options(tls: { readonly cert: Buffer; readonly key: Buffer } | null = null) {
    return {
      logger: false as const,
      logController: new LastCatch((error, { raw }, reply) => this.fail(error, raw, reply.hijack().raw)),
      genReqId: (request: IncomingMessage) => this.idOf(request),
      serverFactory: (serve: RequestListener): Server => this.serverFor(serve, tls),
      clientErrorHandler: caught((error: Error, socket: Duplex) => this.refuseUnparsed(error, socket), cutOff),
      // A path that cannot be decoded names no existing object (docs/contract/general.md#unknown-and-foreign-ids).
      frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
        this.refuse(new DomainError('request.unknown_path'), request.raw, reply.raw),
    };
  }

  private serverFor(serve: RequestListener, tls: { readonly cert: Buffer; readonly key: Buffer } | null): Server {
    const server = tls ? createTlsServer({ ...tls, ...LIMITS, minVersion: 'TLSv1.2' }) : createServer(LIMITS);
    // Node would drop headers beyond a certain number without an error. The size of the headers is limited instead.
    server.maxHeadersCount = 0;
    server.maxConnections = this.maxConnections;
    server.on('connection', (socket: Socket) => this.boundSilent(socket));
    const answer = (fault: (request: IncomingMessage) => DomainError | null): RequestListener =>
      caught((request, response) => {
        const { socket } = request;
        this.silent.delete(callerOf(socket));
        const before = this.exchanges.get(socket)?.response;
        this.exchanges.set(socket, { request, response, before });
        for (const [name, value] of Object.entries(this.told(request))) response.setHeader(name, value);
        // The rest of a body is read and dropped, for a limited time.
        response.once('finish', () => {
          if (!request.complete) endSoon(request);
          else if (socket.remoteAddress !== undefined) this.known.set(addressOf(socket), true);
        });
        // When connections are scarce, each is closed after one request, because another caller may need it.
        if (this.open > this.maxConnections / 2) response.shouldKeepAlive = false;
        // Node drops data that follows an upgrade request in the same packet.
        if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
        const refusal = fault(request);
        if (refusal) this.refuse(refusal, request, response);
        else serve(request, response);
      }, this.fail);
    server.on('request', answer(faultOf));
    server.on(
      'checkExpectation',
      answer((request) => faultOf(request) ?? UNEXPECTED),
    );
    // Node leaves the connection of a CONNECT to its listener.
    const connect = (request: IncomingMessage, socket: Duplex): void => {
      socket.on('error', () => undefined).resume();
      endAfter(this.exchanges.get(socket)?.response, socket, this.asText(NO_PATH, request));
    };
    return server.on('connect', caught(connect, cutOff));
  }

  /** Half of the connections are for callers that send requests. A stranger with silent connections therefore cannot exclude a known address. */
  private boundSilent(socket: Socket): void {
    const caller = callerOf(socket);
    this.silent.set(caller, socket);
    this.open += 1;
    socket.once('close', () => {
      this.open -= 1;
      this.silent.delete(caller);
    });
    if (this.silent.size <= this.maxConnections / 2) return;
    const [oldest = socket] = this.silent.values();
    (this.known.has(addressOf(socket)) ? oldest : socket).destroy();
  }

  private readonly fail = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    this.log.error({ requestId: this.idOf(request), err: error }, 'request failed');
    if (response.headersSent) response.destroy();
    else this.refuse(new DomainError('service.failure'), request, response);
  };

  private refuse(refusal: DomainError, request: IncomingMessage, response: ServerResponse): void {
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    const { status, headers, text } = this.said(refusal, request);
    response.writeHead(status, headers).end(text);
  }

  /** A UUID. Logs, events and vendors get only this id of the request, because the caller's own id may be any text. */
  private idOf(asked: Asked): string {
    const given = asked.headers['x-request-id'];
    const id = this.ids.get(asked) ?? (typeof given === 'string' && UUID.test(given) ? given : newId());
    this.ids.set(asked, id);
    return id;
  }

  /** The headers of every reply. */
  private told(asked: Asked): Readonly<Record<string, string>> {
    const id = this.idOf(asked);
    const given = asked.headers['x-request-id'];
    return {
      ...HEADERS,
      ...(this.tlsOnly && TLS_ONLY),
      'service-request-id': id,
      'x-request-id': typeof given === 'string' && CALLERS_ID.test(given) ? given : id,
    };
  }

  private said(refusal: DomainError, asked: Asked) {
    const { method = '', url = '', headers } = asked;
    const { status, headers: more, body } = this.surfaces.reply(refusal, { id: this.idOf(asked), method, url });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const own = { 'content-type': JSON_TYPE, 'content-length': String(Buffer.byteLength(text)) };
    const readable = readableBy(headers.origin, this.surfaces.at(url));
    return { status, headers: { ...this.told(asked), ...more, ...readable, ...own }, text };
  }

  /** Node calls this for each packet that it can no longer parse. */
  private refuseUnparsed(error: Unparsed, socket: Duplex): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    const newest = this.exchanges.get(socket);
    const open = newest?.request.complete === false ? newest : null;
    const asked = open?.request ?? askedIn(error);
    const refusal = refusalOf(error, asked);
    // The connection is broken, or the caller sends plain HTTP to a TLS port.
    if (refusal === null) socket.destroy();
    else if (open?.response.headersSent) endAfter(open.response, socket, '');
    else endAfter(open ? open.before : newest?.response, socket, this.asText(refusal, asked));
  }

  private asText(refusal: DomainError, asked: Asked): string {
    const { status, headers, text } = this.said(refusal, asked);
    const head = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${text}`;
  }
}

/**
 * The framework calls this function before it answers with a text of its own. The framework answers with such a text only when the service's handler
 * fails.
 */
class LastCatch extends LogController {
  constructor(override readonly defaultErrorLog: LogController['defaultErrorLog']) {
    super();
  }
}

/** Wraps a callback of Node. Without the wrapper, an error in the callback would end the process. */
function caught<Args extends unknown[]>(
  call: (...args: Args) => void,
  failed: (error: unknown, ...args: Args) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      call(...args);
    } catch (error) {
      failed(error, ...args);
    }
  };
}

function addressOf({ remoteAddress = '' }: Socket): string {
  return clientAddressOf({ ip: remoteAddress });
}

/** Over TLS, the value equals that of the inner socket. */
function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function cutOff(error: unknown, _cause: unknown, socket: Duplex): void {
  socket.destroy(error as Error);
}

/** Destroys the stream unless the stream closes in time. */
function endSoon(stream: Readable): void {
  const late = setTimeout(() => stream.destroy(), LINGER_MS);
  stream.once('close', () => clearTimeout(late));
}

/** Stops reading on this connection. Earlier requests are answered first. */
function endAfter(before: ServerResponse | undefined, socket: Duplex, last: string): void {
  const end = (): void => {
    endSoon(socket);
    if (socket.writable) socket.end(last);
  };
  if (before === undefined || before.writableFinished) end();
  else before.once('close', end);
}

const NO_PATH = new DomainError('request.invalid', { rule: 'The request target must be a path.' });
const NO_HOST = new DomainError('request.invalid', { rule: 'A request needs one Host header.' });
const UNEXPECTED = new DomainError('request.expectation');
const NO_HTTP = new DomainError('request.invalid', { rule: 'The request is not well-formed HTTP.' });

/** The error of a request that no surface can answer; null for every other request. */
function faultOf({ url = '', rawHeaders, httpVersion }: IncomingMessage): DomainError | null {
  if (!url.startsWith('/')) return NO_PATH;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) return NO_HOST;
  return rawHeaders.reduce((size, text) => size + text.length, url.length) > LARGEST_HEAD ? tooLarge(url) : null;
}

function tooLarge(url: string): DomainError {
  const code = url.length > LARGEST_HEAD / 2 ? 'request.url_too_long' : 'request.headers_too_large';
  return new DomainError(code, atMost('URL with all headers', LARGEST_HEAD));
}

function refusalOf({ code = '' }: Unparsed, { url = '' }: Asked): DomainError | null {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new DomainError('request.timeout');
    case 'HPE_HEADER_OVERFLOW':
      return tooLarge(url);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      // Node sets this limit, and no option changes it.
      return new DomainError('request.too_large', atMost("extensions of the body's chunks", 16_384));
    default:
      return code.startsWith('HPE_') ? NO_HTTP : null;
  }
}

/** The packet may be incomplete, begin within a request or with another request, and contain any bytes. */
function askedIn({ rawPacket, bytesParsed = 0 }: Unparsed): Asked {
  const packet = rawPacket?.toString('latin1') ?? '';
  const before = packet.lastIndexOf('\r\n\r\n', Math.max(bytesParsed - 4, 0));
  const [head = ''] = packet
    .slice(before < 0 ? 0 : before + 4)
    .trimStart()
    .split('\r\n\r\n', 1);
  const lines = head.split('\n');
  // No regular expression is used on a stranger's bytes. An expression that backtracks over spaces takes seconds for 60 kB of spaces.
  const header = (name: string): string | undefined => {
    const value = lines.find((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`);
    const text = value?.slice(name.length + 1).trim();
    return text !== undefined && /^[!-~]+$/.test(text) ? text : undefined;
  };
  return {
    url: /^[^\s:]+ (\/\S*)/.exec(lines[0] ?? '')?.[1] ?? '/',
    headers: { origin: header('origin'), 'x-request-id': header('x-request-id') },
  };
}
