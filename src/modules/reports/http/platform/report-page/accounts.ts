// The accounts of the file, each as a card with its last 24 months as a row of cells. Pure.
import type { TradeLine } from '../../../application/report-bodies.js';
import { codeOf } from './codes.js';
import { isInCollection, isOpen, monthsOf, worstFirst, type Month, type MonthState } from './figures.js';
import { dayOf, moneyOf, monthOf } from './formats.js';
import { html, type Html } from './html.js';
import { facts, section, type Records } from './blocks.js';
import type { Wording } from './wording.js';

const STATES: readonly MonthState[] = ['onTime', 'late30', 'late60', 'late90', 'noData'];

export function accountsSection({ report, generatedAt, words }: Records): Html {
  const { title, none, legend, months } = words.accounts;
  const lines = worstFirst(report.tradeLines, generatedAt);
  if (lines.length === 0) return section(title, html`<p>${none}</p>`);
  return section(
    title,
    html`<div class="legend"><p>${legend}:</p><ul>${STATES.map((state) => html`<li>${cell(state, words)} ${months[state].name}</li>`)}</ul></div>
${lines.map((line) => card(line, monthsOf(line, generatedAt), words))}`,
  );
}

function card(line: TradeLine, months: readonly Month[], words: Wording): Html {
  const { accounts, language } = words;
  const { creditor, type, account, openedOn, status, balanceCents, limitCents, pastDueCents } = line;
  return html`<article class="account">
<h3>${creditor} <span class="kind">${codeOf(type, language)}</span> <span class="pill ${toneOf(line)}">${codeOf(status, language)}</span></h3>
${facts([
  [accounts.account, account],
  [accounts.opened, dayOf(openedOn, language)],
  [
    type === 'REVOLVING' ? accounts.limit : accounts.originalAmount,
    limitCents === null ? null : moneyOf(limitCents, language),
  ],
  [accounts.balance, moneyOf(balanceCents, language)],
  [
    accounts.pastDue,
    pastDueCents === 0 ? moneyOf(0, language) : html`<strong class="bad">${moneyOf(pastDueCents, language)}</strong>`,
  ],
])}
${months.length === 0 ? html`<p class="note">${accounts.noHistory}</p>` : history(months, words)}
</article>
`;
}

/** The cells are only for the eye. The sentence before them says the same to a person who listens to the page. */
function history(months: readonly Month[], words: Wording): Html {
  const { accounts, language } = words;
  const count = (state: MonthState): number => months.filter((month) => month.state === state).length;
  const counts = STATES.filter((state) => count(state) > 0).map(
    (state) => `${count(state)} ${accounts.months[state].name}`,
  );
  const late = months
    .filter(({ state }) => state !== 'onTime' && state !== 'noData')
    .map(({ month, state }) => `${monthOf(month, language)} ${accounts.months[state].name}`);
  return html`<p class="heard">${accounts.history(counts.join(', '), late.join(', '))}</p>
<div class="months" aria-hidden="true">${byYear(months).map(
    ([year, own]) =>
      html`<div class="year"><span>${year}</span><div>${own.map(({ month, state }) => cell(state, words, monthOf(month, language)))}</div></div>`,
  )}</div>`;
}

function byYear(months: readonly Month[]): readonly (readonly [year: string, months: readonly Month[]])[] {
  const years = new Map<string, Month[]>();
  for (const month of months) {
    const year = month.month.slice(0, 4);
    years.set(year, [...(years.get(year) ?? []), month]);
  }
  return [...years];
}

function cell(state: MonthState, { accounts }: Wording, month: string | null = null): Html {
  const { name, mark } = accounts.months[state];
  return html`<span class="cell ${state}"${month === null ? null : html` title="${month}: ${name}"`}>${mark}</span>`;
}

function toneOf(line: TradeLine): 'bad' | 'closed' | 'good' {
  if (line.pastDueCents > 0 || isInCollection(line) || line.status === 'PAST_DUE') return 'bad';
  return isOpen(line) ? 'good' : 'closed';
}
