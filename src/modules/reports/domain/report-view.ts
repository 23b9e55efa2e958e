// One view of a report: viewer, time and purpose (docs/contract/platform.md#reports). The event's metadata names the viewer and the time.
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { PermissiblePurpose } from './report.js';

/** `score`: the viewer saw only the score. */
export type ReportFormat = 'json' | 'html' | 'score';

export interface ViewedReport {
  readonly sessionId: string;
  readonly reportId: string;
  readonly viewerAccountId: string;
  readonly purpose: PermissiblePurpose;
  readonly format: ReportFormat;
  /** The share that allowed the view; null for the session's own account and its parent. */
  readonly shareId: string | null;
}

export type ReportViewEvent = DomainEvent<'ReportViewed', ViewedReport>;

/** All views of a session's report are in one stream, by the session's id, so that many concurrent views need one append. */
export const reportLooks: Decider<object, { readonly kind: 'record' } & ViewedReport, ReportViewEvent> = {
  category: 'report_looks',
  initial: {},
  newestOnly: true,

  decide({ kind: _, ...viewed }) {
    return [{ type: 'ReportViewed', data: viewed }];
  },

  evolve: (state) => state,
};

export type ReportViewState = { readonly status: 'NONE' } | ({ readonly status: 'RECORDED' } & ViewedReport);

/** A view that an earlier release recorded in a stream of its own. New views are not recorded in this form. */
export const reportView: Decider<ReportViewState, never, ReportViewEvent> = {
  category: 'report_view',
  initial: { status: 'NONE' },

  decide: () => [],

  evolve(state, event) {
    return event.type === 'ReportViewed' ? { status: 'RECORDED', ...event.data } : state;
  },
};
