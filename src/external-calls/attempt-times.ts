/** The time allows for differing clocks of two processes, and for recording a verdict. */
const GRACE_MS = 2_000;
/** The recovery job repeats its query for this number of time limits. */
const ASKED_FOR_LIMITS = 3;
/** The part of a call's time in which a worker may begin the call. The vendor gets the rest of the time. */
export const SHARE_OF_TIME = 0.75;

/**
 * The times of an attempt that is reserved now. From `settleAfter` on, after the end of the call (`callEnd`), the recovery job queries the vendor.
 * From `giveUpAfter` on, the recovery job queries once more, and ends the attempt when the vendor still does not know the result.
 */
export function attemptTimes(now: Date, vendorTimeoutSeconds: number): Record<'settleAfter' | 'giveUpAfter', Date> {
  const settle = now.getTime() + vendorTimeoutSeconds * 1_000 + GRACE_MS;
  return {
    settleAfter: new Date(settle),
    giveUpAfter: new Date(settle + ASKED_FOR_LIMITS * vendorTimeoutSeconds * 1_000),
  };
}

/** The time for which the input of a repeatable call is kept. After this time, one time limit is left for queries. */
export function keptMs(timeoutMs: number): number {
  return (ASKED_FOR_LIMITS - 1) * timeoutMs + GRACE_MS;
}

/** The latest end of an attempt's call, epoch milliseconds. This end is before the time at which a process settles the attempt. */
export function callEnd(settleAfter: Date): number {
  return settleAfter.getTime() - GRACE_MS;
}
