// The sections that list records: public records, housing court, background and inquiries, each newest first. Pure.
import type { Section } from '../../../application/report-sections.js';
import { codeOf } from './codes.js';
import { newestFirst } from './figures.js';
import { dayOf, longDayOf, moneyOf } from './formats.js';
import { html, type Content, type Html } from './html.js';
import { section, written, type Records } from './blocks.js';
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
  const { report, words } = records;
  const { language } = words;
  const rows = newestFirst(report.housingCourt ?? [], ({ filedOn }) => filedOn).map(
    ({ court, caseType, filedOn, outcome, judgmentCents }) => [
      written(court, words),
      codeOf(caseType, language),
      dayOf(filedOn, language),
      codeOf(outcome, language),
      moneyOf(judgmentCents, language),
    ],
  );
  return absentSection('housingCourt', records) ?? searchedSection('housingCourt', rows, records);
}

export function backgroundSection(records: Records): Html {
  const { report, words } = records;
  const { language } = words;
  const rows = newestFirst(report.background ?? [], ({ date }) => date).map(
    ({ jurisdiction, offense, severity, date, disposition }) => [
      written(jurisdiction, words),
      written(offense, words),
      codeOf(severity, language),
      dayOf(date, language),
      codeOf(disposition, language),
    ],
  );
  return absentSection('background', records) ?? searchedSection('background', rows, records);
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

/** A section that the reader left out or that was not ordered. Null when the report has it. */
function absentSection(of: Section, { report, words, leftOut, requestedBy }: Records): Html | null {
  const { title } = words.tables[of];
  if (leftOut.has(of)) return section(title, html`<p>${words.leftOut(requestedBy)}</p>`);
  return report[of] === null ? section(title, html`<p>${words.notOrdered}</p>`) : null;
}

/** A section of records with the place and day of each search. Without records it says so, for the day of the report. */
function searchedSection(
  of: 'publicRecords' | 'housingCourt' | 'background',
  rows: readonly (readonly Content[])[],
  { report, generatedAt, words }: Records,
): Html {
  const { language } = words;
  const searches = (report.searches ?? []).filter((search) => search.section === of);
  const made = searches.map(
    ({ area, date }) => html`<p class="note">${words.searched(area, dayOf(date, language))}</p>`,
  );
  const none = html`<p class="clear">${words.searchedNone(longDayOf(generatedAt, language))}</p>`;
  return section(words.tables[of].title, html`${rows.length === 0 ? none : table(of, rows, words)}${made}`);
}

function table(of: keyof Wording['tables'], rows: readonly (readonly Content[])[], { tables }: Wording): Html {
  const { columns } = tables[of];
  return html`<table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, index) => html`<td data-label="${columns[index] ?? ''}">${cell}</td>`)}</tr>`)}</tbody>
</table>`;
}
