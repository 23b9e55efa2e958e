// The inquiries of an invented file: those of the creditors before they opened an account, and others.
import type { MadeUp } from '../../../vendor-kit/double/made-up.js';
import type { TradeLine } from './accounts.js';
import { type AdultLife, YEAR } from './adult-life.js';
import type { Shape } from './shape.js';

export interface Inquiry {
  readonly subscriber: string;
  readonly date: string;
  readonly purpose: 'CREDIT_APPLICATION' | 'TENANT_SCREENING';
}

/** Older inquiries are removed from the file. */
const DAYS_KEPT = 2 * YEAR - 10;
/** The rate at which a young adult can request credit. */
const DAYS_TO_THE_NEXT = 15;

/** Newest first. */
export function inquiries(made: MadeUp, shape: Shape, life: AdultLife, lines: readonly TradeLine[]): Inquiry[] {
  const before = lines.flatMap(({ creditor, openedOn }): Inquiry[] => {
    const date = life.shortlyBefore(openedOn);
    return life.daysSince(date) > DAYS_KEPT ? [] : [{ subscriber: creditor, date, purpose: 'CREDIT_APPLICATION' }];
  });
  const { lastYear, yearBefore } = shape.inquiries;
  const possible = Math.floor(life.days / DAYS_TO_THE_NEXT);
  const more =
    Math.min(made.between(...lastYear), possible) - before.filter(({ date }) => life.isOfLastYear(date)).length;
  return [
    ...before,
    ...made.times(Math.max(0, more), Math.max(0, more), () => another(made, life.dayAgo(5, 340))),
    ...(life.days < DAYS_KEPT ? [] : made.times(...yearBefore, () => another(made, life.dayAgo(390, 700)))),
  ].sort((one, other) => other.date.localeCompare(one.date));
}

function another(made: MadeUp, date: string): Inquiry {
  return made.oneOf<Inquiry>([
    { subscriber: 'Example Property Management', date, purpose: 'TENANT_SCREENING' },
    { subscriber: 'Sample Telecom', date, purpose: 'CREDIT_APPLICATION' },
    { subscriber: 'Specimen Lending', date, purpose: 'CREDIT_APPLICATION' },
    { subscriber: 'Placeholder Bank', date, purpose: 'CREDIT_APPLICATION' },
  ]);
}
