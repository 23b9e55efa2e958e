import { attemptTimes } from '../../../external-calls/attempt-times.js';

/** The limits reports run by (docs/contract/platform.md#reports), given at start. Durations in seconds. */
export class ReportPolicy {
  constructor(
    readonly limits: {
      readonly reportValiditySeconds: number;
      /** Null: 24 calendar months. */
      readonly shareWindowSeconds: number | null;
      readonly vendorTimeoutSeconds: number;
      readonly pdfLinkSeconds: number;
      /** Of one token; 0 is no limit. */
      readonly readsPerMinute: number;
      /** Of one account; 0 is no limit. */
      readonly pdfsPerMinute: number;
    },
    /** How the outside calls the service; links to PDFs begin with it. */
    readonly publicUrl: string,
  ) {}

  /** The times of a pull that starts now. */
  attempt(now: Date): { readonly settleAfter: Date; readonly giveUpAfter: Date } {
    return attemptTimes(now, this.limits.vendorTimeoutSeconds);
  }
}
