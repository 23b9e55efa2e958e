// Invents the credit report of a file number. The sections are consistent: they follow from the score and the person's age.
import { MadeUp, dateOf } from '../../../vendor-kit/double/made-up.js';
import { tradeLines } from './accounts.js';
import { AdultLife } from './adult-life.js';
import { alerts, records } from './court-records.js';
import { factorsOf } from './factors.js';
import { inquiries } from './inquiries.js';
import type { Details } from './person-tokens.js';
import type { Shown } from './personas.js';
import { shapeOf } from './shape.js';
import { MAX_SCORE, MIN_SCORE } from './subject.js';

const MODEL = 'Sandbox Score 1.0';

const FIRST_NAMES = ['Alex', 'Casey', 'Jordan', 'Morgan', 'Riley', 'Taylor'] as const;
const LAST_NAMES = ['Example', 'Sample', 'Specimen', 'Placeholder'] as const;
const STREETS = ['Alder Street', 'Birch Avenue', 'Cedar Lane', 'Dogwood Drive'] as const;
const TOWNS = [
  'Exampleville, IL 60001',
  'Sampleton, OH 43001',
  'Specimen Falls, NY 14001',
  'Placeholder City, TX 75001',
] as const;

/** The vendor searches the same places for every address of a person. */
const SEARCHES = [
  ['publicRecords', 'Federal bankruptcy courts, and the civil courts of all states'],
  ['background', 'Criminal courts of all states and counties'],
  ['housingCourt', 'Housing courts of all states and counties'],
] as const;

interface Consumer {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly birthYear: number;
  readonly ssnLastFour?: string;
}

export interface ReportBody {
  readonly score: object | null;
  readonly report: {
    readonly consumer: Consumer;
    readonly alerts: readonly { readonly type?: string }[];
    readonly [section: string]: unknown;
  };
}

/**
 * `score` null: a thin file, with too little data for a score. Dates count back from `today`, the day of the pull. No date is before the 18th
 * birthday. `bornOn` null: the birth date is invented. The consumer is always invented; `withDetails` replaces it by the person's data.
 */
export function reportBody({
  file,
  score,
  today,
  bornOn,
  shows,
}: {
  readonly file: number;
  readonly score: number | null;
  readonly today: Date;
  readonly bornOn: string | null;
  readonly shows?: Shown | undefined;
}): ReportBody {
  const made = new MadeUp('credit', file);
  const consumer = madeUpConsumer(made, today);
  const life = new AdultLife(made, today, bornOn ?? `${consumer.birthYear}-12-31`);
  const shape = shapeOf(score);
  const lines = tradeLines(made, shape, life);
  const asked = inquiries(made, shape, life, lines);
  const found = records(made, shape, life, shows);
  const date = dateOf(today);
  const factors = factorsOf(lines, asked, found.publicRecords, life);
  return {
    score: score === null ? null : { value: score, model: MODEL, min: MIN_SCORE, max: MAX_SCORE, factors, date },
    report: {
      consumer,
      alerts: alerts(life, shows),
      searches: SEARCHES.map(([section, area]) => ({ section, area, date })),
      tradeLines: lines,
      inquiries: asked,
      ...found,
    },
  };
}

/** The report with the typed data. Earlier addresses stay. An address that differs from the file's comes before all others. */
export function withDetails(
  { score, report }: ReportBody,
  { name, address, bornOn, ssnLastFour }: Details,
): ReportBody {
  const isNew = report.alerts.some(({ type }) => type === 'ADDRESS_MISMATCH');
  const earlier = report.consumer.addresses.slice(isNew ? 0 : 1).filter((other) => other !== address);
  const consumer: Consumer = {
    name,
    addresses: [address, ...earlier],
    birthYear: Number(bornOn.slice(0, 4)),
    ...(ssnLastFour !== undefined && { ssnLastFour }),
  };
  return { score, report: { ...report, consumer } };
}

function madeUpConsumer(made: MadeUp, today: Date): Consumer {
  return {
    name: `${made.oneOf(FIRST_NAMES)} ${made.oneOf(LAST_NAMES)}`,
    addresses: made.times(1, 3, () => `${made.between(1, 999)} ${made.oneOf(STREETS)}, ${made.oneOf(TOWNS)}`),
    birthYear: today.getUTCFullYear() - made.between(21, 78),
  };
}
