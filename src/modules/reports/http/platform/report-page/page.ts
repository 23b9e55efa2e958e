// The report as a page that is complete in one reply, can be printed, and has no scripts.
import { PRODUCT } from '../../../../../published/product.js';
import { REPORT_STYLE } from '../../../../../surfaces/platform/report-style.js';
import type { ShownReport } from '../../../application/report-viewer.js';
import type { ReportRequest } from '../../../application/served-pages.js';
import type { Section } from '../../../application/report-sections.js';
import { accountsSection } from './accounts.js';
import type { Records } from './blocks.js';
import { longDayOf, momentOf } from './formats.js';
import { Html, html } from './html.js';
import { backgroundSection, housingCourtSection, inquiriesSection, publicRecordsSection } from './records.js';
import { applicantSection, glanceSection, rightsSection, scoreSection } from './sections.js';
import { WORDINGS, type PageLanguage } from './wording.js';

const STYLE = new Html(`<style>${REPORT_STYLE}</style>`);

export interface PageOptions {
  readonly language?: PageLanguage;
  readonly leftOut?: ReadonlySet<Section>;
}

/** A complete document. One line names each section that was left out. All text from outside is escaped. */
export function reportPage(
  { id, score, report, generatedAt, expiresAt }: ShownReport,
  request: ReportRequest,
  { language = 'en', leftOut = new Set() }: PageOptions = {},
): string {
  const words = WORDINGS[language];
  const records: Records = { report, generatedAt, words, leftOut, requestedBy: request.requestedBy };
  const isTest = request.environment === 'test';
  const moment = (time: string): Html => html`<time datetime="${time}">${momentOf(time, language)}</time>`;
  return html`<!doctype html>
<html lang="${language}" data-head="${report.consumer.name}, ${words.report} ${shortNumber(id)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${words.title}, ${report.consumer.name}, ${longDayOf(generatedAt, language)}</title>
${STYLE}
</head>
<body class="${isTest ? 'test' : 'live'}">
<header>
${isTest ? html`<p class="ribbon">${words.testData}</p>` : null}
<div><p class="brand">${request.logo && html`<img alt="" src="${request.logo}">`}${request.requestedBy}</p><h1>${words.title}</h1></div>
<dl><div><dt>${words.report}</dt><dd>${shortNumber(id)}</dd></div><div><dt>${words.generated}</dt><dd>${moment(generatedAt)}</dd></div><div><dt>${words.validUntil}</dt><dd>${moment(expiresAt)}</dd></div></dl>
</header>
<main>
${words.asWritten && html`<p class="note">${words.asWritten}</p>`}
${applicantSection(report.consumer, request, words)}${scoreSection(score, words)}${glanceSection(records)}${accountsSection(records)}${publicRecordsSection(records)}${housingCourtSection(records)}${backgroundSection(records)}${inquiriesSection(records)}${rightsSection(score?.model ?? null, words)}</main>
<footer><p>${words.report} ${id}</p><p>${words.generatedBy(PRODUCT, request.requestedBy)}</p></footer>
</body>
</html>
`.text;
}

/** A short id that is enough to distinguish reports on paper, at the top of each sheet. The whole id is at the end of the page. */
function shortNumber(id: string): string {
  return id.slice(-8);
}
