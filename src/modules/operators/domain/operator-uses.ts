// The uses of operator tools that show, export or search cases and persons. Operators read them with `ops operators uses`.
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

export const SUBJECT_KINDS = ['screening', 'income', 'person', 'party', 'account', 'stream'] as const;

/** The case, the person, the account or the stream that an operator used a tool on. The id is never personal. */
export interface UseSubject {
  readonly kind: (typeof SUBJECT_KINDS)[number];
  readonly id: string;
}

/** One use of a tool. The metadata of its event have the operator, the time, the reason and the ticket. */
export interface ToolUse {
  /** The words of the command, such as `case export`. */
  readonly tool: string;
  /** Null if the tool searches in all accounts. */
  readonly subject: UseSubject | null;
  /** The operator's words. */
  readonly purpose: string;
  /** The options that say what the operator saw, such as `--documents` or `--status BLOCKED`. An option whose value may be personal has no value here. */
  readonly options: readonly string[];
}

export type OperatorUseEvent = DomainEvent<'OperatorToolUsed', ToolUse>;

/** All uses are in one stream, so that a report needs no read model. */
export const USES = 'installation';

export const operatorUses: Decider<object, { readonly kind: 'record' } & ToolUse, OperatorUseEvent> = {
  category: 'operator_uses',
  initial: {},
  newestOnly: true,

  decide({ kind: _, ...use }) {
    return [{ type: 'OperatorToolUsed', data: use }];
  },

  evolve: (state) => state,
};
