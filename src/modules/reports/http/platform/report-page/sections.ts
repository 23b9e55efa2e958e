// The first page of the report: the applicant, the score, the figures, what needs attention, and the rights at the end. Pure.
import type { CreditScore, VendorReport } from '../../../application/report-bodies.js';
import type { ReportRequest } from '../../../application/served-pages.js';
import { attentionIn } from './attention.js';
import { dayOf, longDayOf, moneyOf, percentOf } from './formats.js';
import { bandOf, figuresOf, type Figures } from './figures.js';
import { gauge } from './gauge.js';
import { html, type Html } from './html.js';
import { facts, section, written, type Fact, type Records } from './blocks.js';
import type { Wording } from './wording.js';

export function applicantSection(
  { name, addresses, birthYear, ssnLastFour }: VendorReport['consumer'],
  request: ReportRequest,
  words: Wording,
): Html {
  const { who } = words;
  const [current = null, ...earlier] = addresses;
  return section(
    who.title,
    html`${facts([
      [who.applicant, html`<strong>${name}</strong>`],
      [who.birthYear, birthYear],
      [who.ssn, ssnLastFour === undefined ? null : `***-**-${ssnLastFour}`],
      [who.address, current],
      ...earlier.map((address): Fact => [who.earlierAddress, address]),
      [who.property, request.property],
      [who.requestedBy, requestedBy(request, words)],
      [who.purpose, who.screening],
    ])}
${request.verified && html`<p class="verified">${who.verified(request.verified.how, longDayOf(request.verified.at, words.language))}</p>`}`,
    'applicant',
  );
}

function requestedBy({ requestedBy, endUserType }: ReportRequest, { who }: Wording): string {
  return endUserType === null ? requestedBy : `${requestedBy} (${who.userTypes[endUserType]})`;
}

export function scoreSection(score: CreditScore | null, words: Wording): Html {
  if (score === null) return section(words.score, html`<p>${words.noScore}</p>`);
  const { value, model, min, max, factors, date } = score;
  const band = bandOf(score);
  return section(
    words.score,
    html`<div class="score">
<div class="picture">${gauge(score, words)}</div>
<div>${band === null ? null : html`<p><strong>${words.bands[band]}</strong></p>`}<p class="scale">${words.scale(value, min, max)}</p>
${facts([
  [words.model, model],
  [words.date, dayOf(date, words.language)],
])}</div>
<div><h3>${words.factors}</h3>
${factors.length === 0 ? html`<p>${words.noFactors}</p>` : html`<ol>${factors.slice(0, MOST_FACTORS).map((factor) => html`<li>${written(factor, words)}</li>`)}</ol>`}</div>
</div>`,
  );
}

const MOST_FACTORS = 5;

export function glanceSection(records: Records): Html {
  const { report, generatedAt, words } = records;
  const { language } = words;
  const figures = figuresOf(report, generatedAt);
  const share = (value: Figures['onTimePercent']): string => {
    if (value === 'noAccounts') return words.noAccounts;
    return value === null ? words.notGiven : percentOf(value, language);
  };
  const shown: Readonly<Record<keyof Figures, string | number>> = {
    openAccounts: figures.openAccounts,
    balanceCents: moneyOf(figures.balanceCents, language),
    pastDueCents: moneyOf(figures.pastDueCents, language),
    onTimePercent: share(figures.onTimePercent),
    creditUsedPercent: share(figures.creditUsedPercent),
    inquiries: figures.inquiries,
  };
  const isBad = (name: string): boolean => name === 'pastDueCents' && figures.pastDueCents > 0;
  const { lines, searched } = attentionIn(records);
  return section(
    words.glance,
    html`<dl class="figures">${Object.entries(shown).map(
      ([name, value]) =>
        html`<div${isBad(name) ? html` class="bad"` : null}><dt>${words.figures[name as keyof Figures]}</dt><dd>${value}</dd></div>`,
    )}</dl>
<h3>${words.attention}</h3>
${lines.length === 0 ? html`<p class="clear">${words.attentionIs.nothing(searched.join(', '))}</p>` : html`<ul class="attention">${lines.map((line) => html`<li>${line}</li>`)}</ul>`}`,
    'glance',
  );
}

export function rightsSection(model: string | null, words: Wording): Html {
  const { rights, dispute } = words;
  return section(
    rights.title,
    html`<p>${rights.lead}</p>
<ul>${rights.list.map((right) => html`<li>${right}</li>`)}</ul>
<p>${rights.more}</p>
<h3>${dispute.title}</h3>
<p>${dispute.text}</p>
<p class="note">${words.sources(model)}</p>`,
  );
}
