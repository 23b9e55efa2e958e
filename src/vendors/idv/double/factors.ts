// The reasons for a score. The reasons are read from the invented file itself, so that none contradicts the file.
import type { TradeLine } from './accounts.js';
import { type AdultLife, YEAR } from './adult-life.js';
import type { Inquiry } from './inquiries.js';

const MOST = 4;

/** Unfavorable reasons come first, then favorable ones, each group with the most important first. */
export function factorsOf(
  lines: readonly TradeLine[],
  inquiries: readonly Inquiry[],
  publicRecords: readonly object[],
  life: AdultLife,
): string[] {
  const having = (...statuses: TradeLine['status'][]): number =>
    lines.filter(({ status }) => statuses.includes(status)).length;
  const oldest = Math.max(0, ...lines.map(({ openedOn }) => life.daysSince(openedOn)));
  const used = percentUsed(lines);
  const late = lines.filter(({ paymentHistory }) => /[123]/.test(paymentHistory)).length;
  const asked = inquiries.filter(({ date }) => life.isOfLastYear(date)).length;
  const withBalances = lines.filter(({ balanceCents }) => balanceCents > 0).length;
  const factors: readonly (readonly [holds: boolean, text: string])[] = [
    [having('COLLECTION', 'CHARGED_OFF') > 0, 'An account is in collection or charged off'],
    [having('PAST_DUE') > 0, 'An account is past due'],
    [publicRecords.length > 0, 'A public record is on file'],
    [used !== null && used >= 30, 'Balances are high compared with limits'],
    [late > 0, 'A payment was late in the last 24 months'],
    [asked >= 4, 'Too many inquiries in the last twelve months'],
    [late > lines.length / 2, 'Too few accounts are paid as agreed'],
    [lines.length > 0 && oldest < 3 * YEAR, 'The accounts have not been open long'],
    [lines.length < 3, 'There are few accounts on file'],
    [withBalances > 6, 'Too many accounts with balances'],
    [lines.length > 0 && late === 0, 'All accounts are paid as agreed'],
    [used !== null && used < 30, 'Balances are low compared with limits'],
    [oldest >= 5 * YEAR, 'An account has been open for many years'],
    [asked === 0, 'There are no inquiries in the last twelve months'],
  ];
  return factors
    .filter(([holds]) => holds)
    .map(([, text]) => text)
    .slice(0, MOST);
}

/** The usage of all open cards together; null without a card. */
function percentUsed(lines: readonly TradeLine[]): number | null {
  const cards = lines.filter(({ type, status }) => type === 'REVOLVING' && status !== 'CLOSED');
  const total = (of: (card: TradeLine) => number): number => cards.reduce((sum, card) => sum + of(card), 0);
  return cards.length === 0
    ? null
    : (100 * total(({ balanceCents }) => balanceCents)) / total(({ limitCents }) => limitCents);
}
