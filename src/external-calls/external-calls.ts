import type { Attempt, ExternalCall } from './external-call.js';

/**
 * A use case asks a vendor in three steps: `admit` the call, reserve the attempt in the aggregate (append `...Requested`), `make` the call. The
 * aggregate then holds the vendor's verdict, and the use case answers from there.
 *
 * `make` returns when the verdict is recorded, when it is recorded that the vendor was not asked, or when the time limit is up. The time limit
 * (`VENDOR_TIMEOUT`) runs from the reservation and covers queueing and the call. An attempt that is still open then stays open until a worker or the
 * recovery job records its end. A worker reports only that a call is over, and the word of its kind, if any.
 */
export abstract class ExternalCalls {
  /**
   * Takes one of the account's places at the vendor, in its environment. Call it before anything is stored. `make` gives the place back. Calls of
   * other accounts or of the same lineage may go first. Throws `request.rate_limited` when the account has no place left or the wait is too long, and
   * Unavailable while calls wait for the log.
   */
  abstract admit(call: ExternalCall<never>, attempt: Attempt): Promise<void>;

  /** Gives back the place of an admitted call that will not be made. */
  abstract withdraw(call: ExternalCall<never>, attempt: Attempt): Promise<void>;

  /**
   * Hands the reserved attempt to a worker and waits for the end of the call. Null when the end was not heard in time, or its message was lost. The
   * use case then answers from the recorded state. Does not throw for trouble of the vendor or the queue.
   */
  abstract make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null>;

  /**
   * For a worker that settles an attempt, if its kind of call `isMadeAgain`. Makes the call if the vendor was never asked and the input is kept.
   * False when the vendor may have been asked, or the input is gone.
   */
  abstract makeAgain(call: ExternalCall, attempt: Attempt, signal: AbortSignal): Promise<boolean>;
}
