import type { ActionContext } from '../../kernel/context.js';
import type { Decider } from '../../kernel/decider.js';
import type { DomainEvent } from '../../kernel/domain-event.js';
import type { AnswerLimit } from '../domain/answer-limit.js';
import type { AskCommand, Operation, Requested } from '../domain/challenge.js';
import type { Count, RecordVerdict } from '../domain/verdict.js';
import type { VendorVerdict } from './vendor-verdict.js';

/** The commands that the decider of every holder accepts. */
export type ChallengeCommand<Limit extends AnswerLimit = AnswerLimit> =
  | AskCommand
  | RecordVerdict<Limit>
  /** The vendor never executed the call, and will never execute it. */
  | { readonly kind: 'record-not-executed'; readonly attemptId: string }
  /** The result of the call is unknown. The challenge ends when the call is old enough. */
  | { readonly kind: 'give-up'; readonly now: Date; readonly attemptId: string };

/** The person and the vendor to which a call belongs. */
export interface About {
  /** The vault subject of the person. */
  readonly subjectId: string;
  readonly vendor: string;
  /** The names of the person under which the call is counted (see published/answer-counts.ts). */
  readonly personIds: readonly string[];
}

/** The call that is at the vendor. `operation` is null for the call that requests the challenge. */
export type OpenCall = Requested & { readonly operation: Operation | null };

export type Held = About & { readonly call: OpenCall | null };

/**
 * A kind of aggregate that has challenges. The holder reads the aggregate's state for the challenge service, and stores secrets in the vault. A
 * process may die after any of these steps, so each is safe to repeat.
 */
export interface ChallengeHolder<State, Limit extends AnswerLimit = AnswerLimit> {
  readonly decider: Decider<State, ChallengeCommand<Limit>, DomainEvent>;
  readonly limit: Limit;
  /** Null if the holder does not exist. */
  read(state: State): Held | null;
  /** The number of wrong answers until now. */
  count(state: State, now: Date): Count;
  /** The vendor's token of the challenge, or of the person when the call requests a challenge. Null if the person was erased. */
  tokenOf(id: string, state: State): Promise<string | null>;
  /** Stores the tokens of the verdict and the vendor's reply in the vault, before the log records the verdict. */
  keep(id: string, state: State, verdict: VendorVerdict, context: ActionContext): Promise<'kept' | 'erased'>;
  /** Removes the vault entries that the state no longer needs. */
  prune(id: string, state: State, subjectId: string): Promise<void>;
}
