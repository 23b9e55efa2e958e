// The outcome of an inquiry, by its person's persona (docs/sandbox.md).
import { MadeUp } from '../../../vendor-kit/double/made-up.js';

export type Ending = 'completed' | 'NO_MATCH' | 'VENDOR_ERROR';

/** The persona of an unknown session, which matches no person. */
export const UNKNOWN_PERSON = 'unknown person';

/** Null means that the inquiry never ends. */
export function endingOf(persona: string): Ending | null {
  switch (persona) {
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

const MONTHS = 12;
const COMPANIES = ['Example Logistics', 'Sample Foods', 'Specimen Health Services', 'Placeholder Software'] as const;

/** Dates count back from `today`, the day of the inquiry. Two payers have paid wages, one of them until earlier. */
export function reportOf({ file, today }: { readonly file: number; readonly today: Date }): object {
  const made = new MadeUp('cashflow', file);
  const grossCents = made.between(2_400, 14_000) * 100;
  const [current, earlier] = made.shuffled(COMPANIES);
  return {
    payers: [
      { name: current, lastPaidOn: null },
      { name: earlier, lastPaidOn: made.daysBefore(today, 200, 400) },
    ],
    income: { annualGrossCents: grossCents * MONTHS, currency: 'usd', payFrequency: 'MONTHLY' },
    deposits: Array.from({ length: 6 }, (_, index) => ({
      paidOn: made.daysBefore(today, 10 + index * 30, 10 + index * 30),
      grossCents,
      netCents: Math.round((grossCents * made.between(70, 80)) / 100),
    })),
  };
}
