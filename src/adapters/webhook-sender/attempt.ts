// One request on its way: collects what comes back and gives the verdict, exactly once.
import { type Dispatcher, errors } from 'undici';
import type { WebhookAnswer, WebhookErrorCode } from '../../ports/webhook-sender.js';
import { EXCERPT_BYTES, excerptOf } from './excerpt.js';
import { NotConnected } from './failures.js';

/** Ends an exchange whose outcome is known, together with its connection. */
class Enough extends Error {
  override readonly name = 'Enough';
}

const NO_CONTENT = 204;
/** The others between 300 and 399 name no other address. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const ENOUGH = new Enough('nothing more is wanted of this exchange');

export class Attempt implements Dispatcher.DispatchHandler {
  readonly answer: Promise<WebhookAnswer>;
  /** Called when no connection could be made, before a verdict; true when it found another way. */
  onNotConnected: ((failure: NotConnected) => boolean) | null = null;

  /** Called when its connection has done with it, however it ended; after that it may be given to another. */
  onFree: (() => void) | null = null;

  private readonly startedAt = performance.now();
  private resolve!: (answer: WebhookAnswer) => void;
  private reject!: (bug: unknown) => void;
  private controller: Dispatcher.DispatchController | null = null;
  private settled = false;
  private httpStatus: number | null = null;
  /** The body so far; of a short answer the one chunk that it came in. */
  private body: Buffer | null = null;

  constructor() {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get over(): boolean {
    return this.settled;
  }

  /** Ends it without an answer. */
  fail(errorCode: WebhookErrorCode): void {
    this.settle(errorCode);
  }

  /** The limit is reached: the answer is what is known, and the connection goes. */
  expire(): void {
    if (this.settled) return;
    // An answer that is no success says more than the slowness of its body.
    this.settle(this.refusal() ?? 'TIMEOUT');
    this.controller?.abort(ENOUGH);
  }

  /** A bug is no answer: the caller gets the exception. */
  breakOff(bug: unknown): void {
    this.settled = true;
    this.reject(bug);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, it leaves the connection to the next request; aborted, it would close it.
    if (this.settled) throw ENOUGH;
    this.controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    if (statusCode < 200) return;
    this.httpStatus = statusCode;
    // It has no body, whatever its headers promise.
    if (statusCode === NO_CONTENT) this.settle(null, true);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    const missing = EXCERPT_BYTES - (this.body?.byteLength ?? 0);
    const kept = chunk.byteLength > missing ? chunk.subarray(0, missing) : chunk;
    this.body = this.body === null ? kept : Buffer.concat([this.body, kept]);
    if (this.body.byteLength < EXCERPT_BYTES) return;
    this.settle(this.refusal());
    controller.abort(ENOUGH);
  }

  onResponseEnd(): void {
    this.onFree?.();
    this.settle(this.refusal(), true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.onFree?.();
    if (this.settled) return;
    // A header that cannot be sent is a fault of this program.
    if (error instanceof errors.InvalidArgumentError) return this.breakOff(error);
    if (!(error instanceof NotConnected)) return this.settle(this.refusal() ?? 'CONNECTION_FAILED');
    if (this.onNotConnected?.(error) !== true) this.settle(error.errorCode);
  }

  /** What the status says: null of a success, and of no status. */
  private refusal(): WebhookErrorCode | null {
    if (this.httpStatus === null || (this.httpStatus >= 200 && this.httpStatus < 300)) return null;
    return REDIRECTS.has(this.httpStatus) ? 'REDIRECT' : 'HTTP_STATUS';
  }

  /** `complete`: the answer's body came to its end. */
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
