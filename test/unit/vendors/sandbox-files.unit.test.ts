// The invented credit files of the sandbox. Each tells a plausible story, so that a landlord can judge it.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TradeLine } from '../../../src/vendors/idv/double/accounts.js';
import type { Inquiry } from '../../../src/vendors/idv/double/inquiries.js';
import type { Shown } from '../../../src/vendors/idv/double/personas.js';
import { reportBody, withDetails } from '../../../src/vendors/idv/double/report.js';

interface File {
  readonly score: { readonly value: number; readonly factors: readonly string[]; readonly date: string } | null;
  readonly report: {
    readonly consumer: {
      readonly name: string;
      readonly addresses: readonly string[];
      readonly birthYear: number;
      readonly ssnLastFour?: string;
    };
    readonly alerts: readonly { readonly type: string; readonly date?: string }[];
    readonly searches: readonly { readonly section: string; readonly area: string; readonly date: string }[];
    readonly tradeLines: readonly TradeLine[];
    readonly inquiries: readonly Inquiry[];
    readonly publicRecords: readonly { readonly type: string; readonly filedOn: string; readonly status: string }[];
    readonly background: readonly { readonly date: string; readonly disposition: string }[];
    readonly housingCourt: readonly { readonly filedOn: string; readonly outcome: string }[];
  };
}

const DAY_MS = 86_400_000;
const SHOWN: readonly (Shown | undefined)[] = [
  undefined,
  'eviction',
  'background',
  'bankruptcy',
  'fraud-alert',
  'active-duty',
  'new-address',
];

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const yearsLater = (day: string, years: number): string =>
  dateOf(Date.UTC(Number(day.slice(0, 4)) + years, Number(day.slice(5, 7)) - 1, Number(day.slice(8))));

interface Given {
  readonly file: number;
  readonly score: number | null;
  readonly today: Date;
  readonly bornOn: string | null;
  readonly shows: Shown | undefined;
}

/** Adults of every age up to 90, on any day. The youngest turned 18 on the day of the pull. */
const given: fc.Arbitrary<Given> = fc
  .record({
    file: fc.nat(9_999),
    score: fc.option(fc.integer({ min: 300, max: 850 }), { freq: 10 }),
    now: fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2031, 11, 31) }),
    adultDays: fc.oneof(fc.nat(26_000), fc.nat(1_000)),
    detailed: fc.boolean(),
    shows: fc.constantFrom(...SHOWN),
  })
  .map(({ file, score, now, adultDays, detailed, shows }) => ({
    file,
    score,
    today: new Date(now),
    bornOn: detailed ? yearsLater(dateOf(now - adultDays * DAY_MS), -18) : null,
    shows,
  }));

const fileOf = (one: Given): File => reportBody(one) as unknown as File;

/** The property of every file. */
function always(property: (file: File, one: Given) => void): void {
  fc.assert(
    fc.property(given, (one) => property(fileOf(one), one)),
    { numRuns: 400 },
  );
}

const scored = (file: File): readonly string[] => file.score?.factors ?? [];
const daysIn = (file: File): readonly string[] =>
  [...JSON.stringify(file.report).matchAll(/"(\d{4}-\d\d-\d\d)"/g)].map(([, day]) => day!);
const sum = (lines: readonly TradeLine[], of: (line: TradeLine) => number): number =>
  lines.reduce((total, line) => total + of(line), 0);
const withinYear = ({ report }: File, today: Date): readonly Inquiry[] =>
  report.inquiries.filter(({ date }) => date >= yearsLater(dateOf(today.getTime()), -1));
const openCards = ({ report }: File): readonly TradeLine[] =>
  report.tradeLines.filter(({ type, status }) => type === 'REVOLVING' && status !== 'CLOSED');
const percentUsed = (file: File): number =>
  (100 * sum(openCards(file), ({ balanceCents }) => balanceCents)) /
  sum(openCards(file), ({ limitCents }) => limitCents);
const isLate = ({ paymentHistory }: TradeLine): boolean => /[123]/.test(paymentHistory);

describe('the dates in a file', () => {
  it('are between the 18th birthday and the day of the pull', () =>
    always((file, { today, bornOn }) => {
      const adultOn = yearsLater(bornOn ?? `${file.report.consumer.birthYear}-12-31`, 18);
      const last = dateOf(today.getTime());
      for (const day of daysIn(file)) expect([day, day >= adultOn && day <= last]).toEqual([day, true]);
    }));

  it('are newest first among inquiries, and none is older than two years', () =>
    always(({ report }, { today }) => {
      const days = report.inquiries.map(({ date }) => date);
      expect(days).toEqual([...days].sort().reverse());
      for (const day of days) expect(day >= yearsLater(dateOf(today.getTime()), -2)).toBe(true);
    }));
});

describe('an account in a file', () => {
  it("has a payment history as long as the account's age, up to 24 months", () =>
    always(({ report }, { today }) => {
      for (const { openedOn, paymentHistory } of report.tradeLines) {
        const [year, month, day] = openedOn.split('-').map(Number) as [number, number, number];
        const calendar = (today.getUTCFullYear() - year) * 12 + today.getUTCMonth() + 1 - month;
        const months = calendar - (today.getUTCDate() < day ? 1 : 0);
        expect(paymentHistory).toMatch(/^[C123]*$/);
        expect(paymentHistory).toHaveLength(Math.min(24, months));
      }
    }));

  it('owes at most its limit or its original amount, and its past due amount is at most the debt', () =>
    always(({ report }) => {
      for (const { balanceCents, limitCents, pastDueCents } of report.tradeLines) {
        expect([balanceCents, limitCents, pastDueCents].every((cents) => Number.isSafeInteger(cents))).toBe(true);
        expect(0 <= pastDueCents && pastDueCents <= balanceCents && balanceCents <= limitCents).toBe(true);
      }
    }));

  it('has a status, an amount past due and a newest month that agree', () =>
    always(({ report }) => {
      for (const { status, balanceCents, pastDueCents, paymentHistory } of report.tradeLines) {
        const newest = paymentHistory.charAt(0);
        switch (status) {
          case 'CURRENT':
            expect([pastDueCents, newest]).toEqual([0, expect.stringMatching(/^C?$/)]);
            break;
          case 'CLOSED':
            expect([balanceCents, pastDueCents, newest]).toEqual([0, 0, 'C']);
            break;
          case 'PAST_DUE':
            expect([pastDueCents > 0, newest]).toEqual([true, expect.stringMatching(/^[123]$/)]);
            break;
          default:
            expect(['COLLECTION', 'CHARGED_OFF']).toContain(status);
            expect([pastDueCents, newest]).toEqual([balanceCents, '3']);
            expect(balanceCents).toBeGreaterThan(0);
        }
      }
    }));

  it('becomes later by one month at a time', () =>
    always(({ report }) => {
      for (const { paymentHistory } of report.tradeLines) {
        const months = [...paymentHistory].reverse().map((mark) => (mark === 'C' ? 0 : Number(mark)));
        months.forEach((late, month) => expect(late - (months[month - 1] ?? 0)).toBeLessThanOrEqual(1));
      }
    }));

  it('shows four digits, a known kind, and a creditor that no other account of the file has', () =>
    always(({ report }) => {
      for (const { account, type } of report.tradeLines)
        expect([account, type]).toEqual([
          expect.stringMatching(/^\d{4}$/),
          expect.stringMatching(/^(REVOLVING|INSTALLMENT|MORTGAGE)$/),
        ]);
      expect(new Set(report.tradeLines.map(({ creditor }) => creditor)).size).toBe(report.tradeLines.length);
    }));

  it('follows an inquiry that was made shortly before, if the account is less than two years old', () =>
    always(({ report }, { today }) => {
      for (const { creditor, openedOn } of report.tradeLines) {
        if (openedOn < dateOf(today.getTime() - 700 * DAY_MS)) continue;
        const inquiry = report.inquiries.find(({ subscriber }) => subscriber === creditor);
        expect(inquiry !== undefined && inquiry.date <= openedOn).toBe(true);
      }
    }));

  it('is a mortgage only if the person was at least 25', () =>
    always(({ report }, { bornOn }) => {
      const born = bornOn ?? `${report.consumer.birthYear}-12-31`;
      for (const { type, openedOn } of report.tradeLines)
        if (type === 'MORTGAGE') expect(openedOn >= yearsLater(born, 24)).toBe(true);
    }));
});

describe('the reasons for a score', () => {
  it('are one to four different ones, and are missing without a score', () =>
    always((file) => {
      const factors = scored(file);
      expect(factors.length > 0).toBe(file.score !== null);
      expect(factors.length).toBeLessThanOrEqual(4);
      expect(new Set(factors).size).toBe(factors.length);
    }));

  const CLAIMS: readonly (readonly [factor: string, holds: (file: File, today: Date) => boolean])[] = [
    ['Too many inquiries in the last twelve months', (file, today) => withinYear(file, today).length >= 4],
    ['There are no inquiries in the last twelve months', (file, today) => withinYear(file, today).length === 0],
    [
      'The accounts have not been open long',
      ({ report }, today) => {
        const oldest = report.tradeLines.map(({ openedOn }) => openedOn).sort()[0];
        return oldest !== undefined && oldest > yearsLater(dateOf(today.getTime()), -4);
      },
    ],
    [
      'An account has been open for many years',
      ({ report }, today) =>
        report.tradeLines.some(({ openedOn }) => openedOn < yearsLater(dateOf(today.getTime()), -4)),
    ],
    ['Balances are high compared with limits', (file) => percentUsed(file) >= 30],
    ['Balances are low compared with limits', (file) => percentUsed(file) < 30],
    ['An account is past due', ({ report }) => report.tradeLines.some(({ status }) => status === 'PAST_DUE')],
    [
      'An account is in collection or charged off',
      ({ report }) => report.tradeLines.some(({ status }) => /^(COLLECTION|CHARGED_OFF)$/.test(status)),
    ],
    ['A public record is on file', ({ report }) => report.publicRecords.length > 0],
    ['A payment was late in the last 24 months', ({ report }) => report.tradeLines.some(isLate)],
    [
      'Too few accounts are paid as agreed',
      ({ report }) => report.tradeLines.filter(isLate).length > report.tradeLines.length / 2,
    ],
    ['All accounts are paid as agreed', ({ report }) => !report.tradeLines.some(isLate)],
    ['There are few accounts on file', ({ report }) => report.tradeLines.length < 3],
    [
      'Too many accounts with balances',
      ({ report }) => report.tradeLines.filter(({ balanceCents }) => balanceCents > 0).length > 6,
    ],
  ];

  it('make only true statements about the file', () =>
    always((file, { today }) => {
      for (const factor of scored(file)) {
        const claim = CLAIMS.find(([text]) => text === factor);
        expect([factor, claim?.[1](file, today)]).toEqual([factor, true]);
      }
    }));
});

describe('the kind of a file', () => {
  /** A person of 45, whose age allows every kind of file. */
  const grown = (score: number | null, file: number, shows?: Shown): File =>
    fileOf({ file, score, today: new Date('2026-11-25'), bornOn: '1981-05-06', shows });
  const eachFile = (least: number, most: number, property: (file: File, score: number) => void): void =>
    fc.assert(
      fc.property(fc.integer({ min: least, max: most }), fc.nat(9_999), (score, file) =>
        property(grown(score, file), score),
      ),
      { numRuns: 300 },
    );

  it('is good from 670: no past due amounts, little card use, few inquiries, no records', () =>
    eachFile(670, 850, (file, score) => {
      const { tradeLines, publicRecords, background, housingCourt } = file.report;
      expect(sum(tradeLines, ({ pastDueCents }) => pastDueCents)).toBe(0);
      expect(tradeLines.filter(isLate).length).toBeLessThanOrEqual(score >= 700 ? 0 : 1);
      expect(tradeLines.length).toBeGreaterThanOrEqual(4);
      expect(percentUsed(file)).toBeLessThan(30);
      expect(withinYear(file, new Date('2026-11-25')).length).toBeLessThanOrEqual(2);
      expect([publicRecords, background, housingCourt]).toEqual([[], [], []]);
    }));

  it('is middling from 580: much card use, late payments, and an account past due below 620', () =>
    eachFile(580, 669, (file, score) => {
      const { tradeLines } = file.report;
      expect(tradeLines.some(isLate)).toBe(true);
      expect(percentUsed(file)).toBeGreaterThan(40);
      expect(tradeLines.filter(({ status }) => status === 'PAST_DUE')).toHaveLength(score < 620 ? 1 : 0);
      expect(tradeLines.some(({ status }) => /COLLECTION|CHARGED_OFF/.test(status))).toBe(false);
    }));

  it('is risky below 580: accounts past due and charged off, cards almost full, many inquiries', () =>
    eachFile(300, 579, (file, score) => {
      const { tradeLines } = file.report;
      const unpaid = tradeLines.filter(({ pastDueCents }) => pastDueCents > 0).length;
      expect(unpaid).toBeGreaterThanOrEqual(score < 400 ? 3 : 2);
      expect(tradeLines.some(({ status }) => /COLLECTION|CHARGED_OFF/.test(status))).toBe(true);
      expect(percentUsed(file)).toBeGreaterThanOrEqual(75);
      expect(withinYear(file, new Date('2026-11-25')).length).toBeGreaterThanOrEqual(4);
    }));

  it('is thin without a score: at most one young account, and one inquiry', () =>
    fc.assert(
      fc.property(fc.nat(9_999), (file) => {
        const { tradeLines, inquiries } = grown(null, file).report;
        expect(tradeLines.length).toBeLessThanOrEqual(1);
        expect(inquiries.length).toBeLessThanOrEqual(1);
        for (const { openedOn } of tradeLines) expect(openedOn > '2026-05-25').toBe(true);
      }),
    ));

  it('includes files with every section among the middling and risky ones', () => {
    const files = Array.from({ length: 200 }, (_, file) => grown(300 + file, file).report);
    for (const section of ['publicRecords', 'background', 'housingCourt'] as const)
      expect([section, files.some((report) => report[section].length > 0)]).toEqual([section, true]);
  });
});

describe('a file of a persona with a special record', () => {
  const shown = (shows: Shown, property: (file: File) => void): void =>
    fc.assert(fc.property(given, (one) => property(fileOf({ ...one, shows }))));

  it('has an eviction', () =>
    shown('eviction', ({ report }) =>
      expect(report.housingCourt).toEqual([
        expect.objectContaining({ outcome: 'JUDGMENT_FOR_LANDLORD', judgmentCents: expect.any(Number) }),
      ]),
    ));

  it('has a conviction', () =>
    shown('background', ({ report }) =>
      expect(report.background).toEqual([expect.objectContaining({ disposition: 'CONVICTED' })]),
    ));

  it('has a bankruptcy, and a score with the reason for it', () =>
    shown('bankruptcy', (file) => {
      expect(file.report.publicRecords).toEqual([
        expect.objectContaining({ type: expect.stringMatching(/^BANKRUPTCY_/), status: 'DISCHARGED' }),
      ]);
      if (file.score !== null) expect(scored(file)).toContain('A public record is on file');
    }));

  it.each<[Shown, string]>([
    ['fraud-alert', 'FRAUD_ALERT'],
    ['active-duty', 'ACTIVE_DUTY'],
    ['new-address', 'ADDRESS_MISMATCH'],
  ])('has the alert of the persona: %s', (shows, type) =>
    shown(shows, ({ report }) => expect(report.alerts).toEqual([expect.objectContaining({ type })])),
  );

  it('has no alert for other personas', () =>
    always(({ report }, { shows }) => {
      if (!/alert|duty|address/.test(shows ?? '')) expect(report.alerts).toEqual([]);
    }));
});

it('names where records were searched, on the day of the pull', () =>
  always(({ report }, { today }) => {
    const date = dateOf(today.getTime());
    expect(report.searches).toEqual(
      ['publicRecords', 'background', 'housingCourt'].map((section) => ({ section, area: expect.any(String), date })),
    );
  }));

it('a file is the same for the same number, score and day, and differs for another number', () =>
  fc.assert(
    fc.property(given, (one) => {
      expect(fileOf(one)).toEqual(fileOf({ ...one }));
      expect(fileOf({ ...one, file: one.file + 1 }).report).not.toEqual(fileOf(one).report);
    }),
  ));

describe('the data that a person typed', () => {
  const details = { name: 'Robin Q Rivera', address: '12 Elm Street, Austin, TX 78701', bornOn: '1990-02-03' };
  const today = new Date('2026-11-25');
  const filled = (file: number, shows?: Shown): File['report'] =>
    withDetails(reportBody({ file, score: 700, today, bornOn: details.bornOn, shows }), {
      ...details,
      ssnLastFour: '6789',
    }).report as unknown as File['report'];

  it('replace the invented consumer, and leave earlier addresses and everything else', () => {
    for (let file = 0; file < 30; file += 1) {
      const one = { file, score: 700, today, bornOn: details.bornOn, shows: undefined };
      const { consumer: madeUp, ...made } = fileOf(one).report;
      const { consumer, ...rest } = filled(file);
      expect(consumer).toEqual({
        name: 'Robin Q Rivera',
        addresses: [details.address, ...madeUp.addresses.slice(1)],
        birthYear: 1990,
        ssnLastFour: '6789',
      });
      expect(rest).toEqual(made);
    }
  });

  it("add another address to the file if the typed address differs from the file's address", () => {
    for (let file = 0; file < 30; file += 1) {
      const { addresses } = filled(file, 'new-address').consumer;
      expect([addresses[0], addresses.length > 1]).toEqual([details.address, true]);
    }
  });

  it('can be inserted twice', () => {
    const body = reportBody({ file: 7, score: 700, today, bornOn: details.bornOn, shows: 'new-address' });
    const once = withDetails(body, details);
    expect(withDetails(once, details)).toEqual(once);
  });
});
