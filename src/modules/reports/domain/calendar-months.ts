/**
 * The same day and time of day `months` calendar months later, in UTC. If that day does not exist (29 February, 31 January), the last day of the
 * month.
 */
export function monthsAfter(from: Date, months: number): Date {
  const after = new Date(from);
  after.setUTCDate(1);
  after.setUTCMonth(after.getUTCMonth() + months);
  after.setUTCDate(Math.min(from.getUTCDate(), lastDayOf(after)));
  return after;
}

function lastDayOf(month: Date): number {
  const last = new Date(month);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return last.getUTCDate();
}
