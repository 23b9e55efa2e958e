// What calls to every vendor have in common.
import type { ActionContext } from '../kernel/context.js';
import type { Environment } from '../kernel/environment.js';

/** What every call carries. */
export interface VendorCall {
  /** Ours; the vendor's idempotency key. */
  readonly attemptId: string;
  /** Travels as `X-Request-Id`. */
  readonly correlationId: string;
  /** The id of the vendor that is called; absent: the first one of its kind. */
  readonly vendor?: string;
  /** Null only for what belongs to the installation itself. */
  readonly accountId?: string | null;
  /** Of the aggregate that has the call made, such as the screening session. */
  readonly aggregateId?: string;
  /** Test traffic never reaches a real vendor, nor live traffic a sandbox. */
  readonly environment: Environment;
  /** The vault subject whose data the call or its verdict carries: what waits in a queue is sealed under its data key. Null: nothing personal. */
  readonly subject: string | null;
  /** Aborted when the time for the verdict is over: it is `timed-out` then, and what was sent or waits to be sent is given up. */
  readonly signal?: AbortSignal;
  /** Epoch milliseconds of that time: a process that stood still may look at the clock before its timers run. */
  readonly endsAt?: number;
  /**
   * Is told how each exchange ended: the status of the answer, or a word where none came. `retryAfterSeconds`: when a vendor that
   * is busy or down wants to be asked again.
   */
  readonly onEnd?: (end: string, retryAfterSeconds?: number) => void;
  /** Asked by the port just before it asks the vendor. False: another process has asked it or will, and this one must not. */
  readonly mayAsk?: () => Promise<boolean>;
}

/** The call of an attempt within what it belongs to, about the person behind `subject`. */
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
 * What a second request for one attempt is. `at-most-once`: it must not be sent: an aggregate reserves an attempt
 * once, whoever reserved it has it made once, and what came of it is asked. `idempotent`: the
 * idempotency key makes it harmless, the vendor executes it once and answers alike. `query`: it changes nothing.
 */
export type DeliverySemantics = 'at-most-once' | 'idempotent' | 'query';

/** The vendor cannot say or do it now. Nothing was decided and, for `unavailable`, nothing was executed. */
export type NoVerdict =
  /** Refused the connection, 503, or known not to have executed the call. */
  | { readonly kind: 'unavailable' }
  /** No complete answer within the time limit; the vendor may have executed the call. */
  | { readonly kind: 'timed-out' }
  /** An answer that cannot be classified (not JSON, a redirect, an unknown code); the vendor may have executed the call. */
  | { readonly kind: 'unintelligible' };
