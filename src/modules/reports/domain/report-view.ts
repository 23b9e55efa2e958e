// One look at a report: who, when and for what purpose (docs/contract/platform.md#reports). Who and when are the event's metadata.
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { PermissiblePurpose } from './report.js';

/** `score`: nothing but the score was shown. */
export type ReportFormat = 'json' | 'html' | 'score';

export interface ViewedReport {
  readonly sessionId: string;
  readonly reportId: string;
  readonly viewerAccountId: string;
  readonly purpose: PermissiblePurpose;
  readonly format: ReportFormat;
  /** The share that allowed it; null for the session's own account and its parent. */
  readonly shareId: string | null;
}

export type ReportViewEvent = DomainEvent<'ReportViewed', ViewedReport>;

/** All looks at the report of a session, by the session's id: one stream, and many looks at once are one append. */
export const reportLooks: Decider<object, { readonly kind: 'record' } & ViewedReport, ReportViewEvent> = {
  category: 'report_looks',
  initial: {},
  stateless: true,

  decide({ kind: _, ...viewed }) {
    return [{ type: 'ReportViewed', data: viewed }];
  },

  evolve: (state) => state,
};

export type ReportViewState = { readonly status: 'NONE' } | ({ readonly status: 'RECORDED' } & ViewedReport);

/** A look that an earlier release recorded, in a stream of its own. None is recorded so any more. */
export const reportView: Decider<ReportViewState, never, ReportViewEvent> = {
  category: 'report_view',
  initial: { status: 'NONE' },

  decide: () => [],

  evolve(state, event) {
    return event.type === 'ReportViewed' ? { status: 'RECORDED', ...event.data } : state;
  },
};
