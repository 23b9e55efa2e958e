// The common parts of calls to every vendor.
import type { ActionContext } from '../kernel/context.js';
import type { Environment } from '../kernel/environment.js';
import type { VendorBehaviour } from '../kernel/vendor-behaviour.js';

/** The fields of every call. */
export interface VendorCall {
  /** The service's attempt id, which is the vendor's idempotency key. */
  readonly attemptId: string;
  /** Travels as `X-Request-Id`. */
  readonly correlationId: string;
  /** The id of the vendor to call; absent: the first one of its kind. */
  readonly vendor?: string;
  /** Null only for calls that belong to no account. */
  readonly accountId?: string | null;
  /** The aggregate that makes the call, such as the screening session. */
  readonly aggregateId?: string;
  /** The behaviour that a test account asked its vendor for. A test vendor that knows such wishes follows it; others ignore it. */
  readonly behaviour?: VendorBehaviour;
  /** Test traffic never reaches a real vendor. Live traffic never reaches a sandbox. */
  readonly environment: Environment;
  /** The vault subject whose data the call or its verdict carries. Its data key seals waiting input. Null: nothing is personal. */
  readonly subject: string | null;
  /** Aborted when the time for the verdict is over. The verdict is then `timed-out`, and pending requests are given up. */
  readonly signal?: AbortSignal;
  /** The end of that time, epoch milliseconds. A process that paused can check the clock before its timers run. */
  readonly endsAt?: number;
  /**
   * Receives the end of each exchange: the status of the answer, or a word when no answer came. `retryAfterSeconds` is the pause that a vendor asks
   * for when it is busy or down.
   */
  readonly onEnd?: (end: string, retryAfterSeconds?: number) => void;
  /** The port asks this just before it asks the vendor. False: another process has asked the vendor or will, so this one must not. */
  readonly mayAsk?: () => Promise<boolean>;
}

/** The call of an attempt in the given context, about the person behind `subject`. */
export function vendorCall({
  id: aggregateId,
  attemptId,
  subject,
  context: { correlationId, environment, accountId },
  vendor,
}: {
  readonly id: string;
  readonly attemptId: string;
  readonly subject: string | null;
  readonly context: Pick<ActionContext, 'correlationId' | 'environment' | 'accountId'>;
  readonly vendor?: string | undefined;
}): VendorCall {
  if (environment === null) throw new Error('A vendor is called for a session, and a session has an environment');
  const ids = { attemptId, correlationId, accountId, aggregateId };
  return { ...ids, environment, subject, ...(vendor !== undefined && { vendor }) };
}

/**
 * The vendor's treatment of a second request for one attempt. `at-most-once`: a second request must not be sent. An aggregate reserves an attempt
 * once, the call is made once, and its result is queried. `idempotent`: the idempotency key makes a second request harmless. The vendor executes the
 * first and gives the same answer again. `query`: a request changes nothing.
 */
export type DeliverySemantics = 'at-most-once' | 'idempotent' | 'query';

/** The vendor cannot answer now. Nothing was decided and, for `unavailable`, nothing was executed. */
export type NoVerdict =
  /** The vendor refused the connection, answered 503, or is known not to have executed the call. */
  | { readonly kind: 'unavailable' }
  /** No complete answer came within the time limit. The vendor may have executed the call. */
  | { readonly kind: 'timed-out' }
  /** The answer cannot be classified (not JSON, a redirect, an unknown code). The vendor may have executed the call. */
  | { readonly kind: 'unintelligible' };
