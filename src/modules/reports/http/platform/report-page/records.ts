// The sections that list records: public records, housing court, background and inquiries, each newest first. Pure.
import type { Section } from '../../../application/report-sections.js';
import { codeOf } from './codes.js';
import { newestFirst } from './figures.js';
import { dayOf, longDayOf, moneyOf } from './formats.js';
import { html, type Content, type Html } from './html.js';
import { recordsOf, section, written, type Records } from './blocks.js';
import type { Wording } from './wording.js';

export function publicRecordsSection(records: Records): Html {
  const { report, words } = records;
  const { language } = words;
  const rows = newestFirst(report.publicRecords, ({ filedOn }) => filedOn).map(
    ({ type, court, filedOn, status, amountCents }) => [
      codeOf(type, language),
      written(court, words),
      dayOf(filedOn, language),
      codeOf(status, language),
      moneyOf(amountCents, language),
    ],
  );
  return searchedSection('publicRecords', rows, records);
}

export function housingCourtSection(records: Records): Html {
  const { words } = records;
  const { language } = words;
  const listed = recordsOf('housingCourt', records);
  if (listed === null) return absentSection('housingCourt', records);
  const rows = newestFirst(listed, ({ filedOn }) => filedOn).map(
    ({ court, caseType, filedOn, outcome, judgmentCents }) => [
      written(court, words),
      codeOf(caseType, language),
      dayOf(filedOn, language),
      codeOf(outcome, language),
      moneyOf(judgmentCents, language),
    ],
  );
  return searchedSection('housingCourt', rows, records);
}

export function backgroundSection(records: Records): Html {
  const { words } = records;
  const { language } = words;
  const listed = recordsOf('background', records);
  if (listed === null) return absentSection('background', records);
  const rows = newestFirst(listed, ({ date }) => date).map(({ jurisdiction, offense, severity, date, disposition }) => [
    written(jurisdiction, words),
    written(offense, words),
    codeOf(severity, language),
    dayOf(date, language),
    codeOf(disposition, language),
  ]);
  return searchedSection('background', rows, records);
}

export function inquiriesSection({ report, words }: Records): Html {
  const { language } = words;
  const rows = newestFirst(report.inquiries, ({ date }) => date).map(({ subscriber, date, purpose }) => [
    subscriber,
    dayOf(date, language),
    codeOf(purpose, language),
  ]);
  const { title } = words.tables.inquiries;
  return section(title, rows.length === 0 ? html`<p>${words.noEntries}</p>` : table('inquiries', rows, words));
}

/** The reason why a section has no records: the reader left it out, or it was not ordered. */
function absentSection(of: Section, { words, leftOut, requestedBy }: Records): Html {
  const reason = leftOut.has(of) ? words.leftOut(requestedBy) : words.notOrdered;
  return section(words.tables[of].title, html`<p>${reason}</p>`);
}

/** A section of records, with the place and day of each search. Without a search, it names the day of the report. */
function searchedSection(
  of: 'publicRecords' | 'housingCourt' | 'background',
  rows: readonly (readonly Content[])[],
  { report, generatedAt, words }: Records,
): Html {
  const { language } = words;
  const searches = (report.searches ?? []).filter((search) => search.section === of);
  const { title } = words.tables[of];
  if (rows.length > 0) {
    const made = searches.map(
      ({ area, date }) => html`<p class="note">${words.searched(area, dayOf(date, language))}</p>`,
    );
    return section(title, html`${table(of, rows, words)}${made}`);
  }
  const clear = (day: string, area: Content): Html => html`<p class="clear">${words.searchedNone(day)}${area}</p>`;
  const found = searches.map(({ area, date }) => clear(dayOf(date, language), html` (${written(area, words)})`));
  return section(title, html`${found.length === 0 ? clear(longDayOf(generatedAt, language), null) : found}`);
}

function table(of: keyof Wording['tables'], rows: readonly (readonly Content[])[], { tables }: Wording): Html {
  const { columns } = tables[of];
  return html`<table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, index) => html`<td data-label="${columns[index] ?? ''}">${cell}</td>`)}</tr>`)}</tbody>
</table>`;
}
