import type { Environment } from '../kernel/environment.js';

/** A request that carries an `Idempotency-Key`, as far as it decides whether two requests are one. */
export interface KeyedRequest {
  readonly accountId: string;
  readonly environment: Environment;
  /** Of a page: its session grant, or else the lineage of its token. Null for servers and dashboard users, who are counted by account. */
  readonly visitor: string | null;
  /** Method, route, the route's parameters and the visitor: the same key on another route, for another thing or of another visitor is another key. */
  readonly route: string;
  /** As the caller chose it: 1 to 255 characters. */
  readonly key: string;
  /** What the caller asks for, in a canonical form. Personal data: only a keyed hash of it is ever kept. */
  readonly content: string;
}

/** A reply as it went out. */
export interface KeptReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** The right and the duty to execute a request. Until `keep` or `release` others with the same key wait for it. */
export interface Execution {
  /**
   * A UUID that names what this execution makes, from a keyed hash of account, environment, route, key, content and first use. An execution
   * that takes over from one whose process died has the same, so that what is named after it is made once; after a
   * `release` the next has another, because a failure was told and a retry is to start anew.
   */
  readonly scope: string;

  /** False after an execution that failed or died, which may have done something. */
  readonly first: boolean;

  /**
   * Keeps the reply for everybody who asks again, encrypted, for its time, or until the person is erased whom it concerns: `subject` is
   * their vault subject, null where the reply says nothing personal. Throws Unavailable within seconds when the reply cannot be kept now;
   * keeping it is then tried further in the background for a minute, and the others wait that long.
   */
  keep(reply: KeptReply, subject: string | null): Promise<Keeping>;

  /**
   * Keeps nothing: the next request with the key executes. `forget`: nothing was done, so the key binds no content either.
   * Throws Unavailable within seconds; the lease then runs out by itself.
   */
  release(forget: boolean): Promise<void>;
}

export type Keeping =
  | 'kept'
  /** The visitor or account has as many kept replies as it may. Only twins that wait now get this one. */
  | 'beyond-cap'
  /** Another execution has taken over meanwhile; its reply counts. */
  | 'overtaken';

export type Beginning =
  /** The request was not executed, or the process that executed it released it or died. */
  | { readonly kind: 'execute'; readonly execution: Execution }
  /** It was executed; this is what was answered. */
  | { readonly kind: 'replay'; readonly reply: KeptReply }
  /** It was executed, but what was answered can be read no more: the person was erased. */
  | { readonly kind: 'gone' }
  /** The key was used with other content, or by an earlier version whose reply can be read no more: nothing is executed. */
  | { readonly kind: 'reused' }
  /** A twin was still executing when the time for waiting was over. */
  | { readonly kind: 'busy' };

/**
 * Remembers, for an hour for visitors and else for 24 hours, which keyed requests were executed and what was answered
 * (docs/contract/general.md#idempotency-keys).
 *
 * Of any number of requests with one key at one time, in whatever processes, exactly one executes; the others wait, at
 * most 25 s, for the outcome. The process that executes holds a lease that is renewed while it lives; when its process
 * dies, the next one takes over after at most 10 s. The content of the first use binds the key for its time,
 * unless the execution is forgotten. Keys, contents and replies cannot be read where they are kept. Nothing is logged.
 */
export abstract class IdempotencyRecords {
  /** Throws Unavailable within seconds when it cannot tell: a request must then not be executed. */
  abstract begin(request: KeyedRequest): Promise<Beginning>;
}
