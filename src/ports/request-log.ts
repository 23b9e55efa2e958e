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
  /** The error code of the reply, as on the wire; null without an error. */
  readonly code: string | null;
  /** Whole milliseconds. */
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
  /** The oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** The place after the last request that was looked at. A later read goes on from there. */
  readonly next: string;
  /** Whether more requests may stand behind `next`. */
  readonly hasMore: boolean;
}

/**
 * The API requests of each account, for the developers of the account. It holds no personal data and no fact that anything depends on. Each account
 * has its newest 10,000 requests of an environment, and none older than 30 days. It may be lost as a whole.
 */
export abstract class RequestLog {
  /** Never throws and never waits. A request may be lost while the store is away. */
  abstract note(owner: { readonly accountId: string; readonly environment: Environment }, request: LoggedRequest): void;

  /**
   * Requests behind `after`, a `next` of an earlier page; null: the newest ones. With a filter, one read looks at a bounded number of requests, so a
   * page may be empty although more follow. Throws Unavailable.
   */
  abstract read(
    owner: { readonly accountId: string; readonly environment: Environment },
    page: { readonly after: string | null; readonly limit: number; readonly filter: RequestFilter },
  ): Promise<RequestPage>;
}
