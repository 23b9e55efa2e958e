// The accounts of an invented file. The status, amounts and payment history of each account agree.
import type { MadeUp } from '../../../vendor-kit/double/made-up.js';
import { type AdultLife, YEAR } from './adult-life.js';
import type { Shape } from './shape.js';

export interface TradeLine {
  readonly creditor: string;
  readonly type: 'REVOLVING' | 'INSTALLMENT' | 'MORTGAGE';
  readonly account: string;
  readonly openedOn: string;
  readonly status: 'CURRENT' | 'PAST_DUE' | 'COLLECTION' | 'CHARGED_OFF' | 'CLOSED';
  readonly balanceCents: number;
  /** The limit of a card, the original amount of a loan. */
  readonly limitCents: number;
  readonly pastDueCents: number;
  /** One letter a month, newest first: `C` means paid on time, `1` to `3` mean 30, 60, and 90 days or more late. */
  readonly paymentHistory: string;
}

/** An account before its payments are invented. `term`: the months of a loan; null for a card. */
type Opened = Pick<TradeLine, 'creditor' | 'type' | 'account' | 'openedOn' | 'limitCents'> & {
  readonly term: number | null;
  readonly months: number;
};

const CARDS = [
  'First Example Bank',
  'Second Example Card',
  'Example Department Store',
  'Sample Fuel Card',
  'Sample Travel Card',
  'Specimen Savings Bank',
  'Placeholder Rewards Card',
  'Example Home Store',
] as const;

/** The creditor, the months to pay back, and the amount in hundreds of dollars. */
const LOANS = [
  ['Example Auto Finance', 60, 80, 350],
  ['Sample Student Loans', 120, 60, 400],
  ['Third Example Credit Union', 36, 10, 120],
  ['Specimen Furniture Credit', 24, 5, 40],
] as const;

const MONTHS_KEPT = 24;
/** Invented people have no mortgage before the age of 25. */
const YEARS_TO_A_MORTGAGE = 7;
const FIRST_DAYS = 31;
const DAYS_TO_THE_NEXT = 120;

/** The first account is a card. A person who turned 18 less than a month ago has none. */
export function tradeLines(made: MadeUp, shape: Shape, life: AdultLife): TradeLine[] {
  const possible = life.days < FIRST_DAYS ? 0 : 1 + Math.floor(life.days / DAYS_TO_THE_NEXT);
  const count = Math.min(made.between(...shape.accounts), possible);
  const opened = openAccounts(made, shape, life, count);
  const unpaid = new Set(opened.filter(canBeUnpaid).reverse().slice(0, shape.unpaid));
  let nth = 0;
  const lines = opened.map((account, index) =>
    unpaid.has(account)
      ? unpaidLine(made, account, shape, nth++)
      : paidLine(made, account, shape, index > 0 && made.percent(15)),
  );
  return withLateMonths(made, lines, shape);
}

function openAccounts(made: MadeUp, shape: Shape, life: AdultLife, count: number): Opened[] {
  const cards = made.shuffled(CARDS);
  // A loan may already be paid back. A card can be unpaid at any age.
  const loans = made.shuffled(LOANS).slice(0, Math.max(0, count - Math.max(1, shape.unpaid)));
  const [least, most] = shape.age;
  const from = (openedOn: string): Pick<Opened, 'account' | 'openedOn' | 'months'> => ({
    account: made.digits(4),
    openedOn,
    months: life.monthsSince(openedOn),
  });
  const opened = Array.from({ length: count }, (_, index): Opened => {
    const since = from(life.dayAgo(index === 0 ? Math.ceil((least + most) / 2) : least, most));
    const loan = index === 1 || (index > 1 && made.percent(35)) ? loans.pop() : undefined;
    if (loan === undefined)
      return {
        ...since,
        creditor: cards.pop() ?? CARDS[0],
        type: 'REVOLVING',
        limitCents: Math.min(made.between(...shape.limit), highestLimit(life)) * 10_000,
        term: null,
      };
    const [creditor, term, smallest, largest] = loan;
    return { ...since, creditor, type: 'INSTALLMENT', limitCents: made.between(smallest, largest) * 10_000, term };
  });
  const housed = life.days - YEARS_TO_A_MORTGAGE * YEAR;
  if (housed > 2 * YEAR && made.percent(shape.chances.mortgage))
    opened.push({
      ...from(life.dayAgo(YEAR, Math.min(housed, 12 * YEAR))),
      creditor: 'Example Home Lending',
      type: 'MORTGAGE',
      limitCents: made.between(1_200, 4_500) * 10_000,
      term: 360,
    });
  return opened;
}

/** In hundreds of dollars. Young people have low limits. */
function highestLimit({ days }: AdultLife): number {
  return 5 + Math.floor(days / 40);
}

/** One month paid, one missed, and a loan that is not paid back yet. */
function canBeUnpaid({ type, months, term }: Opened): boolean {
  return type !== 'MORTGAGE' && months >= 2 && (term === null || months < term);
}

function paidLine(made: MadeUp, account: Opened, shape: Shape, mayBeClosed: boolean): TradeLine {
  const { term, months, limitCents } = account;
  const closed = term === null ? mayBeClosed && months >= 12 : months >= term;
  const used = Math.floor((limitCents * made.between(...shape.used)) / 100);
  return {
    ...shown(account),
    status: closed ? 'CLOSED' : 'CURRENT',
    balanceCents: closed ? 0 : term === null ? used : owed(account, months),
    pastDueCents: 0,
    paymentHistory: 'C'.repeat(Math.min(months, MONTHS_KEPT)),
  };
}

/** The first unpaid account of a file is past due. Later unpaid accounts alternate, if their age allows it. */
function unpaidLine(made: MadeUp, account: Opened, shape: Shape, nth: number): TradeLine {
  const { term, months, limitCents } = account;
  const givenUp = nth > 0 && months >= 6;
  const unpaidMonths = givenUp
    ? made.between(4, Math.min(18, months - 1))
    : Math.min(made.between(1, shape.behind), months - 1);
  const balanceCents =
    term === null
      ? Math.floor((limitCents * made.between(Math.max(30, shape.used[0]), 100)) / 100)
      : owed(account, months - unpaidMonths);
  const monthly = term === null ? Math.max(2_500, Math.floor(balanceCents * 0.03)) : Math.floor(limitCents / term);
  return {
    ...shown(account),
    status: givenUp ? (nth % 2 === 1 ? 'COLLECTION' : 'CHARGED_OFF') : 'PAST_DUE',
    balanceCents,
    pastDueCents: givenUp ? balanceCents : Math.min(balanceCents, monthly * unpaidMonths),
    paymentHistory: Array.from({ length: Math.min(months, MONTHS_KEPT) }, (_, month) =>
      month < unpaidMonths ? String(Math.min(3, unpaidMonths - month)) : 'C',
    ).join(''),
  };
}

/** The remaining debt of a loan after that many payments. */
function owed({ limitCents, term }: Opened, payments: number): number {
  return limitCents - Math.floor(limitCents / (term ?? 1)) * payments;
}

function shown({
  creditor,
  type,
  account,
  openedOn,
  limitCents,
}: Opened): Omit<TradeLine, 'status' | 'balanceCents' | 'pastDueCents' | 'paymentHistory'> {
  return { creditor, type, account, openedOn, limitCents };
}

/** On open accounts that are now paid, some payments were made a month late. */
function withLateMonths(made: MadeUp, lines: TradeLine[], { lateMonths, newestLate }: Shape): TradeLine[] {
  const late = made.times(...lateMonths, () => {
    const able = lines.filter(
      ({ status, paymentHistory, type }) =>
        status === 'CURRENT' && type !== 'MORTGAGE' && paymentHistory.length > newestLate + 1,
    );
    const line = able[made.between(0, able.length - 1)];
    return line && { line, month: made.between(newestLate, line.paymentHistory.length - 2) };
  });
  return lines.map((line) => {
    const months = new Set(late.flatMap((one) => (one?.line === line ? [one.month] : [])));
    const paymentHistory = Array.from(line.paymentHistory, (mark, month) => (months.has(month) ? '1' : mark)).join('');
    return { ...line, paymentHistory };
  });
}
