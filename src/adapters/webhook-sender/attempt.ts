// One attempt: it sends the request, collects the answer and gives the verdict exactly once.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { WebhookAnswer, WebhookErrorCode } from '../../ports/webhook-sender.js';
import { EXCERPT_BYTES, excerptOf } from './excerpt.js';
import { NotConnected, notConnected } from './failures.js';

const NO_CONTENT = 204;
/** Only these redirects name another address. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Interim answers (1xx) are read up to this size. Beyond this size, reading stops until the time limit ends the attempt. */
const INTERIM_BYTES = 65_536;

/** One connection to the receiver. */
export interface Way {
  readonly request: ClientRequest;
  readonly body: Uint8Array;
  /** The time limit for connecting, including TLS, in milliseconds. */
  readonly connectMs: number;
  permits(remoteAddress: string): boolean;
  /**
   * Called when the connection ended before the first byte of an answer. The request may then use another connection, and the result is then true.
   * `failure` is null for a reused connection, which may have ended for a reason of its own.
   */
  another(failure: NotConnected | null): boolean;
  /** Called when no answer arrived. */
  failed(): void;
}

export class Attempt {
  readonly answer: Promise<WebhookAnswer>;
  private readonly startedAt = performance.now();
  private resolve!: (answer: WebhookAnswer) => void;
  private reject!: (bug: unknown) => void;
  private way: Way | null = null;
  private settled = false;
  private httpStatus: number | null = null;
  /** The body received so far. A short answer consists of one chunk. */
  private body: Buffer | null = null;

  constructor(private readonly timeoutMs: number) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get over(): boolean {
    return this.settled;
  }

  get leftMs(): number {
    return this.startedAt + this.timeoutMs - performance.now();
  }

  /** Ends the attempt without an answer. */
  fail(errorCode: WebhookErrorCode): void {
    this.settle(errorCode);
  }

  /** The time limit has passed. The received part is the answer, and the connection is closed. */
  expire(): void {
    if (this.httpStatus === null) this.way?.failed();
    // If the status is not a success, the status is reported instead of the slow body.
    this.settle(this.refusal() ?? 'TIMEOUT');
    this.way?.request.destroy();
  }

  /** A bug is not an answer, so the caller gets the exception. */
  breakOff(bug: unknown): void {
    this.settled = true;
    this.reject(bug);
  }

  take(way: Way): void {
    const { request } = way;
    this.way = way;
    let socket: TLSSocket | null = null;
    let stood = false;
    let readBefore = 0;
    const send = (connected: TLSSocket): void => {
      socket = connected;
      readBefore = connected.bytesRead;
      request.end(way.body);
    };
    request.once('socket', (given: TLSSocket) => {
      stood = given.authorized;
      if (stood) return send(given);
      const limit = setTimeout(() => request.destroy(new NotConnected('TIMEOUT')), way.connectMs);
      request.once('close', () => clearTimeout(limit));
      given.once('secureConnect', () => {
        clearTimeout(limit);
        const address = given.remoteAddress;
        if (address === undefined) request.destroy(new NotConnected('CONNECTION_FAILED'));
        else if (!way.permits(address)) request.destroy(new NotConnected('BLOCKED_ADDRESS'));
        else send(given);
      });
    });
    request.on('information', () => {
      const connected = socket;
      if (connected === null || connected.bytesRead - readBefore <= INTERIM_BYTES) return;
      // The socket is not paused at once, because the parser then resumes it. The socket stays open for reading if the answer has already arrived.
      queueMicrotask(() => this.httpStatus === null && connected.pause());
    });
    // The request asked for no other protocol.
    request.once('upgrade', (_, upgraded) => {
      upgraded.destroy();
      this.broken();
    });
    request.once('response', (response) => this.read(response));
    request.on('error', (error) => {
      if (this.settled) return;
      const failure = socket === null ? notConnected(error) : null;
      const dropped = stood && socket?.bytesRead === readBefore;
      if (!dropped && this.httpStatus === null) way.failed();
      if ((failure !== null || dropped) && way.another(failure)) return;
      this.broken(failure?.errorCode);
    });
  }

  private read(response: IncomingMessage): void {
    this.httpStatus = response.statusCode ?? null;
    // The answer has no body, even if its headers announce one.
    if (this.httpStatus === NO_CONTENT) this.settle(null, true);
    response.on('error', () => this.broken());
    response.on('end', () => this.settle(this.refusal(), true));
    response.on('data', (chunk: Buffer) => {
      if (this.settled) return;
      const missing = EXCERPT_BYTES - (this.body?.byteLength ?? 0);
      const kept = chunk.byteLength > missing ? chunk.subarray(0, missing) : chunk;
      this.body = this.body === null ? kept : Buffer.concat([this.body, kept]);
      if (this.body.byteLength < EXCERPT_BYTES) return;
      this.settle(this.refusal());
      this.way?.request.destroy();
    });
  }

  private broken(errorCode: WebhookErrorCode = 'CONNECTION_FAILED'): void {
    this.settle(this.refusal() ?? errorCode);
  }

  /** The error that the status stands for; null for a success and without a status. */
  private refusal(): WebhookErrorCode | null {
    if (this.httpStatus === null || (this.httpStatus >= 200 && this.httpStatus < 300)) return null;
    return REDIRECTS.has(this.httpStatus) ? 'REDIRECT' : 'HTTP_STATUS';
  }

  /** `complete`: the whole body of the answer was read. */
  private settle(errorCode: WebhookErrorCode | null, complete = false): void {
    if (this.settled) return;
    this.settled = true;
    this.resolve({
      errorCode,
      httpStatus: this.httpStatus,
      latencyMs: Math.round(performance.now() - this.startedAt),
      responseExcerpt: this.body === null ? null : excerptOf(this.body, !complete),
    });
  }
}
