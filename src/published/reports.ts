import type { ActionContext } from '../kernel/context.js';
import type { RefundReason } from '../kernel/refund-reason.js';

/** The reports module as others see it. */
export abstract class Reports {
  /** When the released report of a session expires or expired (ISO 8601 UTC); null while none was released. */
  abstract expiryOf(sessionId: string): Promise<string | null>;
  /** Whether the bureau has said last that what it knows the person by entitles to no report, or not any more. */
  abstract isOutOfReach(sessionId: string): Promise<boolean>;
}

/** Where it is decided, before a payment is given back or counts for another session, that nothing is pulled for it any more. */
export abstract class ReportPulls {
  /**
   * Ends the pulls for a payment, for the reason that was given first. Throws `payment.report_under_way` while a pull is under way, and
   * `payment.report_released` unless `evenIfReleased`. Safe to repeat.
   */
  abstract end(
    sessionId: string,
    refund: { readonly transactionId: string; readonly reasonCode: RefundReason; readonly evenIfReleased: boolean },
    context: ActionContext,
  ): Promise<PullsEnded>;

  /**
   * Ends the pulls for a payment that is about to count for a newer session. False, and nothing ends, while a pull is under way and when
   * the report is released. Safe to repeat.
   */
  abstract carryOver(sessionId: string, transactionId: string, context: ActionContext): Promise<boolean>;
}

export interface PullsEnded {
  readonly transactionId: string;
  readonly reasonCode: RefundReason;
  /** The report was released before, and stays what it is. */
  readonly released?: true;
}

/** The stored events of reports that payments follow: one stream a screening session, named after it. */
export const REPORT_NEWS = {
  category: 'report',
  types: ['ReportPullsEnded', 'ReportPullRefused', 'ReportPullFailed'],
} as const;
export type ReportNews =
  | { readonly type: 'ReportPullsEnded'; readonly data: PullsEnded }
  | { readonly type: 'ReportPullRefused' }
  | { readonly type: 'ReportPullFailed'; readonly data: { readonly cause: string } };
