// One HTTP exchange with a vendor, and how it can end. Used by the `http` adapter of every vendor; what answers mean is theirs.
import type { Pool } from 'undici';
import { limited, within } from '../kernel/with-timeout.js';
import type { NoVerdict, VendorCall } from '../ports/vendor-call.js';
import { type VendorAnswer, answerOf, fromGateway } from './answer.js';
import { failureOf, poolOf, retryAfterOf } from './connection.js';

export interface VendorHttpOptions {
  /** Address of the vendor; a path in it is kept as prefix. */
  readonly baseUrl: string;
  readonly credential: string;
  /** Milliseconds over the whole exchange: queueing for a connection, connecting, headers and body, and what is sent after an ambiguous end. */
  readonly timeoutMs: number;
  /** Connections at most; default 128. */
  readonly connections?: number;
}

export type Exchange =
  | { readonly end: 'answered'; readonly answer: VendorAnswer }
  | { readonly end: 'unusable' }
  | { readonly end: 'not-sent' }
  /** Broken off, garbled below HTTP, or lost behind a gateway, after the request may have been read. */
  | { readonly end: 'ambiguous' }
  | { readonly end: 'timed-out' };

/** What is known of a call that got no answer. */
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

/** The signal of the time limit under which an exchange runs. */
export type Limit = AbortSignal;

const SMALL_ANSWER_BYTES = 256 * 1_024;

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Sends what it is told to send, once. Follows no redirect, reads up to a fixed size, keeps connections alive. Trouble is
 * an end, never an exception. Logs nothing.
 */
export class VendorHttp {
  private readonly pool: Pool;
  private readonly prefix: string;
  private readonly authorization: string;
  private readonly timeoutMs: number;

  /** `api` begins every path. `maxAnswerBytes` is 256 kB unless told. */
  constructor(options: VendorHttpOptions, api: string, maxAnswerBytes = SMALL_ANSWER_BYTES) {
    const { origin, pathname } = new URL(options.baseUrl);
    this.prefix = pathname.replace(/\/+$/, '') + api;
    this.authorization = `Bearer ${options.credential}`;
    this.timeoutMs = options.timeoutMs;
    this.pool = poolOf(origin, options.connections ?? 128, options.timeoutMs, maxAnswerBytes);
  }

  /** Runs the exchanges of a call under one time limit, which ends earlier when the call's signal says so. */
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

  /** Lets calls under way end, each within its time limit. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  /** The pool lets an aborted request wait for a connection before it gives it up unsent; the limit does not wait for that. */
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
    return { authorization: this.authorization, accept: 'application/json', 'x-request-id': call.correlationId };
  }
}
