// Makes up the credit report of a file number: consumer, trade lines, public records, inquiries, background, housing court.
import { MadeUp, dateOf } from '../../../vendor-kit/double/made-up.js';
import { MAX_SCORE, MIN_SCORE } from './subject.js';

const YEAR = 365;
const MODEL = 'Sandbox Score 1.0';

const FACTORS = [
  'Balances are high compared with limits',
  'Too few accounts are paid as agreed',
  'The accounts have not been open long',
  'Too many inquiries in the last twelve months',
  'No recent activity on revolving accounts',
  'Too many accounts with balances',
] as const;
const CREDITORS = {
  REVOLVING: ['First Example Bank', 'Example Department Store', 'Second Example Card', 'Sample Fuel Card'],
  INSTALLMENT: ['Example Auto Finance', 'Sample Student Loans', 'Third Example Credit Union'],
  MORTGAGE: ['Example Home Lending'],
} as const;
const FIRST_NAMES = ['Alex', 'Casey', 'Jordan', 'Morgan', 'Riley', 'Taylor'] as const;
const LAST_NAMES = ['Example', 'Sample', 'Specimen', 'Placeholder'] as const;
const STREETS = ['Alder Street', 'Birch Avenue', 'Cedar Lane', 'Dogwood Drive'] as const;
const TOWNS = [
  'Exampleville IL 60001',
  'Sampleton OH 43001',
  'Specimen Falls NY 14001',
  'Placeholder City TX 75001',
] as const;
const COUNTIES = ['North County', 'South County', 'East County', 'West County'] as const;

/** `score` null: a thin file, with too little data for a score. Dates count back from `today`, the day of the pull. */
export function reportBody({
  file,
  score,
  today,
}: {
  readonly file: number;
  readonly score: number | null;
  readonly today: Date;
}): object {
  const made = new MadeUp('credit', file);
  const report = {
    consumer: consumer(made, today),
    tradeLines:
      score === null ? made.times(0, 1, () => tradeLine(made, today)) : made.times(3, 8, () => tradeLine(made, today)),
    publicRecords: score === null ? [] : made.times(0, made.percent(30) ? 2 : 0, () => publicRecord(made, today)),
    inquiries: made.times(0, 4, () => inquiry(made, today)),
    background: made.times(0, made.percent(20) ? 2 : 0, () => backgroundRecord(made, today)),
    housingCourt: made.times(0, made.percent(20) ? 2 : 0, () => housingCourtRecord(made, today)),
  };
  return {
    score:
      score === null
        ? null
        : { value: score, model: MODEL, min: MIN_SCORE, max: MAX_SCORE, factors: factors(made), date: dateOf(today) },
    report,
  };
}

function factors(made: MadeUp): string[] {
  const first = made.between(0, FACTORS.length - 1);
  return Array.from({ length: 4 }, (_, place) => FACTORS[(first + place) % FACTORS.length] ?? FACTORS[0]);
}

function consumer(made: MadeUp, today: Date): object {
  return {
    name: `${made.oneOf(FIRST_NAMES)} ${made.oneOf(LAST_NAMES)}`,
    addresses: made.times(1, 3, () => `${made.between(1, 999)} ${made.oneOf(STREETS)}, ${made.oneOf(TOWNS)}`),
    birthYear: today.getUTCFullYear() - made.between(21, 78),
  };
}

function tradeLine(made: MadeUp, today: Date): object {
  const type = made.oneOf(['REVOLVING', 'REVOLVING', 'INSTALLMENT', 'MORTGAGE']);
  const limitCents = type === 'REVOLVING' ? made.between(5, 200) * 10_000 : null;
  const mostCents = limitCents ?? (type === 'MORTGAGE' ? 40_000_000 : 3_000_000);
  const late = made.percent(15);
  const closed = !late && made.percent(25);
  const balanceCents = closed ? 0 : made.between(late ? 10_000 : 0, mostCents);
  return {
    creditor: made.oneOf(CREDITORS[type]),
    type,
    account: made.digits(4),
    openedOn: made.daysBefore(today, 2 * YEAR, 15 * YEAR),
    status: late ? 'PAST_DUE' : closed ? 'CLOSED' : 'CURRENT',
    balanceCents,
    limitCents,
    pastDueCents: late ? Math.min(balanceCents, made.between(25, 400) * 100) : 0,
    paymentHistory: `${late ? '1' : 'C'}${Array.from({ length: 23 }, () => (made.percent(4) ? '1' : 'C')).join('')}`,
  };
}

function publicRecord(made: MadeUp, today: Date): object {
  return {
    type: made.oneOf(['BANKRUPTCY_CHAPTER_7', 'BANKRUPTCY_CHAPTER_13', 'CIVIL_JUDGMENT']),
    court: `${made.oneOf(COUNTIES)} District Court`,
    filedOn: made.daysBefore(today, YEAR, 7 * YEAR),
    status: made.oneOf(['DISCHARGED', 'DISMISSED', 'SATISFIED']),
    amountCents: made.percent(70) ? made.between(500, 20_000) * 100 : null,
  };
}

function inquiry(made: MadeUp, today: Date): object {
  return {
    subscriber: made.oneOf([
      'First Example Bank',
      'Example Auto Finance',
      'Sample Telecom',
      'Example Property Management',
    ]),
    date: made.daysBefore(today, 10, 2 * YEAR),
    purpose: made.oneOf(['CREDIT_APPLICATION', 'TENANT_SCREENING', 'ACCOUNT_REVIEW']),
  };
}

function backgroundRecord(made: MadeUp, today: Date): object {
  return {
    jurisdiction: made.oneOf(COUNTIES),
    offense: made.oneOf(['Driving without a license', 'Disorderly conduct', 'Petty theft']),
    severity: made.oneOf(['INFRACTION', 'MISDEMEANOR']),
    date: made.daysBefore(today, YEAR, 7 * YEAR),
    disposition: made.oneOf(['DISMISSED', 'CONVICTED', 'PLEADED_NO_CONTEST']),
  };
}

function housingCourtRecord(made: MadeUp, today: Date): object {
  const judgment = made.percent(40);
  return {
    court: `${made.oneOf(COUNTIES)} Housing Court`,
    caseType: made.oneOf(['NONPAYMENT', 'HOLDOVER']),
    filedOn: made.daysBefore(today, YEAR, 7 * YEAR),
    outcome: judgment ? 'JUDGMENT_FOR_LANDLORD' : made.oneOf(['DISMISSED', 'SETTLED']),
    judgmentCents: judgment ? made.between(500, 9_000) * 100 : null,
  };
}
