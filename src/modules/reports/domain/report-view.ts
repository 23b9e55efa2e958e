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

export type ReportViewState = { readonly status: 'NONE' } | ({ readonly status: 'RECORDED' } & ViewedReport);

/** A stream of its own for every look, so that many at once never wait for one another. */
export const reportView: Decider<ReportViewState, { readonly kind: 'record' } & ViewedReport, ReportViewEvent> = {
  category: 'report_view',
  initial: { status: 'NONE' },

  decide({ kind: _, ...viewed }, state) {
    return state.status === 'NONE' ? [{ type: 'ReportViewed', data: viewed }] : [];
  },

  evolve(state, event) {
    return event.type === 'ReportViewed' ? { status: 'RECORDED', ...event.data } : state;
  },
};
