// What a call to an outside vendor on behalf of an aggregate is. Each module has one class a kind of call.
import type { ActionContext } from '../kernel/context.js';
import type { Capability } from '../kernel/vendor-choice.js';
import { type DeliverySemantics, type VendorCall, vendorCall } from '../ports/vendor-call.js';

/** The kinds of vendors, and what each is chosen for; whom nobody chooses is null. */
export const CAPABILITY_OF = {
  'identity-vendor': 'identity',
  'credit-bureau': 'credit',
  'income-vendor': 'income',
  'payment-processor': 'payment',
  'pdf-renderer': null,
} as const satisfies Readonly<Record<string, Capability | null>>;
export type VendorKind = keyof typeof CAPABILITY_OF;

/** One attempt that an aggregate has reserved. Travels in the job: ids only. */
export interface Attempt {
  /** Of the aggregate. */
  readonly id: string;
  /** The vendor's idempotency key. */
  readonly attemptId: string;
  /** The id of the vendor that the aggregate recorded; absent where it records none: the first of its kind. */
  readonly vendor?: string;
  /** The vault subject under whose data key the input waits. Null: nothing personal. */
  readonly subject: string | null;
  /** Of the caller; becomes the metadata of what is recorded. */
  readonly context: ActionContext;
  /** As the aggregate recorded it: the call is over before then. Absent where nobody settles the attempt. Not in the job. */
  readonly settleAfter?: Date;
}

/**
 * One kind of call: which vendor it goes to, and how a worker asks it and records what it said. A provider of the module
 * whose aggregate it is for; the workers find it by its class. `End` is a word for whoever waits, where how a call ended is no
 * fact that could be recorded: a question that the vendor could not answer.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- ties what `make` is given to what a worker gets
export abstract class ExternalCall<Input = unknown, End = unknown> {
  abstract readonly vendor: VendorKind;
  /** Names the jobs of this kind, once in the service. */
  abstract readonly operation: string;
  /** The id of an `at-most-once` job is the attempt's; every other job is one of its own. */
  abstract readonly semantics: DeliverySemantics;
  /** Whether the settlement of an `at-most-once` attempt makes a call that was never made (`ExternalCalls.makeAgain`). */
  readonly isMadeAgain: boolean = false;

  /**
   * In a worker: asks the vendor with `call` and records the verdict in the aggregate, the vault before the log. The
   * recovery job makes up for a process that dies in between.
   */
  abstract askAndRecord(call: VendorCall, attempt: Attempt, input: Input): Promise<End>;

  /** Records that the vendor was not asked and will not be: no worker can take the input any more. */
  abstract recordNotAsked(attempt: Attempt): Promise<End>;

  /** `askAndRecord` with the input that was sealed. */
  make(attempt: Attempt, input: Uint8Array, within: Pick<VendorCall, 'signal' | 'endsAt' | 'mayAsk'>): Promise<End> {
    return this.askAndRecord(
      { ...vendorCall(attempt), ...within },
      attempt,
      JSON.parse(Buffer.from(input).toString('utf8')) as Input,
    );
  }
}
