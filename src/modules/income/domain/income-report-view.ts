// One view of an income report, in a stream of its own. The view proves who read the report, when, and for which purpose
// (docs/contract/platform.md#reports).
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

/** The permissible purpose for which reports are read. */
export type Purpose = 'TENANT_SCREENING';

/** `viewerAccountId` is the session's own account or the account's parent. The event's metadata names the key or token. */
export type IncomeReportViewEvent = DomainEvent<
  'IncomeReportViewed',
  { readonly incomeSessionId: string; readonly viewerAccountId: string; readonly purpose: Purpose }
>;

export type IncomeReportViewState =
  | { readonly status: 'NONE' }
  | { readonly status: 'VIEWED'; readonly incomeSessionId: string; readonly viewerAccountId: string };

export interface IncomeReportViewCommand {
  readonly kind: 'view';
  readonly incomeSessionId: string;
  readonly viewerAccountId: string;
}

export const incomeReportView: Decider<IncomeReportViewState, IncomeReportViewCommand, IncomeReportViewEvent> = {
  category: 'income_view',
  initial: { status: 'NONE' },

  decide({ incomeSessionId, viewerAccountId }, state) {
    return state.status === 'NONE'
      ? [{ type: 'IncomeReportViewed', data: { incomeSessionId, viewerAccountId, purpose: 'TENANT_SCREENING' } }]
      : [];
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
