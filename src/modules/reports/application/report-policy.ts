import type { CallerContext } from '../../../kernel/context.js';
import type { RateUse } from '../../../ports/rate-limiter.js';
import { attemptTimes } from '../../../external-calls/attempt-times.js';

const MINUTE = 60;

/** The limits reports run by (docs/contract/platform.md#reports), given at start. Durations in seconds. */
export class ReportPolicy {
  constructor(
    readonly limits: {
      readonly reportValiditySeconds: number;
      /** Null: 24 calendar months. */
      readonly shareWindowSeconds: number | null;
      readonly vendorTimeoutSeconds: number;
      /** Between two pulls of a report that the bureau refuses. */
      readonly retryIntervalSeconds: number;
      readonly pdfLinkSeconds: number;
      /** Of one lineage, or of the account of a server; 0 is no limit. */
      readonly readsPerMinute: number;
      /** Of one report, taken back ones counted; 0 is no limit. */
      readonly sharesPerMinute: number;
      /** Of one account; 0 is no limit. */
      readonly pdfsPerMinute: number;
      /** Whether pages that the service did not serve are refused. */
      readonly servedPagesOnly: boolean;
    },
    /** Links to PDFs begin with it. */
    readonly pdfUrl: string,
  ) {}

  /** What one more look at a report uses. */
  reading({ accountId, environment, grantId, lineage }: CallerContext): RateUse {
    // A grant gives one token, which each renewal replaces.
    const reader = grantId ?? lineage ?? `${accountId}:${environment}`;
    return { key: `report-reads:${reader}`, limit: this.limits.readsPerMinute, windowSeconds: MINUTE };
  }

  /** What sharing a report, or taking it back, uses. `reported`: the session of the report, or the party whose reports they are. */
  sharing(reported: string): RateUse {
    return { key: `shares:${reported}`, limit: this.limits.sharesPerMinute, windowSeconds: MINUTE };
  }

  /** The times of a pull that starts now. */
  attempt(now: Date): { readonly settleAfter: Date; readonly giveUpAfter: Date } {
    return attemptTimes(now, this.limits.vendorTimeoutSeconds);
  }
}
