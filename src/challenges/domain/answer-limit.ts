// The count of wrong answers, and the lock that follows from the count. Times are ISO 8601 UTC.

/** `attemptsAllowed` wrong answers within `lockSeconds` lock for `lockSeconds`. */
export interface AnswerLimit {
  readonly attemptsAllowed: number;
  readonly lockSeconds: number;
}

/** The number of further wrong answers after which the lock begins. */
export function attemptsLeft(
  wrongAt: readonly string[],
  now: Date,
  { attemptsAllowed, lockSeconds }: AnswerLimit,
): number {
  const since = now.getTime() - lockSeconds * 1_000;
  return Math.max(0, attemptsAllowed - wrongAt.filter((at) => new Date(at).getTime() > since).length);
}

/** The end of the present lock; null if none exists. */
export function lockAt({ lockedUntil }: { readonly lockedUntil: string | null }, now: Date): string | null {
  return lockedUntil !== null && now < new Date(lockedUntil) ? lockedUntil : null;
}

/** Returns the latest of the times; null when all times are null. */
export function latest(ends: readonly (string | null)[]): string | null {
  return ends.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null);
}

export function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}
