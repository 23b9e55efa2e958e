// The period in which a person's file can have entries: from the 18th birthday to the day of the pull.
import { type MadeUp, dateOf } from '../../../vendor-kit/double/made-up.js';

export const YEAR = 365;
const DAY_MS = 86_400_000;
const ADULT_YEARS = 18;

export class AdultLife {
  /** Whole days since the 18th birthday. */
  readonly days: number;
  private readonly today: number;

  constructor(
    private readonly made: MadeUp,
    today: Date,
    bornOn: string,
  ) {
    const [year = 0, month = 1, day = 1] = bornOn.split('-').map(Number);
    this.today = Date.parse(dateOf(today));
    this.days = Math.max(0, Math.floor((this.today - Date.UTC(year + ADULT_YEARS, month - 1, day)) / DAY_MS));
  }

  /** A date, YYYY-MM-DD, from `least` to `most` days ago. The younger the person, the more recent the date. */
  dayAgo(least: number, most: number): string {
    if (most <= this.days) return this.ago(this.made.between(least, most));
    return this.ago(this.made.between(Math.min(least, Math.ceil(this.days / 2)), this.days));
  }

  /** A few days before `day`, but not before the 18th birthday. */
  shortlyBefore(day: string): string {
    return this.ago(Math.min(this.daysSince(day) + this.made.between(1, 9), this.days));
  }

  daysSince(day: string): number {
    return Math.round((this.today - Date.parse(day)) / DAY_MS);
  }

  isOfLastYear(day: string): boolean {
    const yearAgo = new Date(this.today);
    yearAgo.setUTCFullYear(yearAgo.getUTCFullYear() - 1);
    return day >= dateOf(yearAgo);
  }

  /** Whole calendar months. */
  monthsSince(day: string): number {
    const [from, to] = [new Date(day), new Date(this.today)];
    const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
    return to.getUTCDate() < from.getUTCDate() ? months - 1 : months;
  }

  private ago(days: number): string {
    return dateOf(new Date(this.today - days * DAY_MS));
  }
}
