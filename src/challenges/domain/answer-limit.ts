// How wrong answers are counted, and until when they lock. Times are ISO 8601 UTC.

/** As many wrong answers as are allowed lock for `lockSeconds`, when all of them fall within that time. */
export interface AnswerLimit {
  readonly attemptsAllowed: number;
  readonly lockSeconds: number;
}

/** Wrong answers that would not lock yet, and the one that would. */
export function attemptsLeft(
  wrongAt: readonly string[],
  now: Date,
  { attemptsAllowed, lockSeconds }: AnswerLimit,
): number {
  const since = now.getTime() - lockSeconds * 1_000;
  return Math.max(0, attemptsAllowed - wrongAt.filter((at) => new Date(at).getTime() > since).length);
}

/** The end of the lock that holds, or null. */
export function lockAt({ lockedUntil }: { readonly lockedUntil: string | null }, now: Date): string | null {
  return lockedUntil !== null && now < new Date(lockedUntil) ? lockedUntil : null;
}

/** The last of some ends, or null. */
export function latest(ends: readonly (string | null)[]): string | null {
  return ends.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null);
}

export function after(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}
