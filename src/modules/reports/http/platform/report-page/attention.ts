// The lines of "Needs attention", and the kinds of records that were searched for these lines. Pure.
import { coded } from './codes.js';
import { isInCollection, newestFirst, worstFirst } from './figures.js';
import { dayOf, moneyOf } from './formats.js';
import type { Content } from './html.js';
import { recordsOf, type Records } from './blocks.js';

export interface Attention {
  readonly lines: readonly Content[];
  readonly searched: readonly string[];
}

/** A section that the reader left out adds no line here either. */
export function attentionIn(records: Records): Attention {
  const { report, generatedAt, words } = records;
  const { language, attentionIs: says, tables } = words;
  const { tradeLines, publicRecords, alerts = [] } = report;
  const housingCourt = recordsOf('housingCourt', records);
  const background = recordsOf('background', records);
  const named = (code: string): string => coded(code, language);
  const day = (date: string): string => dayOf(date, language);
  const amount = (cents: number | null): readonly string[] => (cents === null ? [] : [moneyOf(cents, language)]);
  const record = (of: keyof typeof tables, ...facts: readonly string[]): string =>
    `${tables[of].title}: ${facts.join(', ')}`;
  const lines = [
    ...alerts.map(({ type, date }) => (date === undefined ? named(type) : `${named(type)}, ${day(date)}`)),
    ...worstFirst(tradeLines, generatedAt).flatMap((line) => {
      if (isInCollection(line)) return [says.inCollection(line.creditor, moneyOf(line.balanceCents, language))];
      return line.pastDueCents > 0 ? [says.pastDue(line.creditor, moneyOf(line.pastDueCents, language))] : [];
    }),
    ...newestFirst(publicRecords, ({ filedOn }) => filedOn).map(({ type, filedOn, status, amountCents }) =>
      record('publicRecords', named(type), day(filedOn), named(status), ...amount(amountCents)),
    ),
    ...newestFirst(housingCourt ?? [], ({ filedOn }) => filedOn).map(({ caseType, filedOn, outcome, judgmentCents }) =>
      record('housingCourt', named(caseType), day(filedOn), named(outcome), ...amount(judgmentCents)),
    ),
    ...newestFirst(background ?? [], ({ date }) => date).map(({ offense, date, disposition }) =>
      record('background', offense, day(date), named(disposition)),
    ),
  ];
  const searched = [
    says.searched.accounts,
    says.searched.publicRecords,
    ...(housingCourt === null ? [] : [says.searched.housingCourt]),
    ...(background === null ? [] : [says.searched.background]),
  ];
  return { lines, searched };
}
