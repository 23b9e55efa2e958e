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
  /** `replayed`: an earlier reply was sent again. Null: the request had no idempotency key. */
  readonly idempotency: 'executed' | 'replayed' | null;
}

export interface RequestFilter {
  readonly status?: number;
  readonly route?: string;
}

export interface RequestPage {
  /** Sorted with the oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** The position after the last examined request. A later read continues at this position. */
  readonly next: string;
  /** Whether more requests may follow after `next`. */
  readonly hasMore: boolean;
}

/**
 * The API requests of each account, for the developers of the account. The log contains no personal data, and no decision depends on it. The log
 * keeps the newest 10,000 requests of an account in an environment, and none older than 30 days. The whole log may be lost.
 */
export abstract class RequestLog {
  /** Never throws and never waits. A request may be missing when the store was unavailable. */
  abstract note(owner: { readonly accountId: string; readonly environment: Environment }, request: LoggedRequest): void;

  /**
   * Requests after `after`, which is a `next` of an earlier page; null means the newest. With a filter, one read examines a limited number of
   * requests, so a page may be empty although more follow. Throws Unavailable.
   */
  abstract read(
    owner: { readonly accountId: string; readonly environment: Environment },
    page: { readonly after: string | null; readonly limit: number; readonly filter: RequestFilter },
  ): Promise<RequestPage>;
}
