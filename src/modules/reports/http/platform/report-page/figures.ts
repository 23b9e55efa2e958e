// The figures of the report's first page, computed from the bureau's data. Pure.
import type { TradeLine, VendorReport } from '../../../application/report-bodies.js';

/** One month of a payment history. `late90` means 90 days or more, which includes collection, charge-off and repossession. */
export type MonthState = 'onTime' | 'late30' | 'late60' | 'late90' | 'noData';

export interface Month {
  /** YYYY-MM. */
  readonly month: string;
  readonly state: MonthState;
}

/** In whole percent. Null if the accounts have no data for it. */
type Share = number | 'noAccounts' | null;

/** Amounts are in cents. */
export interface Figures {
  readonly openAccounts: number;
  readonly balanceCents: number;
  readonly pastDueCents: number;
  readonly onTimePercent: Share;
  readonly creditUsedPercent: Share;
  readonly inquiries: number;
}

/** The number of an account's months that the page shows, and over which it computes the share of payments on time. */
export const MONTHS_SHOWN = 24;

/** The bureau's letters and digits for one month. A month with any other mark has no data. */
const STATES: Readonly<Record<string, MonthState>> = {
  C: 'onTime',
  '0': 'onTime',
  '1': 'late30',
  '2': 'late60',
  ...Object.fromEntries(Array.from('3456789GHJKL', (mark) => [mark, 'late90' as const])),
};

export type Band = 'poor' | 'fair' | 'good' | 'veryGood' | 'exceptional';

/** The first score of each band, on the scale from 300 to 850. */
export const BANDS: readonly (readonly [from: number, band: Band])[] = [
  [300, 'poor'],
  [580, 'fair'],
  [670, 'good'],
  [740, 'veryGood'],
  [800, 'exceptional'],
];
/** The only scale whose bands are known. */
export const MIN_SCORE = 300;
export const MAX_SCORE = 850;

export interface Scored {
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

/** Null on any scale other than 300 to 850, because the bands of other scales are not known. */
export function bandOf({ value, min, max }: Scored): Band | null {
  if (min !== MIN_SCORE || max !== MAX_SCORE || value < min || value > max) return null;
  return BANDS.findLast(([from]) => value >= from)?.[1] ?? null;
}

/** `generatedAt`: ISO 8601 UTC, the time of the pull. */
export function figuresOf(
  { tradeLines, inquiries }: Pick<VendorReport, 'tradeLines' | 'inquiries'>,
  generatedAt: string,
): Figures {
  const open = tradeLines.filter(isOpen);
  const months = tradeLines.flatMap((line) => monthsOf(line, generatedAt)).filter(({ state }) => state !== 'noData');
  const revolving = open.filter(({ type }) => type === 'REVOLVING');
  const limited = revolving.filter(({ limitCents }) => limitCents !== null && limitCents > 0);
  const share = (of: readonly TradeLine[], part: number, whole: number): Share =>
    of.length === 0 ? 'noAccounts' : percent(part, whole);
  return {
    openAccounts: open.length,
    balanceCents: sum(open, ({ balanceCents }) => balanceCents),
    pastDueCents: sum(tradeLines, ({ pastDueCents }) => pastDueCents),
    onTimePercent: share(tradeLines, months.filter(({ state }) => state === 'onTime').length, months.length),
    creditUsedPercent: share(
      revolving,
      sum(limited, ({ balanceCents }) => balanceCents),
      sum(limited, ({ limitCents }) => limitCents ?? 0),
    ),
    inquiries: inquiries.filter(({ date }) => date >= yearBefore(generatedAt)).length,
  };
}

export function isOpen({ status }: Pick<TradeLine, 'status'>): boolean {
  return status !== 'CLOSED';
}

/** Whether a collector has the account, or the creditor has written it off. */
export function isInCollection({ status }: Pick<TradeLine, 'status'>): boolean {
  return /COLLECTION|CHARGE[D_-]*OFF|REPOSSESS/.test(status);
}

/** Oldest month first, at most `MONTHS_SHOWN`. The newest is the month before the pull, which is the last month that can be paid in full. */
export function monthsOf({ paymentHistory }: Pick<TradeLine, 'paymentHistory'>, generatedAt: string): readonly Month[] {
  const pulled = new Date(generatedAt);
  return Array.from(paymentHistory)
    .slice(0, MONTHS_SHOWN)
    .map((mark, index) => ({
      month: new Date(Date.UTC(pulled.getUTCFullYear(), pulled.getUTCMonth() - 1 - index)).toISOString().slice(0, 7),
      state: STATES[mark.toUpperCase()] ?? 'noData',
    }))
    .reverse();
}

/** Open accounts come before closed accounts, and the worst account is first: past due, then late in the shown months, then the highest balance. */
export function worstFirst(lines: readonly TradeLine[], generatedAt: string): readonly TradeLine[] {
  const lateMonths = (line: TradeLine): number =>
    monthsOf(line, generatedAt).filter(({ state }) => state !== 'onTime' && state !== 'noData').length;
  const rank = (line: TradeLine): readonly number[] => [
    isOpen(line) ? 0 : 1,
    isInCollection(line) ? 0 : 1,
    -line.pastDueCents,
    -lateMonths(line),
    -line.balanceCents,
  ];
  const ranked = lines.map((line) => ({ line, rank: rank(line) }));
  return ranked.sort((one, other) => compared(one.rank, other.rank)).map(({ line }) => line);
}

/** Newest first, compared by the text of the calendar day. */
export function newestFirst<Entry>(entries: readonly Entry[], day: (entry: Entry) => string): readonly Entry[] {
  return [...entries].sort((one, other) => day(other).localeCompare(day(one)));
}

function compared(one: readonly number[], other: readonly number[]): number {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function sum<Entry>(entries: readonly Entry[], cents: (entry: Entry) => number): number {
  return entries.reduce((total, entry) => total + cents(entry), 0);
}

function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((100 * part) / whole);
}

function yearBefore(time: string): string {
  const day = new Date(time);
  day.setUTCFullYear(day.getUTCFullYear() - 1);
  return day.toISOString().slice(0, 10);
}
