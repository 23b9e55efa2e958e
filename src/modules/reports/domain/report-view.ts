// One view of a report: viewer, time and purpose (docs/contract/platform.md#reports). The event's metadata names the viewer and the time.
import type { Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';

/** `score`: the viewer saw only the score. */
export type ReportFormat = 'json' | 'html' | 'score';

export interface ViewedReport {
  readonly sessionId: string;
  readonly reportId: string;
  readonly viewerAccountId: string;
  readonly purpose: PermissiblePurpose;
  /** The kind of end user of the report, from the grant or the page. Absent if neither gave it, and in older events. */
  readonly endUserType?: EndUserType;
  readonly format: ReportFormat;
  /** The share that allowed the view; null for the session's own account and its parent. */
  readonly shareId: string | null;
  /** The digest of the reply, keyed with the salt of the report's body. Absent for a report of an older release. */
  readonly digest?: string;
}

/** A read or a print of the report that was refused. `code` is the service's own code of the refusal. */
export interface RefusedRead extends Pick<ViewedReport, 'sessionId' | 'viewerAccountId' | 'purpose'> {
  readonly format: ReportFormat | 'pdf';
  readonly code: ErrorCode;
}

export type ReportViewEvent = DomainEvent<'ReportViewed', ViewedReport>;
/** Refused reads are recorded up to a number a minute for each session and caller. */
export type ReportLookEvent = ReportViewEvent | DomainEvent<'ReportReadRefused', RefusedRead>;

export type ReportLookCommand =
  ({ readonly kind: 'record' } & ViewedReport) | ({ readonly kind: 'record-refusal' } & RefusedRead);

/** All views of a session's report are in one stream, by the session's id, so that many concurrent views need one append. */
export const reportLooks: Decider<object, ReportLookCommand, ReportLookEvent> = {
  category: 'report_looks',
  initial: {},
  newestOnly: true,

  decide(command) {
    switch (command.kind) {
      case 'record': {
        const { kind: _, ...viewed } = command;
        return [{ type: 'ReportViewed', data: viewed }];
      }
      case 'record-refusal': {
        const { kind: _, ...refused } = command;
        return [{ type: 'ReportReadRefused', data: refused }];
      }
      default:
        return command satisfies never;
    }
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
