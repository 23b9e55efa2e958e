// A receiver of webhooks over real HTTPS on loopback, for tests and benchmarks. The receiver runs in their process or
// in a process of its own.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Server, type ServerOptions, createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { type Certificate, CertificateAuthority } from './certificates.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values alternate, as they arrived. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The number of the connection, from 1. */
  readonly connection: number;
}

export interface ReceiverOptions {
  /** Names and IPv4 addresses in its certificate. The default is `receiver.test` and 127.0.0.1. */
  readonly hosts?: readonly string[];
  /** The authority that signs the certificate. By default, the receiver makes an authority of its own. */
  readonly authority?: CertificateAuthority;
  /** The default is a certificate for `hosts` that is valid today. */
  readonly certificate?: Certificate;
  readonly tls?: ServerOptions;
  /** The address to listen on. The default is 127.0.0.1. */
  readonly address?: string;
  readonly port?: number;
  /** Whether requests are kept. The default is true. Benchmarks only count requests. */
  readonly record?: boolean;
}

export interface ReceiverCounts {
  readonly requests: number;
  readonly handshakes: number;
  readonly failedHandshakes: number;
}

/**
 * Compressed in advance, because a receiver that compresses during a request cannot answer other requests in the
 * meantime.
 */
const GZIP_BOMB = zerosCompressed(64);

/** One megabyte of zeros is compressed once and repeated. That takes a tenth of the time. */
function zerosCompressed(megabytes: number): Buffer {
  const zeros = Buffer.alloc(2 ** 20);
  const part = deflateRawSync(zeros, { finishFlush: constants.Z_FULL_FLUSH });
  const tail = Buffer.from('0300'.padEnd(20, '0'), 'hex');
  tail.writeUInt32LE(
    Array(megabytes)
      .fill(zeros)
      .reduce<number>((sum, each: Buffer) => crc32(each, sum), 0),
    2,
  );
  tail.writeUInt32LE(megabytes * zeros.length, 6);
  return Buffer.concat([Buffer.from('1f8b0800000000000003', 'hex'), ...Array<Buffer>(megabytes).fill(part), tail]);
}

/**
 * The request's path says how the receiver answers:
 * - `/status/<code>` and every other path: answers at once, by default with 200.
 * - `/redirect?to=<url>`: 302.
 * - `/delay/<ms>`: 200 after that time.
 * - `/flaky/<n>/<anything>`: 503 for the first n requests to this path, then 200.
 * - `/hang`: never answers. `/drip-headers`, `/drip`: sends a little at a time, for ever. `/drip-then/<code>`: sends
 *   such a body with that status.
 * - `/endless`: 200, and bytes as fast as the sender takes them. `/gzip-bomb`: 64 MB of zeros, compressed.
 * - `/reset`: breaks off before an answer. `/reset-body`: breaks the connection off within a body.
 * - `/say?text=<text>`: 200 with the text.
 * - `/echo`: 200 with the request's body. `/close`: 200, and then closes the connection.
 */
export class HttpsReceiver {
  readonly requests: ReceivedRequest[] = [];
  private counted = 0;
  private handshakes = 0;
  private failedHandshakes = 0;
  private played: string | null = null;
  private readonly sockets = new Map<number, { readonly socket: Socket; readonly number: number }>();
  private readonly flaky = new Map<string, number>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly waiting = new Set<() => void>();
  private connections = 0;

  private constructor(
    private readonly server: Server,
    /** The authority that a sender must trust, as PEM. */
    readonly ca: string,
    private readonly record: boolean,
  ) {
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      const port = socket.remotePort ?? 0;
      this.sockets.set(port, { socket, number: this.connections });
      socket.on('close', () => this.sockets.delete(port));
      socket.on('error', () => undefined);
    });
    server.on('secureConnection', () => (this.handshakes += 1));
    server.on('tlsClientError', () => (this.failedHandshakes += 1));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.receive(request, response));
  }

  static async start(options: ReceiverOptions = {}): Promise<HttpsReceiver> {
    const authority = options.authority ?? new CertificateAuthority();
    const certificate =
      options.certificate ?? authority.issue({ hosts: options.hosts ?? ['receiver.test', '127.0.0.1'] });
    const server = createServer({ ...certificate, keepAliveTimeout: 30_000, ...options.tls });
    const receiver = new HttpsReceiver(server, authority.cert, options.record ?? true);
    server.listen(options.port ?? 0, options.address ?? '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get counts(): ReceiverCounts {
    return { requests: this.counted, handshakes: this.handshakes, failedHandshakes: this.failedHandshakes };
  }

  /** The address of a path, at a name or an IPv4 address that the certificate covers. */
  url(path = '/', host = '127.0.0.1'): string {
    return `https://${host}:${this.port}${path}`;
  }

  /** From now on every request counts as a request to this path. After null, the path of each request counts again. */
  play(path: string | null): void {
    this.played = path;
  }

  /** Resolves when this number of requests has arrived since the start. */
  async received(count: number): Promise<void> {
    while (this.counted < count) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  /** Stops listening and disconnects every client that still waits. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const { socket } of this.sockets.values()) socket.destroy();
    await closed;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    response.on('error', () => undefined);
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      this.counted += 1;
      if (this.record) this.keep(request, body);
      for (const resolve of this.waiting) resolve();
      this.waiting.clear();
      this.answer(this.played ?? request.url ?? '/', request, response, body);
    });
  }

  private keep(request: IncomingMessage, body: Buffer): void {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const connection = this.sockets.get(request.socket.remotePort ?? 0)?.number ?? 0;
    this.requests.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers,
      rawHeaders: request.rawHeaders,
      body,
      connection,
    });
  }

  private answer(url: string, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { pathname, searchParams } = new URL(url, 'https://receiver.test');
    const [, behaviour = '', value = ''] = pathname.split('/');
    switch (behaviour) {
      case 'status':
        // A status without a body must not have a length. The length is sent only on request.
        if (value === '204' && searchParams.has('length'))
          response.setHeader('content-length', searchParams.get('length') ?? '');
        return end(response, Number(value), `status ${value}`);
      case 'redirect':
        response.setHeader('location', searchParams.get('to') ?? '/');
        return end(response, 302, 'elsewhere');
      case 'delay':
        return this.later(Number(value), () => end(response, 200, 'late'));
      case 'flaky': {
        const failed = this.flaky.get(pathname) ?? 0;
        this.flaky.set(pathname, failed + 1);
        return failed < Number(value) ? end(response, 503, 'not yet') : end(response, 200, 'received');
      }
      case 'hang':
        return;
      case 'drip-headers':
        request.socket.write('HTTP/1.1 200 OK\r\n');
        return this.drip(request.socket, 'x-drip: 1\r\n');
      case 'drip':
        response.writeHead(200, { 'content-type': 'text/plain' });
        return this.drip(response, '.');
      case 'drip-then':
        response.writeHead(Number(value), { 'content-type': 'text/plain' });
        return this.drip(response, '.');
      case 'endless':
        response.writeHead(200, { 'content-type': 'text/plain' });
        return flood(response, 'all is well ');
      case 'gzip-bomb':
        response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
        return void response.end(GZIP_BOMB);
      case 'reset':
        return this.reset(request);
      case 'reset-body':
        response.writeHead(200, { 'content-length': '100' });
        response.write('half of it', () => this.reset(request));
        return;
      case 'say':
        return end(response, 200, searchParams.get('text') ?? '');
      case 'echo':
        return end(response, 200, body);
      case 'close':
        response.setHeader('connection', 'close');
        return end(response, 200, 'received');
      default:
        return end(response, 200, 'received');
    }
  }

  private later(delayMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      work();
    }, delayMs);
    this.timers.add(timer);
  }

  private drip(sink: Socket | ServerResponse, drop: string): void {
    sink.write(drop);
    const timer = setInterval(() => sink.write(drop), 10);
    this.timers.add(timer);
    sink.on('close', () => clearInterval(timer));
  }

  /** Breaks the connection like a machine that loses power, without a TLS goodbye. */
  private reset(request: IncomingMessage): void {
    this.sockets.get(request.socket.remotePort ?? 0)?.socket.resetAndDestroy();
  }
}

function end(response: ServerResponse, status: number, body: string | Buffer): void {
  response.statusCode = status;
  if (status === 204 || status === 304) return void response.end();
  response.setHeader('content-type', 'text/plain');
  // The length tells both sides at once where the body ends.
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}

function flood(response: ServerResponse, text: string): void {
  const block = Buffer.from(text.repeat(1_000));
  const more = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', more);
  more();
}

/** A receiver in its own process, so that it does not share a thread with the sender. */
export class HttpsReceiverProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly ca: string,
    readonly port: number,
  ) {}

  static async start(options: Pick<ReceiverOptions, 'hosts' | 'port' | 'address'> = {}): Promise<HttpsReceiverProcess> {
    const file = fileURLToPath(import.meta.url);
    const execArgv = file.endsWith('.ts') ? ['--import', new URL('typescript.js', import.meta.url).href] : [];
    const child = fork(file, [JSON.stringify(options)], { execArgv, env: { ...process.env, NODE_OPTIONS: '' } });
    const [{ ca, port }] = (await once(child, 'message')) as [{ ca: string; port: number }];
    return new HttpsReceiverProcess(child, ca, port);
  }

  url(path = '/', host = '127.0.0.1'): string {
    return `https://${host}:${this.port}${path}`;
  }

  /**
   * Like `HttpsReceiver.play`. The setting takes effect when the promise resolves. Only one question may be open at a
   * time.
   */
  async play(path: string | null): Promise<void> {
    await this.ask({ play: path });
  }

  counts(): Promise<ReceiverCounts> {
    return this.ask({});
  }

  async close(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.disconnect();
    await exited;
  }

  private async ask(question: { readonly play?: string | null }): Promise<ReceiverCounts> {
    const answered = once(this.child, 'message');
    this.child.send(question);
    const [counts] = (await answered) as [ReceiverCounts];
    return counts;
  }
}

async function main(): Promise<void> {
  const receiver = await HttpsReceiver.start({
    ...(JSON.parse(process.argv[2] ?? '{}') as ReceiverOptions),
    record: false,
  });
  process.on('message', (question: { readonly play?: string | null }) => {
    if (question.play !== undefined) receiver.play(question.play);
    process.send?.(receiver.counts);
  });
  process.on('disconnect', () => void receiver.close());
  process.send?.({ ca: receiver.ca, port: receiver.port });
}

if (process.send !== undefined && import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void main();
