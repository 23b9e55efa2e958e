/** The longest pause between two queries about work that a vendor does for days. */
const LONGEST_PAUSE_MS = 21_600_000;

/**
 * The time of the next query about a vendor's work (ISO 8601 UTC). The pauses grow with the age of the work, and end with it at `until`. The vendor may
 * demand a longer pause, in seconds.
 */
export function nextQuery(
  now: Date,
  { since, until }: { readonly since: string; readonly until: string },
  lookAgainAfter: number,
): string {
  const age = now.getTime() - Date.parse(since);
  const pause = Math.max(lookAgainAfter * 1_000, Math.min(age, LONGEST_PAUSE_MS), 1_000);
  return new Date(Math.min(now.getTime() + pause, Date.parse(until))).toISOString();
}
