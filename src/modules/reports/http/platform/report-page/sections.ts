// The parts of the report's page, one function each. Pure.
import type { CreditScore, VendorReport } from '../../../application/report-body-store.js';
import { meaningOf } from './codes.js';
import { dayOf, moneyOf } from './formats.js';
import { html, type Content, type Html } from './html.js';
import type { PageLanguage, Wording } from './wording.js';

export function consumerSection({ name, addresses, birthYear }: VendorReport['consumer'], words: Wording): Html {
  return section(
    words.consumer,
    facts([
      [words.name, name],
      [words.birthYear, birthYear],
      ...addresses.map((address, index): Fact => [index === 0 ? words.address : words.earlierAddress, address]),
    ]),
  );
}

export function scoreSection(score: CreditScore | null, words: Wording): Html {
  if (score === null) return section(words.score, html`<p class="none">${words.noScore}</p>`);
  const { value, model, min, max, factors, date } = score;
  return section(
    words.score,
    html`<p class="score"><strong>${value}</strong> <span>${words.scale(min, max)}</span></p>
${facts([
  [words.model, model],
  [words.date, dayOf(date, words.language)],
])}
<h3>${words.factors}</h3>
${factors.length === 0 ? html`<p class="none">${words.noFactors}</p>` : html`<ol>${factors.map((factor) => html`<li>${written(factor, words)}</li>`)}</ol>`}`,
  );
}

export function tradeLinesSection(lines: VendorReport['tradeLines'], words: Wording): Html {
  const { language } = words;
  return tableSection(
    'tradeLines',
    lines.map(
      ({ creditor, type, account, openedOn, status, balanceCents, limitCents, pastDueCents, paymentHistory }) => [
        creditor,
        coded(type, language),
        account,
        dayOf(openedOn, language),
        coded(status, language),
        moneyOf(balanceCents, language),
        moneyOf(limitCents, language),
        moneyOf(pastDueCents, language),
        html`<code>${paymentHistory}</code>`,
      ],
    ),
    words,
    words.paymentHistory,
  );
}

export function publicRecordsSection(records: VendorReport['publicRecords'], words: Wording): Html {
  const { language } = words;
  return tableSection(
    'publicRecords',
    records.map(({ type, court, filedOn, status, amountCents }) => [
      coded(type, language),
      written(court, words),
      dayOf(filedOn, language),
      coded(status, language),
      moneyOf(amountCents, language),
    ]),
    words,
  );
}

export function inquiriesSection(inquiries: VendorReport['inquiries'], words: Wording): Html {
  const { language } = words;
  return tableSection(
    'inquiries',
    inquiries.map(({ subscriber, date, purpose }) => [subscriber, dayOf(date, language), coded(purpose, language)]),
    words,
  );
}

export function backgroundSection(records: VendorReport['background'], words: Wording): Html {
  const { language } = words;
  return tableSection(
    'background',
    records.map(({ jurisdiction, offense, severity, date, disposition }) => [
      written(jurisdiction, words),
      written(offense, words),
      coded(severity, language),
      dayOf(date, language),
      coded(disposition, language),
    ]),
    words,
  );
}

export function housingCourtSection(records: VendorReport['housingCourt'], words: Wording): Html {
  const { language } = words;
  return tableSection(
    'housingCourt',
    records.map(({ court, caseType, filedOn, outcome, judgmentCents }) => [
      written(court, words),
      coded(caseType, language),
      dayOf(filedOn, language),
      coded(outcome, language),
      moneyOf(judgmentCents, language),
    ]),
    words,
  );
}

export function consumerRightsSection({ rights: { title, lead, list, more } }: Wording): Html {
  return section(
    title,
    html`<p>${lead}</p>
<ul>${list.map((right) => html`<li>${right}</li>`)}</ul>
<p>${more}</p>`,
  );
}

type Fact = readonly [label: string, value: string | number | null];

function section(title: string, content: Content): Html {
  return html`<section>
<h2>${title}</h2>
${content}
</section>
`;
}

function facts(all: readonly Fact[]): Html {
  return html`<dl>${all.filter(([, value]) => value !== null).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function tableSection(
  of: keyof Wording['tables'],
  rows: readonly (readonly Content[])[],
  { tables, noEntries }: Wording,
  note: string | null = null,
): Html {
  const { title, columns } = tables[of];
  if (rows.length === 0) return section(title, html`<p class="none">${noEntries}</p>`);
  return section(
    title,
    html`<table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, index) => html`<td data-label="${columns[index] ?? ''}">${cell}</td>`)}</tr>`)}</tbody>
</table>
${note === null ? null : html`<p class="none">${note}</p>`}`,
  );
}

/** An unknown code is shown as it is. */
function coded(code: string, language: PageLanguage): Content {
  return meaningOf(code, language) ?? html`<code>${code}</code>`;
}

/** The bureau's own words, which are English. */
function written(text: string, { language }: Wording): Content {
  return language === 'en' ? text : html`<span lang="en">${text}</span>`;
}
