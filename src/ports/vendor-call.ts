// The common parts of calls to every vendor.
import type { AnsweredCall } from '../kernel/answered-call.js';
import type { ActionContext } from '../kernel/context.js';
import type { Environment } from '../kernel/environment.js';
import type { UserAction } from '../kernel/user-action.js';
import type { VendorBehaviour } from '../kernel/vendor-behaviour.js';

/** The fields of every call. */
export interface VendorCall {
  /** The service's attempt id, which is the vendor's idempotency key. */
  readonly attemptId: string;
  /** Sent as `X-Request-Id`. */
  readonly correlationId: string;
  /** The id of the vendor that is called. If it is absent, the first vendor of the kind is called. */
  readonly vendor?: string;
  /** Null only for calls that belong to no account. */
  readonly accountId?: string | null;
  /** The aggregate that makes the call, such as the screening session. */
  readonly aggregateId?: string;
  /** The behaviour that a test account has set for its vendor. Test vendors that support the behaviour follow it, and other vendors ignore it. */
  readonly behaviour?: VendorBehaviour;
  /** Test traffic never reaches a real vendor. Live traffic never reaches a sandbox. */
  readonly environment: Environment;
  /**
   * The vault subject whose data the call or its verdict contains. The subject's data key encrypts waiting input. Null means that no data are
   * personal.
   */
  readonly subject: string | null;
  /** Aborted when the time limit for the verdict has passed. The verdict is then `timed-out`, and pending requests are given up. */
  readonly signal?: AbortSignal;
  /** The end of that time, epoch milliseconds. A process that was suspended can check the clock before its timers run. */
  readonly endsAt?: number;
  /**
   * Receives the end of each exchange: the status of the answer, or a word when no answer came. The end of a token request begins with `token-`, and
   * the end of a poll with `poll-`. `retryAfterSeconds` is the pause that a vendor demands when it is busy or down.
   */
  readonly onEnd?: (end: string, retryAfterSeconds?: number) => void;
  /** Receives how the vendor answered, once for each call of an operation. */
  readonly onAnswer?: (answer: AnsweredCall) => void;
  /**
   * The port calls this function immediately before it calls the vendor. False means that another process has called or will call the vendor, so this
   * process must not.
   */
  readonly mayAsk?: () => Promise<boolean>;
}

/** The call of an attempt in the given context, about the person with the vault subject `subject`. The context remembers the vendor's answer. */
export function vendorCall({
  id: aggregateId,
  attemptId,
  subject,
  context: { correlationId, environment, accountId, answered },
  vendor,
}: {
  readonly id: string;
  readonly attemptId: string;
  readonly subject: string | null;
  readonly context: Pick<ActionContext, 'correlationId' | 'environment' | 'accountId' | 'answered'>;
  readonly vendor?: string | undefined;
}): VendorCall {
  if (environment === null) throw new Error('A vendor is called for a session, and a session has an environment');
  const ids = { attemptId, correlationId, accountId, aggregateId };
  const onAnswer = answered && { onAnswer: (answer: AnsweredCall) => void (answered.answer = answer) };
  return { ...ids, environment, subject, ...(vendor !== undefined && { vendor }), ...onAnswer };
}

/**
 * How the vendor handles a second request for one attempt. `at-most-once`: a second request must not be sent. An aggregate reserves an attempt once,
 * the call is made once, and its result is queried. `idempotent`: the idempotency key makes a second request harmless. The vendor executes the first
 * request and repeats its answer. `query`: a request changes nothing.
 */
export type DeliverySemantics = 'at-most-once' | 'idempotent' | 'query';

/** The person must act at the vendor, at the latest until `until`. A vendor that sets no end gets one from its folder. */
export interface NeedsUser extends UserAction {
  readonly kind: 'needs-user';
}

/** The vendor cannot answer now. Nothing was decided and, for `unavailable`, nothing was executed. */
export type NoVerdict =
  /**
   * The vendor refused the connection, answered 503, or is known not to have executed the call. `retryAfterSeconds` is the pause that a busy vendor
   * demands before the next call, from 1 to 600 seconds.
   */
  | { readonly kind: 'unavailable'; readonly retryAfterSeconds?: number }
  /** No complete answer came within the time limit. The vendor may have executed the call. */
  | { readonly kind: 'timed-out' }
  /** The answer cannot be classified (not JSON, a redirect, an unknown code). The vendor may have executed the call. */
  | { readonly kind: 'unintelligible' };
