// One HTTP exchange with a vendor, and its possible ends. Every vendor's adapter uses this class, and interprets the answers itself.
import type { Pool } from 'undici';
import { limited, within } from '../kernel/with-timeout.js';
import type { NoVerdict, VendorCall } from '../ports/vendor-call.js';
import { type VendorAnswer, answerOf, fromGateway } from './answer.js';
import { behaviourHeader, failureOf, poolOf, retryAfterOf } from './connection.js';

export interface VendorHttpOptions {
  /** The address of the vendor. If it has a path, the path is the prefix of every request's path. */
  readonly baseUrl: string;
  readonly credential: string;
  /** The milliseconds of the whole exchange: wait for a connection, connecting, headers, body, and a repeat when the first outcome is unknown. */
  readonly timeoutMs: number;
  /** The largest number of connections. The default is 128. */
  readonly connections?: number;
}

export type Exchange =
  | { readonly end: 'answered'; readonly answer: VendorAnswer }
  | { readonly end: 'unusable' }
  | { readonly end: 'not-sent' }
  /** The exchange was interrupted, was invalid below HTTP, or was lost behind a gateway, when the vendor might already have read the request. */
  | { readonly end: 'ambiguous' }
  | { readonly end: 'timed-out' };

/** The verdict for a call without an answer. */
export function withoutAnswer({ end }: Exclude<Exchange, { readonly end: 'answered' }>): NoVerdict | 'ambiguous' {
  switch (end) {
    case 'ambiguous':
      return 'ambiguous';
    case 'unusable':
      return { kind: 'unintelligible' };
    case 'not-sent':
      return { kind: 'unavailable' };
    case 'timed-out':
      return { kind: 'timed-out' };
    default:
      return end satisfies never;
  }
}

/** The signal for the time limit of an exchange. */
export type Limit = AbortSignal;

const SMALL_ANSWER_BYTES = 256 * 1_024;

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Sends each request once. Follows no redirect, limits what it reads and keeps connections open. Returns failures as values. Logs nothing. */
export class VendorHttp {
  private readonly pool: Pool;
  private readonly prefix: string;
  private readonly authorization: string;
  private readonly timeoutMs: number;

  /** `api` is the beginning of every path. `maxAnswerBytes` is 256 kB by default. */
  constructor(options: VendorHttpOptions, api: string, maxAnswerBytes = SMALL_ANSWER_BYTES) {
    const { origin, pathname } = new URL(options.baseUrl);
    this.prefix = pathname.replace(/\/+$/, '') + api;
    this.authorization = `Bearer ${options.credential}`;
    this.timeoutMs = options.timeoutMs;
    this.pool = poolOf(origin, options.connections ?? 128, options.timeoutMs, maxAnswerBytes);
  }

  /** Runs the exchanges of a call within one time limit. The call's signal may end the exchanges earlier. */
  withinLimit<Value>({ signal }: VendorCall, work: (limit: Limit) => Promise<Value>): Promise<Value> {
    return limited(this.timeoutMs, signal, work);
  }

  get(call: VendorCall, path: string, limit: Limit): Promise<Exchange> {
    const request = { method: 'GET', path: this.prefix + path, headers: this.headers(call), body: null } as const;
    return this.exchange(call, request, limit);
  }

  /** The attempt's id is the idempotency key. */
  post(call: VendorCall, path: string, body: object, limit: Limit): Promise<Exchange> {
    const headers = { ...this.headers(call), 'content-type': 'application/json', 'idempotency-key': call.attemptId };
    const request = { method: 'POST', path: this.prefix + path, headers, body: JSON.stringify(body) } as const;
    return this.exchange(call, request, limit);
  }

  /** Lets calls in progress end, each within its time limit. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  /** The limit ends the exchange at once. The pool may keep an aborted request until a connection is free, and then drops it unsent. */
  private async exchange(call: VendorCall, request: Request, limit: Limit): Promise<Exchange> {
    const exchange = await within(limit, this.request(request, limit), () => ({ end: 'timed-out' }) as const);
    if (exchange.end === 'answered') call.onEnd?.(String(exchange.answer.status), exchange.answer.retryAfterSeconds);
    else call.onEnd?.(exchange.end);
    return exchange;
  }

  private async request(request: Request, limit: Limit): Promise<Exchange> {
    try {
      const response = await this.pool.request({ ...request, signal: limit });
      const answer = answerOf(response.statusCode, await response.body.text());
      if (fromGateway(answer)) return { end: 'ambiguous' };
      const retryAfterSeconds = retryAfterOf(response);
      return { end: 'answered', answer: { ...answer, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } };
    } catch (error) {
      return limit.aborted ? { end: 'timed-out' } : { end: failureOf(error) };
    }
  }

  private headers(call: VendorCall): Record<string, string> {
    return {
      authorization: this.authorization,
      accept: 'application/json',
      'x-request-id': call.correlationId,
      ...behaviourHeader(call),
    };
  }
}
