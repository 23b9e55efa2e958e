import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  bandOf,
  figuresOf,
  monthsOf,
  newestFirst,
  worstFirst,
} from '../../../src/modules/reports/http/platform/report-page/figures.js';
import type { TradeLine } from '../../../src/ports/credit-bureau.js';
import { REPORT } from './harness.js';

const PULLED = '2026-03-15T12:00:00.000Z';
const LINE: TradeLine = { ...REPORT.tradeLines[0]!, paymentHistory: '' };
const line = (facts: Partial<TradeLine>): TradeLine => ({ ...LINE, ...facts });
const inquiry = (date: string) => ({ subscriber: 'Example Homes', date, purpose: 'TENANT_SCREENING' });

describe('the figures of a report', () => {
  it('count open accounts, and add up their balances and all that is past due', () => {
    const tradeLines = [
      line({ balanceCents: 100, pastDueCents: 10 }),
      line({ balanceCents: 200 }),
      line({ status: 'CLOSED', balanceCents: 5_000, pastDueCents: 7 }),
    ];
    expect(figuresOf({ tradeLines, inquiries: [] }, PULLED)).toMatchObject({
      openAccounts: 2,
      balanceCents: 300,
      pastDueCents: 17,
    });
  });

  it('give the share of payments on time in the last 24 months, without the months that have no data', () => {
    const tradeLines = [line({ paymentHistory: 'C10-2' }), line({ paymentHistory: `${'C'.repeat(24)}9999` })];
    expect(figuresOf({ tradeLines, inquiries: [] }, PULLED).onTimePercent).toBe(Math.round((26 / 28) * 100));
  });

  it('give the used share of the limits of open revolving accounts', () => {
    const tradeLines = [
      line({ balanceCents: 25, limitCents: 100 }),
      line({ balanceCents: 50, limitCents: 100 }),
      line({ balanceCents: 9_000, limitCents: null }),
      line({ balanceCents: 9_000, limitCents: 10_000, status: 'CLOSED' }),
      line({ balanceCents: 9_000, limitCents: 10_000, type: 'INSTALLMENT' }),
    ];
    expect(figuresOf({ tradeLines, inquiries: [] }, PULLED).creditUsedPercent).toBe(38);
  });

  it('count the inquiries of one year up to the day of the pull', () => {
    const inquiries = ['2025-03-14', '2025-03-15', '2026-03-01'].map(inquiry);
    expect(figuresOf({ tradeLines: [], inquiries }, PULLED).inquiries).toBe(2);
  });

  it('are 0 when the file has no accounts, and the shares say so', () => {
    expect(figuresOf({ tradeLines: [], inquiries: [] }, PULLED)).toEqual({
      openAccounts: 0,
      balanceCents: 0,
      pastDueCents: 0,
      onTimePercent: 'noAccounts',
      creditUsedPercent: 'noAccounts',
      inquiries: 0,
    });
  });

  it('give no share when the accounts have neither a payment history nor a limit', () => {
    const tradeLines = [line({ limitCents: null }), line({ limitCents: 0 })];
    expect(figuresOf({ tradeLines, inquiries: [] }, PULLED)).toMatchObject({
      onTimePercent: null,
      creditUsedPercent: null,
    });
  });

  it('give no share of limits when no open account is revolving', () => {
    const tradeLines = [line({ type: 'MORTGAGE', limitCents: 100 }), line({ status: 'CLOSED', limitCents: 100 })];
    expect(figuresOf({ tradeLines, inquiries: [] }, PULLED).creditUsedPercent).toBe('noAccounts');
  });
});

describe('the months of an account', () => {
  it('end with the month before the pull, and begin at most 24 months earlier', () => {
    const months = monthsOf(line({ paymentHistory: `12${'C'.repeat(30)}` }), PULLED);
    expect(months).toHaveLength(24);
    expect(months[0]).toEqual({ month: '2024-03', state: 'onTime' });
    expect(months.slice(-2)).toEqual([
      { month: '2026-01', state: 'late60' },
      { month: '2026-02', state: 'late30' },
    ]);
  });

  it('give each mark of a bureau its meaning, and have no data for an unknown mark', () => {
    const states = monthsOf(line({ paymentHistory: 'c0123456GHJKLX-é' }), PULLED).map(({ state }) => state);
    expect(states.reverse()).toEqual([
      'onTime',
      'onTime',
      'late30',
      'late60',
      ...Array.from({ length: 9 }, () => 'late90'),
      'noData',
      'noData',
      'noData',
    ]);
  });
});

describe('the order of entries in a report', () => {
  it('puts open accounts first, sorted by collection, past due, late, and highest balance', () => {
    const lines = [
      line({ creditor: 'closed', status: 'CLOSED', pastDueCents: 900 }),
      line({ creditor: 'small' }),
      line({ creditor: 'large', balanceCents: 900_000 }),
      line({ creditor: 'late', paymentHistory: 'CC1' }),
      line({ creditor: 'past due', pastDueCents: 1 }),
      line({ creditor: 'in collection', status: 'COLLECTION' }),
    ];
    expect(worstFirst(lines, PULLED).map(({ creditor }) => creditor)).toEqual([
      'in collection',
      'past due',
      'late',
      'large',
      'small',
      'closed',
    ]);
  });

  it('puts the newest record first', () => {
    const dates = ['2025-09-25', '2025-11-25', '2026-05-26'];
    expect(newestFirst(dates, (date) => date)).toEqual([...dates].reverse());
  });
});

describe('the scale from 300 to 850', () => {
  it.each([
    [300, 'poor'],
    [579, 'poor'],
    [580, 'fair'],
    [669, 'fair'],
    [670, 'good'],
    [739, 'good'],
    [740, 'veryGood'],
    [799, 'veryGood'],
    [800, 'exceptional'],
    [850, 'exceptional'],
  ])('shows a score of %d in the band %s', (value, band) => {
    expect(bandOf({ value, min: 300, max: 850 })).toBe(band);
  });

  it('has no bands when its ends are other numbers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 851, max: 999 }), (value, max) => {
        expect(bandOf({ value, min: 300, max })).toBeNull();
      }),
    );
  });
});
