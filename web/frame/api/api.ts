// The interface for the frame's calls to the platform API. The implementation is in api/client.ts.
import type { Refusal } from './wire.js';

export type Answer<Body> =
  | { readonly ok: true; readonly status: number; readonly body: Body }
  | {
      readonly ok: false;
      /** The value 0 means that no reply arrived: the browser is offline, the connection failed, or the time limit has passed. */
      readonly status: number;
      readonly error: Refusal;
      /** From Retry-After. */
      readonly retryAfterSeconds: number | null;
    };

/**
 * Whether the API has decided about a write. An undecided write may be repeated under its key. The API may already have executed it, although its
 * reply never arrived.
 */
export function isJudged(answer: Answer<unknown>): boolean {
  return answer.ok || (answer.status >= 400 && answer.status < 500 && answer.status !== 401 && answer.status !== 429);
}

export interface Call {
  readonly method: 'GET' | 'POST';
  /** The path begins with a slash. */
  readonly path: string;
  readonly body?: object;
  /**
   * The Idempotency-Key. A repeated call keeps its key, and a new action of the person has a new key. A POST without a key gets one. Null: a POST
   * that changes nothing, or may be repeated without harm, so the service need not store its reply.
   */
  readonly key?: string | null;
  readonly timeoutMs?: number;
  /** Not repeated after a 504, because the vendor may still judge the first call and would judge the call twice. */
  readonly judged?: boolean;
}

export interface Api {
  /**
   * Never throws. Renews the token once after a 401. Repeats reads and writes after a broken connection, a 503 or a 504; a write keeps its key. Ends
   * early with status 0 when `signal` aborts.
   */
  call<Body>(call: Call, signal?: AbortSignal): Promise<Answer<Body>>;
  /** A report as an HTML document. */
  html(path: string, signal?: AbortSignal): Promise<Answer<string>>;
}
