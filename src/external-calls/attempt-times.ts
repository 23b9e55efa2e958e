/** Longer than clocks of two processes differ, and than recording a verdict takes. */
const GRACE_MS = 2_000;
/** How many time limits the recovery job goes on asking. */
const ASKED_FOR_LIMITS = 3;

/**
 * The times of an attempt whose call starts now: from `settleAfter` on, when the call's own time limit is surely over, the
 * recovery job settles the attempt; from `giveUpAfter` on nobody asks the vendor any more.
 */
export function attemptTimes(
  now: Date,
  vendorTimeoutSeconds: number,
): { readonly settleAfter: Date; readonly giveUpAfter: Date } {
  const settle = now.getTime() + vendorTimeoutSeconds * 1_000 + GRACE_MS;
  return {
    settleAfter: new Date(settle),
    giveUpAfter: new Date(settle + ASKED_FOR_LIMITS * vendorTimeoutSeconds * 1_000),
  };
}
