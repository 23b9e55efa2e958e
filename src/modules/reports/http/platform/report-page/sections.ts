// The parts of the report as a page shows them, one function each. Pure.
import type { CreditScore, VendorReport } from '../../../application/report-body-store.js';
import { html, type Content, type Html } from './html.js';

export function consumerSection({ name, addresses, birthYear }: VendorReport['consumer']): Html {
  return section(
    'Consumer',
    facts([
      ['Name', name],
      ['Year of birth', birthYear],
      ...addresses.map((address, index): Fact => [index === 0 ? 'Address' : 'Earlier address', address]),
    ]),
  );
}

export function scoreSection(score: CreditScore | null): Html {
  if (score === null)
    return section('Score', html`<p class="none">No score: the file holds too little to compute one.</p>`);
  const { value, model, min, max, factors, date } = score;
  return section(
    'Score',
    html`<p class="score"><strong>${value}</strong> <span>of ${min} to ${max}</span></p>
${facts([
  ['Model', model],
  ['Date', date],
])}
<h3>What weighed most</h3>
${factors.length === 0 ? html`<p class="none">Nothing was named.</p>` : html`<ol>${factors.map((factor) => html`<li>${factor}</li>`)}</ol>`}`,
  );
}

export function tradeLinesSection(lines: VendorReport['tradeLines']): Html {
  return section(
    'Trade lines',
    table(
      ['Creditor', 'Type', 'Account', 'Opened', 'Status', 'Balance', 'Limit', 'Past due', 'Payment history'],
      lines.map(
        ({ creditor, type, account, openedOn, status, balanceCents, limitCents, pastDueCents, paymentHistory }) => [
          creditor,
          type,
          account,
          openedOn,
          status,
          money(balanceCents),
          money(limitCents),
          money(pastDueCents),
          html`<code>${paymentHistory}</code>`,
        ],
      ),
    ),
  );
}

export function publicRecordsSection(records: VendorReport['publicRecords']): Html {
  return section(
    'Public records',
    table(
      ['Type', 'Court', 'Filed', 'Status', 'Amount'],
      records.map(({ type, court, filedOn, status, amountCents }) => [
        type,
        court,
        filedOn,
        status,
        money(amountCents),
      ]),
    ),
  );
}

export function inquiriesSection(inquiries: VendorReport['inquiries']): Html {
  return section(
    'Inquiries',
    table(
      ['Subscriber', 'Date', 'Purpose'],
      inquiries.map(({ subscriber, date, purpose }) => [subscriber, date, purpose]),
    ),
  );
}

export function backgroundSection(records: VendorReport['background']): Html {
  return section(
    'Background',
    table(
      ['Jurisdiction', 'Offense', 'Severity', 'Date', 'Disposition'],
      records.map(({ jurisdiction, offense, severity, date, disposition }) => [
        jurisdiction,
        offense,
        severity,
        date,
        disposition,
      ]),
    ),
  );
}

export function housingCourtSection(records: VendorReport['housingCourt']): Html {
  return section(
    'Housing court',
    table(
      ['Court', 'Case', 'Filed', 'Outcome', 'Judgment'],
      records.map(({ court, caseType, filedOn, outcome, judgmentCents }) => [
        court,
        caseType,
        filedOn,
        outcome,
        money(judgmentCents),
      ]),
    ),
  );
}

/** What the Fair Credit Reporting Act gives the person in the file, in short. */
export function consumerRightsSection(): Html {
  const rights = [
    'You may know what is in your file. Anyone who keeps one about you has to show it to you when you ask and prove who you are.',
    'You may ask for your credit score.',
    'You must be told when a report like this one was used against you, for example to refuse you a home or to ask for a higher deposit, and by whom it was made. You may then have a copy of it for free.',
    'You may dispute what is incomplete or wrong. It has to be looked into, usually within 30 days, and what is wrong or cannot be confirmed has to be corrected or removed.',
    'Old negative information may not be reported: most of it after seven years, bankruptcies after ten.',
    'Your file may be seen only by those with a need that the law recognizes, such as a landlord to whom you have applied. An employer needs your written consent.',
    'You may freeze your file for free, so that nobody can open credit in your name, and you may place a fraud alert on it.',
    'You may decline offers of credit and insurance that were made from a list of your file.',
    'You may claim damages in court from those who violate these rights. Victims of identity theft and members of the armed forces on active duty have further rights.',
  ];
  return section(
    'Your rights as a consumer',
    html`<p>The federal Fair Credit Reporting Act protects the person whom a report is about. In short:</p>
<ul>${rights.map((right) => html`<li>${right}</li>`)}</ul>
<p>The full text and the official summary are at consumerfinance.gov/learnmore. States may give you more rights than these.</p>`,
  );
}

type Fact = readonly [label: string, value: string | number | null];

function section(title: string, content: Html): Html {
  return html`<section>
<h2>${title}</h2>
${content}
</section>
`;
}

function facts(all: readonly Fact[]): Html {
  return html`<dl>${all.filter(([, value]) => value !== null).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function table(columns: readonly string[], rows: readonly (readonly Content[])[]): Html {
  if (rows.length === 0) return html`<p class="none">No entries.</p>`;
  return html`<table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, index) => html`<td data-label="${columns[index] ?? ''}">${cell}</td>`)}</tr>`)}</tbody>
</table>`;
}

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

function money(cents: number | null): string {
  return cents === null ? '' : DOLLARS.format(cents / 100);
}
