import type { Environment } from '../kernel/environment.js';

export interface LoggedRequest {
  /** The time of the reply, ISO 8601 UTC. */
  readonly at: string;
  /** `Service-Request-Id` on the wire. */
  readonly requestId: string;
  readonly method: string;
  /** The template of the route, without the values of its parameters. */
  readonly route: string;
  readonly status: number;
  /** The error code of the reply, in its wire form; null without an error. */
  readonly code: string | null;
  /** In whole milliseconds. */
  readonly durationMs: number;
  /** The id of the caller's key; null for a dashboard user. */
  readonly keyId: string | null;
  /** `replayed`: an earlier reply was sent again. `refused`: the key could not be used. Null: the request had no idempotency key. */
  readonly idempotency: 'executed' | 'replayed' | 'refused' | null;
}

export interface PlacedRequest extends LoggedRequest {
  /** The place in its share, `<milliseconds since 1970>-<number>`. */
  readonly place: string;
}

/** The requests after a place, or before a place. Null stands for the end of the log. */
export type RequestRange = { readonly after: string } | { readonly before: string | null };

/** A share of the log. Pages are open to everyone, so their requests cannot replace those of servers and dashboard users. */
export interface RequestShare {
  readonly accountId: string;
  readonly environment: Environment;
  readonly callers: 'servers' | 'pages';
}

/**
 * The API requests of each account, for the developers of the account. The log contains no personal data, and no decision depends on it. In each
 * environment of an account, the log keeps the newest 10,000 requests of servers and the newest 5,000 of pages. It keeps none older than 30 days.
 * The whole log may be lost.
 */
export abstract class RequestLog {
  /** Never throws and never waits. A request may be missing when the store was unavailable. */
  abstract note(share: RequestShare, request: LoggedRequest): void;

  /** The `count` requests that are next to the place, the oldest first. Omits requests of more than 30 days ago. Throws Unavailable. */
  abstract read(share: RequestShare, range: RequestRange, count: number): Promise<readonly PlacedRequest[]>;
}
