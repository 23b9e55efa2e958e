// The credit reports of acme. The same person always gets the same invented file.
import { createHash } from 'node:crypto';
import { MadeUp, dateOf } from '../../../vendor-kit/double/made-up.js';
import { personaNamed } from './personas.js';
import type { PersonBody } from './requests.js';

/** The journal's entry, without personal data. */
export interface Report {
  readonly id: string;
  readonly persona: string;
  /** The number of the invented file. */
  readonly file: number;
  /** Milliseconds since 1970. */
  readonly orderedAt: number;
}

/** The personal data of a report. The double has these data in memory only. */
export interface Consumer {
  readonly display_name: string;
  readonly addresses: readonly string[];
  readonly birth_year: number;
  readonly ssn_tail?: string;
}

const LENDERS = [
  'First Example Bank',
  'Sample Travel Card',
  'Specimen Auto Finance',
  'Placeholder Student Loans',
] as const;
const REASONS = ['utilization_high', 'history_short', 'inquiries_many', 'payments_late', 'accounts_few'] as const;
const SUBSCRIBERS = ['Example Lending', 'Sample Leasing', 'Specimen Mobile'] as const;
const DECADE_DAYS = 3_650;

export function fileOf({ given_name = '', family_name = '', birth_date = '', ssn = '' }: PersonBody): number {
  const digest = createHash('sha256').update([given_name, family_name, birth_date, ssn].join('/').toLowerCase());
  return digest.digest().readUInt32BE() % 10_000;
}

export function consumerOf({ given_name, middle_name, family_name, birth_date, address, ssn }: PersonBody): Consumer {
  const { line1, city, region, postal_code } = address ?? {};
  return {
    display_name: [given_name, middle_name, family_name].filter((name) => name !== undefined).join(' '),
    addresses: [`${line1 ?? ''}, ${city ?? ''}, ${region ?? ''} ${postal_code ?? ''}`],
    birth_year: Number(birth_date?.slice(0, 4)),
    ...(ssn !== undefined && { ssn_tail: ssn.slice(-4) }),
  };
}

/** The answer about a report. `consumer` is null after a restart of the double, which then invents the person. */
export function reportBody({ id, persona: name, file, orderedAt }: Report, consumer: Consumer | null): object {
  const persona = personaNamed(name);
  const state = persona.is === 'approved' ? persona.file : undefined;
  if (state !== undefined && state !== 'thin') return { id, state: 'not_available', reason: state };
  const made = new MadeUp('acme', file);
  const today = new Date(orderedAt);
  const value = made.between(300, 850);
  const reasons = made.shuffled(REASONS).slice(0, made.between(1, 4));
  const scale = { low: 300, high: 850 };
  const score = { value, model: 'Acme Rent Score 4', scale, reasons, as_of: dateOf(today) };
  return {
    id,
    state: 'ready',
    score: state === 'thin' ? null : score,
    consumer: consumer ?? { display_name: 'Alex Example', addresses: ['1 Example Street'], birth_year: 1_980 },
    notices: made.percent(20) ? [{ kind: 'address_new', on: made.daysBefore(today, 10, 90) }] : [],
    tradelines: state === 'thin' ? [] : made.times(2, 5, () => tradeline(made, today)),
    public_records: value < 560 ? [publicRecord(made, today)] : [],
    inquiries: made.times(0, 3, () => ({
      by: made.oneOf(SUBSCRIBERS),
      on: made.daysBefore(today, 20, 700),
      purpose: 'credit',
    })),
  };
}

/** Amounts are dollars with two decimals, as text. */
function tradeline(made: MadeUp, today: Date): object {
  const limit = made.between(5, 300) * 100;
  const isLate = made.percent(15);
  const balance = made.between(0, limit * 100);
  return {
    lender: made.oneOf(LENDERS),
    kind: made.oneOf(['revolving', 'installment']),
    account_tail: made.digits(4),
    opened: made.daysBefore(today, 200, DECADE_DAYS),
    state: isLate ? 'past_due' : 'current',
    balance: dollars(balance),
    limit: dollars(limit * 100),
    past_due: dollars(isLate ? Math.floor(balance / 20) : 0),
    months: `${isLate ? '1' : 'C'}${'C'.repeat(made.between(5, 23))}`,
  };
}

function publicRecord(made: MadeUp, today: Date): object {
  return {
    kind: 'civil_judgment',
    court: 'Example County Court',
    filed: made.daysBefore(today, 400, DECADE_DAYS),
    state: 'satisfied',
    amount: dollars(made.between(10_000, 900_000)),
  };
}

function dollars(cents: number): string {
  return (cents / 100).toFixed(2);
}
