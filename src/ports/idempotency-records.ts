import type { Environment } from '../kernel/environment.js';

/** The parts of a request with an `Idempotency-Key` that decide whether two requests are the same. */
export interface KeyedRequest {
  readonly accountId: string;
  readonly environment: Environment;
  /** The session grant of a page, or else the lineage of its token. Null for servers and dashboard users, who are counted by account. */
  readonly visitor: string | null;
  /** Method, route, route parameters and visitor. The same key on another route, for another object or from another visitor is another key. */
  readonly route: string;
  /** The caller's choice: 1 to 255 characters. */
  readonly key: string;
  /** The request in a canonical form. Personal data: only a keyed hash of it is kept. */
  readonly content: string;
}

/** A reply as it was sent. */
export interface KeptReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The right and the duty to execute a request. Until `keep` or `release`, other requests with the same key wait for it. */
export interface Execution {
  /**
   * A UUID that names the results of this execution, from a keyed hash of account, environment, route, key, content and first use. An execution that
   * takes over from a dead process has the same one, so its results are made once. After a `release` the next execution has another one, because a
   * failure was reported and a retry starts afresh.
   */
  readonly scope: string;

  /** False after an execution that failed or died. That one may have had effects. */
  readonly first: boolean;

  /**
   * Keeps the reply, encrypted, for later requests. It is kept for its time, or until the person with the vault subject `subject` is erased (null:
   * the reply is not personal). Throws Unavailable within seconds when the reply cannot be kept now. Keeping it is then retried in the background for
   * a minute, and other requests wait that long.
   */
  keep(reply: KeptReply, subject: string | null): Promise<Keeping>;

  /**
   * Keeps no reply, so the next request with the key executes. `forget`: the execution had no effect, so the key binds no content either. Throws
   * Unavailable within seconds. The lease then runs out by itself.
   */
  release(forget: boolean): Promise<void>;
}

export type Keeping =
  | 'kept'
  /** The visitor or account has as many kept replies as it may. Only requests that wait now get this reply. */
  | 'beyond-cap'
  /** Another execution has taken over meanwhile. Its reply counts. */
  | 'overtaken';

export type Beginning =
  /** The request was not executed, or the process that executed it released it or died. */
  | { readonly kind: 'execute'; readonly execution: Execution }
  /** The request was executed; this is its reply. */
  | { readonly kind: 'replay'; readonly reply: KeptReply }
  /** The request was executed, but its reply can no longer be read, because the person was erased. */
  | { readonly kind: 'gone' }
  /** The key was used with other content, or by an earlier version whose reply can no longer be read. Nothing is executed. */
  | { readonly kind: 'reused' }
  /** Another request with the key was still executing at the end of the wait. */
  | { readonly kind: 'busy' };

/**
 * Remembers which keyed requests were executed and their replies, for an hour for visitors and otherwise for 24 hours
 * (docs/contract/general.md#idempotency-keys).
 *
 * When several requests with one key run at once, in any processes, exactly one executes. The others wait for the outcome, at most 25 s. The
 * executing process holds a lease and renews it while it lives. When the process dies, the next one takes over after at most 10 s. The content of the
 * first use binds the key for its time, unless the execution is forgotten. Stored keys, contents and replies cannot be read. Nothing is logged.
 */
export abstract class IdempotencyRecords {
  /** Throws Unavailable within seconds when it cannot decide. The request must then not be executed. */
  abstract begin(request: KeyedRequest): Promise<Beginning>;
}
