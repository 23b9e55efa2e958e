// One view of an income report, in a stream of its own. The view proves who read the report, when, and for which purpose
// (docs/contract/platform.md#reports).
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { ReadPurpose } from '../../../kernel/permissible-purpose.js';

/** `viewerAccountId` is the session's own account or the account's parent. The event's metadata names the key or token. */
export type IncomeReportViewEvent = DomainEvent<
  'IncomeReportViewed',
  ReadPurpose & {
    readonly incomeSessionId: string;
    readonly viewerAccountId: string;
  }
>;

export type IncomeReportViewState =
  | { readonly status: 'NONE' }
  | { readonly status: 'VIEWED'; readonly incomeSessionId: string; readonly viewerAccountId: string };

export interface IncomeReportViewCommand {
  readonly kind: 'view';
  readonly incomeSessionId: string;
  readonly viewerAccountId: string;
  readonly read: ReadPurpose;
}

export const incomeReportView: Decider<IncomeReportViewState, IncomeReportViewCommand, IncomeReportViewEvent> = {
  category: 'income_view',
  initial: { status: 'NONE' },

  decide({ incomeSessionId, viewerAccountId, read }, state) {
    if (state.status !== 'NONE') return [];
    const data = { incomeSessionId, viewerAccountId, ...read };
    return [{ type: 'IncomeReportViewed', data }];
  },

  evolve(state, event) {
    switch (event.type) {
      case 'IncomeReportViewed':
        return {
          status: 'VIEWED',
          incomeSessionId: event.data.incomeSessionId,
          viewerAccountId: event.data.viewerAccountId,
        };
      default:
        return assertNever(event.type, state);
    }
  },
};
