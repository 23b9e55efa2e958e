import type { Environment } from '../kernel/environment.js';
import type { Attempt, ExternalCall } from './external-call.js';

/**
 * A use case asks a vendor in three steps: `admit` the call, reserve the attempt in the aggregate (append `...Requested`), `make` the call. The
 * aggregate then has the vendor's verdict, from which the use case answers.
 *
 * `make` returns when the verdict is recorded, when the log records that the vendor was not called, or when the time limit has passed. The time limit
 * (`VENDOR_TIMEOUT`) begins at the reservation and includes the time in the queue and the call. An attempt that is still open then stays open until a
 * worker or the recovery job records its end. A worker reports only that a call has ended, and the result word of its kind if there is one.
 */
export abstract class ExternalCalls {
  /**
   * Takes one of the account's places at the vendor, in the account's environment. Call `admit` before anything is stored. `make` frees the place.
   * Calls of other accounts, or of the same lineage of tokens, may be made first. Throws `request.rate_limited` when the account has no place left or
   * the wait is too long, and Unavailable while calls wait for the log.
   */
  abstract admit(call: ExternalCall<never>, attempt: Attempt): Promise<void>;

  /** Frees the place of an accepted call that will not be made. */
  abstract withdraw(call: ExternalCall<never>, attempt: Attempt): Promise<void>;

  /**
   * Gives the reserved attempt to a worker and waits for the end of the call. Null when the end was not reported in time, or when the report was
   * lost. After null, the use case answers from the recorded state. `make` does not throw for problems of the vendor or the queue.
   */
  abstract make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null>;

  /**
   * For a worker that settles an attempt, if its kind of call `isMadeAgain`. Makes the call if the vendor was never called and the input is kept.
   * False if the vendor may have been called, or if the input is gone.
   */
  abstract makeAgain(call: ExternalCall, attempt: Attempt, signal: AbortSignal): Promise<boolean>;

  /**
   * Gives a worker the open attempt of an aggregate to settle, and does not wait. A repeated request adds no second job while the first exists.
   * Throws if the queue does not accept the job in time.
   */
  abstract settle(
    call: Pick<ExternalCall, 'vendor' | 'operation'>,
    environment: Environment,
    open: OpenAttempt,
  ): Promise<void>;
}

/** The open attempt of an aggregate. */
export interface OpenAttempt {
  /** The aggregate's id. */
  readonly id: string;
  /** The vendor that the aggregate recorded. */
  readonly vendor?: string | undefined;
  /** The id of the vendor's notice that demands the settlement. Absent for the recovery job. */
  readonly eventId?: string;
}
