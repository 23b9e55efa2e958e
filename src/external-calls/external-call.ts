// The definition of a call to an outside vendor for an aggregate. Each module has one class for each kind of call.
import type { ActionContext } from '../kernel/context.js';
import type { Capability } from '../kernel/vendor-choice.js';
import { type DeliverySemantics, type VendorCall, vendorCall } from '../ports/vendor-call.js';

/** The kinds of vendors. Each has the capability for which accounts choose it, or null if accounts do not choose it. */
export const CAPABILITY_OF = {
  'identity-vendor': 'identity',
  'credit-bureau': 'credit',
  'income-vendor': 'income',
  'payment-processor': 'payment',
  'pdf-renderer': null,
} as const satisfies Readonly<Record<string, Capability | null>>;
export type VendorKind = keyof typeof CAPABILITY_OF;

/** One attempt that an aggregate has reserved. The job contains the attempt, and the attempt contains only ids. */
export interface Attempt {
  /** The aggregate's id. */
  readonly id: string;
  /** The vendor's idempotency key. */
  readonly attemptId: string;
  /** The id of the vendor that the aggregate recorded. When it is absent, the first vendor of the kind is called. */
  readonly vendor?: string;
  /** The vault subject whose data key encrypts the waiting input. Null means that the input is not personal. */
  readonly subject: string | null;
  /** The caller's context, which becomes the metadata of the recorded events. */
  readonly context: ActionContext;
  /**
   * The attempt is settled from this time on, so its call must end earlier. Absent if such attempts are never settled. The time is not in the job.
   */
  readonly settleAfter?: Date;
}

/**
 * One kind of call: its vendor, and how a worker calls the vendor and records the verdict. The class is a provider of the aggregate's module, and the
 * workers find it. `End` is a result word for the waiting caller. The word tells how a call ended that is not recorded, such as a query without an
 * answer.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- ties what `make` is given to what a worker gets
export abstract class ExternalCall<Input = unknown, End = unknown> {
  abstract readonly vendor: VendorKind;
  /** The name of the jobs of this kind, unique in the service. */
  abstract readonly operation: string;
  /** An `at-most-once` job has the id of the attempt. Every other job has an id of its own. */
  abstract readonly semantics: DeliverySemantics;
  /** Whether the settlement of an `at-most-once` attempt makes a call that was never made (`ExternalCalls.makeAgain`). */
  readonly isMadeAgain: boolean = false;

  /**
   * Runs in a worker. The function calls the vendor with `call`, and records the verdict in the aggregate, the vault before the log. If the process
   * dies in between, the recovery job settles the attempt.
   */
  abstract askAndRecord(call: VendorCall, attempt: Attempt, input: Input): Promise<End>;

  /** Records that the vendor was not called and will not be, because no worker can read the input any more. */
  abstract recordNotAsked(attempt: Attempt): Promise<End>;

  /** Runs `askAndRecord` with the decrypted input. */
  make(attempt: Attempt, input: Uint8Array, within: Pick<VendorCall, 'signal' | 'endsAt' | 'mayAsk'>): Promise<End> {
    // A job carries no answers of earlier calls.
    const own = { ...attempt, context: { ...attempt.context, answered: {} } };
    return this.askAndRecord(
      { ...vendorCall(own), ...within },
      own,
      JSON.parse(Buffer.from(input).toString('utf8')) as Input,
    );
  }
}
