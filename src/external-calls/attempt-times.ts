/** Longer than clocks of two processes differ, and than recording a verdict takes. */
const GRACE_MS = 2_000;
/** How many time limits the recovery job goes on asking. */
const ASKED_FOR_LIMITS = 3;
/** No worker makes a call later than in this part of its time, so that some is left for the vendor. */
export const SHARE_OF_TIME = 0.75;

/**
 * The times of an attempt that is reserved now. The recovery job asks the vendor about it from `settleAfter` on, when its call is
 * over (`callEnd`). From `giveUpAfter` on it asks as well, and ends the attempt when the vendor still cannot say.
 */
export function attemptTimes(now: Date, vendorTimeoutSeconds: number): Record<'settleAfter' | 'giveUpAfter', Date> {
  const settle = now.getTime() + vendorTimeoutSeconds * 1_000 + GRACE_MS;
  return {
    settleAfter: new Date(settle),
    giveUpAfter: new Date(settle + ASKED_FOR_LIMITS * vendorTimeoutSeconds * 1_000),
  };
}

/** How long the input of a call that is made again is kept: a call at the last moment is asked about for a time limit. */
export function keptMs(timeoutMs: number): number {
  return (ASKED_FOR_LIMITS - 1) * timeoutMs + GRACE_MS;
}

/** When the call of an attempt has to be over, epoch milliseconds: before anybody settles the attempt. */
export function callEnd(settleAfter: Date): number {
  return settleAfter.getTime() - GRACE_MS;
}
