import type { Environment } from '../kernel/environment.js';

/** The parts of a request with an `Idempotency-Key` that decide whether two requests are the same. */
export interface KeyedRequest {
  readonly accountId: string;
  readonly environment: Environment;
  /** The session grant of a page, or else the lineage of its token. Null for servers and dashboard users, who are counted by account. */
  readonly visitor: string | null;
  /** Method, route, route parameters and visitor. A key counts as a different key on another route, for another object or from another visitor. */
  readonly route: string;
  /** The caller's choice: 1 to 255 characters. */
  readonly key: string;
  /** The request in a canonical form. A request is personal data, so only a keyed hash of it is stored. */
  readonly content: string;
}

/** A reply as it was sent. */
export interface KeptReply {
  readonly status: number;
  /** The error code of the reply, in its wire form. Absent without an error. */
  readonly code?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The right and the duty to execute a request. Until `keep` or `release`, other requests with the same key wait. */
export interface Execution {
  /**
   * A UUID that names the results of this execution, from a keyed hash of account, environment, route, key, content and first use. An execution that
   * takes over from a dead process has the same UUID, so its results are made once. After a `release` the next execution has another UUID, because a
   * failure was reported and the retry is a new execution.
   */
  readonly scope: string;

  /** False after an execution that failed or died. The earlier execution may have had effects. */
  readonly first: boolean;

  /**
   * Keeps the reply, encrypted, for later requests. The reply is kept for its time, or until the person with the vault subject `subject` is erased
   * (null: the reply is not personal). Throws Unavailable within seconds when the reply cannot be kept now. Keeping the reply is then retried in the
   * background for a minute, and other requests wait that long.
   */
  keep(reply: KeptReply, subject: string | null): Promise<Keeping>;

  /**
   * Keeps no reply, so the next request with the key executes. `forget`: the execution had no effect, so the key can be used with other content.
   * Throws Unavailable within seconds, and the lease then expires.
   */
  release(forget: boolean): Promise<void>;
}

export type Keeping =
  | 'kept'
  /** The visitor or account has the maximum number of kept replies. Only requests that wait now get this reply. */
  | 'beyond-cap'
  /** Another execution has taken over in the meantime. The reply of that execution is used. */
  | 'overtaken';

export type Beginning =
  /** The request was not executed, or the process that executed it released it or died. */
  | { readonly kind: 'execute'; readonly execution: Execution }
  /** The request was executed; this is its reply. */
  | { readonly kind: 'replay'; readonly reply: KeptReply }
  /** The request was executed, but its reply can no longer be read, because the person was erased. */
  | { readonly kind: 'gone' }
  /** The key was used with other content, or by an earlier version whose reply can no longer be read. The request is not executed. */
  | { readonly kind: 'reused' }
  /** Another request with the key was still executing at the end of the wait. */
  | { readonly kind: 'busy' };

/**
 * Remembers which keyed requests were executed and their replies, for an hour for visitors and otherwise for 24 hours
 * (docs/contract/general.md#idempotency-keys).
 *
 * When several requests with one key run at once, in any processes, exactly one executes. The others wait for the outcome, at most 25 s. The
 * executing process has a lease and renews it while it runs. When the process dies, another process takes over after at most 10 s. The key can be
 * used only with the content of its first use, unless the execution is forgotten. Stored keys, contents and replies cannot be read. Nothing is
 * logged.
 */
export abstract class IdempotencyRecords {
  /** Throws Unavailable within seconds when it cannot decide. The request must then not be executed. */
  abstract begin(request: KeyedRequest): Promise<Beginning>;
}
