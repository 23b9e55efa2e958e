// The kind of an invented file. The score decides the kind, and every section follows from the kind.

type Range = readonly [least: number, most: number];

export interface Shape {
  readonly accounts: Range;
  /** The days for which an account has been open. */
  readonly age: Range;
  /** The limit of a card, in hundreds of dollars. */
  readonly limit: Range;
  /** The used percentage of the limit. */
  readonly used: Range;
  /** The number of accounts that are not paid at present. */
  readonly unpaid: number;
  /** The largest number of months that a past-due account is late. */
  readonly behind: 1 | 3;
  /** Late months whose payments were made later. */
  readonly lateMonths: Range;
  /** The newest late month, counted back from the pull. */
  readonly newestLate: number;
  readonly inquiries: { readonly lastYear: Range; readonly yearBefore: Range };
  /** The chances, in percent, of an entry in the section. */
  readonly chances: Readonly<Record<'mortgage' | 'publicRecord' | 'background' | 'housingCourt', number>>;
}

/** The file has too little data for a score. */
export const THIN: Shape = {
  accounts: [0, 1],
  age: [40, 150],
  limit: [3, 10],
  used: [5, 28],
  unpaid: 0,
  behind: 1,
  lateMonths: [0, 0],
  newestLate: 0,
  inquiries: { lastYear: [0, 1], yearBefore: [0, 0] },
  chances: { mortgage: 0, publicRecord: 0, background: 0, housingCourt: 0 },
};

export function shapeOf(score: number | null): Shape {
  if (score === null) return THIN;
  if (score >= 670) return good(score);
  return score >= 580 ? middling(score) : risky(score);
}

function good(score: number): Shape {
  return {
    accounts: [4, 8],
    age: [730, 5_300],
    limit: [20, 200],
    used: score >= 800 ? [1, 9] : score >= 740 ? [3, 19] : [10, 28],
    unpaid: 0,
    behind: 1,
    lateMonths: score >= 700 ? [0, 0] : [1, 1],
    newestLate: 12,
    inquiries: { lastYear: [0, 2], yearBefore: [0, 1] },
    chances: { mortgage: 25, publicRecord: 0, background: 0, housingCourt: 0 },
  };
}

function middling(score: number): Shape {
  return {
    accounts: [3, 6],
    age: [400, 3_300],
    limit: [10, 80],
    used: [45, 75],
    unpaid: score >= 620 ? 0 : 1,
    behind: 1,
    lateMonths: [2, 3],
    newestLate: 3,
    inquiries: { lastYear: [2, 3], yearBefore: [0, 2] },
    chances: { mortgage: 10, publicRecord: 12, background: 8, housingCourt: 10 },
  };
}

function risky(score: number): Shape {
  const unpaid = score >= 500 ? 2 : score >= 400 ? 3 : 4;
  return {
    accounts: [unpaid + 2, unpaid + 4],
    age: [300, 2_500],
    limit: [3, 30],
    used: [80, 98],
    unpaid,
    behind: 3,
    lateMonths: [2, 4],
    newestLate: 2,
    inquiries: { lastYear: [4, 7], yearBefore: [0, 2] },
    chances: { mortgage: 0, publicRecord: 50, background: 20, housingCourt: 30 },
  };
}
