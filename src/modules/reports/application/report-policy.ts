import type { CallerContext } from '../../../kernel/context.js';
import { limitRule, type RateUse } from '../../../ports/rate-limiter.js';
import { attemptTimes } from '../../../external-calls/attempt-times.js';

const MINUTE = 60;

/** The limits of reports (docs/contract/platform.md#reports), which the process reads at its start. Durations are in seconds. */
export class ReportPolicy {
  constructor(
    readonly limits: {
      readonly reportValiditySeconds: number;
      /** Null means 24 calendar months. */
      readonly shareWindowSeconds: number | null;
      readonly vendorTimeoutSeconds: number;
      /** The time between two pulls of a report that the bureau refuses. */
      readonly retryIntervalSeconds: number;
      readonly pdfLinkSeconds: number;
      /** Counted per lineage of tokens, or per account for a server. 0 means unlimited. */
      readonly readsPerMinute: number;
      /** Counted per report; revoked shares count too. 0 means unlimited. */
      readonly sharesPerMinute: number;
      /** Counted per account. 0 means unlimited. */
      readonly pdfsPerMinute: number;
      /** Whether the service refuses pages that it did not serve. */
      readonly servedPagesOnly: boolean;
    },
    /** The beginning of every link to a PDF. */
    readonly pdfUrl: string,
  ) {}

  /** The limit for one more read of a report. */
  reading({ accountId, environment, grantId, lineage }: CallerContext): RateUse {
    // A grant gives one token, and each renewal replaces that token.
    const reader = grantId ?? lineage ?? `${accountId}:${environment}`;
    const limit = this.limits.readsPerMinute;
    const rule = limitRule(limit, 'reads of reports by one caller', MINUTE, 'REPORT_READS_PER_MINUTE');
    return { key: `report-reads:${reader}`, limit, windowSeconds: MINUTE, rule };
  }

  /** The limit for sharing a report or revoking a share. `reported`: the session of the report, or the party whose reports are linked. */
  sharing(reported: string): RateUse {
    const limit = this.limits.sharesPerMinute;
    const rule = limitRule(limit, 'shares and revocations of one report', MINUTE, 'SHARES_PER_MINUTE');
    return { key: `shares:${reported}`, limit, windowSeconds: MINUTE, rule };
  }

  /** The times of a pull that starts now. */
  attempt(now: Date): { readonly settleAfter: Date; readonly giveUpAfter: Date } {
    return attemptTimes(now, this.limits.vendorTimeoutSeconds);
  }
}
