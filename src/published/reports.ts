import type { ActionContext } from '../kernel/context.js';
import type { RefundReason } from '../kernel/refund-reason.js';

/** The reports module, for other modules. */
export abstract class Reports {
  /** The expiry of a session's released report, past or future (ISO 8601 UTC); null until a report is released. */
  abstract expiryOf(sessionId: string): Promise<string | null>;
  /** Whether the bureau's newest answer says that it gives no report, or no more reports, for its reference of the person. */
  abstract isOutOfReach(sessionId: string): Promise<boolean>;
}

/** Ends the pulls for a payment before the payment is refunded or counts for another session. */
export abstract class ReportPulls {
  /**
   * Ends the pulls for a payment. The first reason that was given stays. Throws `payment.report_under_way` while a pull is under way. Throws
   * `payment.report_released` after the release, unless `evenIfReleased`. Safe to repeat.
   */
  abstract end(
    sessionId: string,
    refund: { readonly transactionId: string; readonly reasonCode: RefundReason; readonly evenIfReleased: boolean },
    context: ActionContext,
  ): Promise<PullsEnded>;

  /**
   * Ends the pulls for a payment that will count for a newer session. While a pull is under way, or when the report is released, the method ends no
   * pulls and returns false. Safe to repeat.
   */
  abstract carryOver(sessionId: string, transactionId: string, context: ActionContext): Promise<boolean>;
}

export interface PullsEnded {
  readonly transactionId: string;
  readonly reasonCode: RefundReason;
  /** The report was released before, and stays released. */
  readonly released?: true;
}

/** The stored event after which a session's report can be read. */
export const REPORT_RELEASED = { category: 'report', type: 'ReportReleased' } as const;

/** The stored events of reports that payments follow. Each screening session has one stream, with the session's id. */
export const REPORT_NEWS = {
  category: 'report',
  types: ['ReportPullsEnded', 'ReportPullRefused', 'ReportPullFailed'],
} as const;
export type ReportNews =
  | { readonly type: 'ReportPullsEnded'; readonly data: PullsEnded }
  | { readonly type: 'ReportPullRefused' }
  | { readonly type: 'ReportPullFailed'; readonly data: { readonly cause: string } };
