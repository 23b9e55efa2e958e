import type { Attempt, ExternalCall } from './external-call.js';

/**
 * How a use case has a vendor asked, in three steps: `admit` the call, reserve the attempt in the aggregate (append
 * `...Requested`), `make` the call. What the vendor said is then in the aggregate, and the use case answers from there.
 *
 * `make` returns when the verdict is recorded, when it is recorded that the vendor was not asked, or when the time limit
 * (`VENDOR_TIMEOUT`, over queueing and the call, from the reservation on) is up. An attempt that is still open then stays open until a worker or the
 * recovery job records its end. Nothing comes back from a worker but that a call is over, and the word of its kind, if any.
 */
export abstract class ExternalCalls {
  /**
   * Takes one of the places that the account has at the vendor, in its environment; to be done before anything is stored.
   * `make` gives the place back. Waits while other accounts or the lineage's own calls go first. Throws `request.rate_limited`
   * when the account has no place left, or the wait is too long, and Unavailable while calls wait for the log.
   */
  abstract admit(call: ExternalCall<never>, attempt: Attempt): Promise<void>;

  /** Gives the place back of a call that was admitted and will not be made. */
  abstract withdraw(call: ExternalCall<never>, attempt: Attempt): Promise<void>;

  /**
   * Hands the reserved attempt to a worker and waits until the call is over. Null when that was not heard: in time, or because
   * the message was lost. The use case then answers from what was recorded. Does not throw
   * for vendor or queue trouble.
   */
  abstract make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null>;

  /**
   * In a worker that settles the attempt of a call that `isMadeAgain`: makes it, while its input is kept, if the
   * vendor was never asked. False when the vendor may have been asked, and when the input is gone.
   */
  abstract makeAgain(call: ExternalCall, attempt: Attempt, signal: AbortSignal): Promise<boolean>;
}
