// The outcome of an income inquiry, by its person's persona (docs/sandbox.md) or by a test's choice.
import { MadeUp } from '../../../vendor-kit/double/made-up.js';

export const ROUTES = ['PAYROLL', 'BANKING'] as const;
export type Route = (typeof ROUTES)[number];

export const FAILURES = ['NO_MATCH', 'VENDOR_ERROR'] as const;
export type Ending = 'completed' | (typeof FAILURES)[number];

/** The persona of an unknown session, which matches no person. */
export const UNKNOWN_PERSON = 'unknown person';

/** Null means that the inquiry continues until a test decides it. */
export function endingOf(persona: string, route: Route): Ending | null {
  switch (persona) {
    case 'nopayrolltest':
      return route === 'PAYROLL' ? 'NO_MATCH' : 'completed';
    case 'noincometest':
    case UNKNOWN_PERSON:
      return 'NO_MATCH';
    case 'incomeerrortest':
      return 'VENDOR_ERROR';
    case 'slowincometest':
      return null;
    default:
      return 'completed';
  }
}

const PAYCHECKS = { WEEKLY: 52, BIWEEKLY: 26, SEMIMONTHLY: 24, MONTHLY: 12 } as const;
const FREQUENCIES = ['WEEKLY', 'BIWEEKLY', 'SEMIMONTHLY', 'MONTHLY'] as const;
const COMPANIES = ['Example Logistics', 'Sample Foods', 'Specimen Health Services', 'Placeholder Software'] as const;
const TITLES = ['Accountant', 'Driver', 'Nurse', 'Shift Manager', 'Software Engineer', 'Teacher'] as const;

/** Dates count back from `today`, the day of the inquiry. Bank transactions name an employer, but no job title and no first day. */
export function incomeReport({
  file,
  route,
  today,
}: {
  readonly file: number;
  readonly route: Route;
  readonly today: Date;
}): object {
  const made = new MadeUp('income', file);
  const payFrequency = made.oneOf(FREQUENCIES);
  const grossCents = Math.round((made.between(240, 1_400) * 10_000) / PAYCHECKS[payFrequency]);
  const spacingDays = Math.round(365 / PAYCHECKS[payFrequency]);
  const lastPaid = made.between(1, spacingDays);
  const byPayroll = route === 'PAYROLL';
  const employer = {
    name: made.oneOf(COMPANIES),
    title: made.oneOf(TITLES),
    startedOn: made.daysBefore(today, 400, 3_000),
    endedOn: null,
  };
  const earlier = {
    name: made.oneOf(COMPANIES),
    title: made.oneOf(TITLES),
    startedOn: made.daysBefore(today, 4_000, 5_000),
    endedOn: made.daysBefore(today, 3_050, 3_900),
  };
  const employers = [employer, ...(made.percent(40) ? [earlier] : [])].map((one) =>
    byPayroll ? one : { ...one, title: null, startedOn: null },
  );
  return {
    employers,
    income: { annualGrossCents: grossCents * PAYCHECKS[payFrequency], currency: 'usd', payFrequency },
    paystubs: Array.from({ length: 6 }, (_, index) => {
      const days = lastPaid + index * spacingDays;
      return {
        payDate: made.daysBefore(today, days, days),
        grossCents,
        netCents: Math.round((grossCents * made.between(70, 80)) / 100),
      };
    }),
  };
}
