// How the frame calls the platform API. The implementation is api/client.ts.
import type { Refusal } from './wire.js';

export type Answer<Body> =
  | { readonly ok: true; readonly status: number; readonly body: Body }
  | {
      readonly ok: false;
      /** 0: nothing came back: offline, no connection, or not in time. */
      readonly status: number;
      readonly error: Refusal;
      /** From Retry-After. */
      readonly retryAfterSeconds: number | null;
    };

/**
 * Whether the API has judged a call that writes. One that it has not judged may be made again under its key: it may have been made
 * before, with a reply that never came.
 */
export function isJudged(answer: Answer<unknown>): boolean {
  return answer.ok || (answer.status >= 400 && answer.status < 500 && answer.status !== 401 && answer.status !== 429);
}

export interface Call {
  readonly method: 'GET' | 'POST';
  /** Begins with a slash. */
  readonly path: string;
  readonly body?: object;
  /**
   * Sent as Idempotency-Key: the same for a call that is made again, a new one for a new wish of the person. A POST without one is
   * given one. Null: a POST that asks or is the same however often it is made; the service need not keep its reply.
   */
  readonly key?: string | null;
  readonly timeoutMs?: number;
  /** Not made again after a 504: the vendor may judge it yet, and would judge it twice. */
  readonly judged?: boolean;
}

export interface Api {
  /**
   * Never throws. Renews the token once after a 401, and repeats by itself what is safe to repeat: reads and writes, after
   * a broken connection, a 503 or a 504, a write with the key that it had. Ends early, with status 0, when `signal` says so.
   */
  call<Body>(call: Call, signal?: AbortSignal): Promise<Answer<Body>>;
  /** A report as an HTML document. */
  html(path: string, signal?: AbortSignal): Promise<Answer<string>>;
}
