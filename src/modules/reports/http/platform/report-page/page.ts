// The report as a page: complete in one reply, printable, without scripts.
import { REPORT_STYLE } from '../../../../../surfaces/platform/report-style.js';
import type { OpenedReport } from '../../../application/report-viewer.js';
import type { Section } from '../../../application/report-sections.js';
import { momentOf } from './formats.js';
import { Html, html } from './html.js';
import {
  backgroundSection,
  consumerRightsSection,
  consumerSection,
  housingCourtSection,
  inquiriesSection,
  publicRecordsSection,
  scoreSection,
  tradeLinesSection,
} from './sections.js';
import { WORDINGS, type PageLanguage } from './wording.js';

const STYLE = new Html(`<style>${REPORT_STYLE}</style>`);

export interface PageOptions {
  readonly language?: PageLanguage;
  readonly leftOut?: ReadonlySet<Section>;
}

/** A complete document, without the sections that are left out. Everything from outside is escaped. */
export function reportPage(
  { id, sessionId, score, report, generatedAt, expiresAt }: OpenedReport,
  { language = 'en', leftOut = new Set() }: PageOptions = {},
): string {
  const words = WORDINGS[language];
  const moment = (time: string): Html => html`<time datetime="${time}">${momentOf(time, language)}</time>`;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${words.title}</title>
${STYLE}
</head>
<body>
<header>
<h1>${words.title}</h1>
<dl><div><dt>${words.report}</dt><dd>${id}</dd></div><div><dt>${words.screening}</dt><dd>${sessionId}</dd></div><div><dt>${words.generated}</dt><dd>${moment(generatedAt)}</dd></div><div><dt>${words.seenUntil}</dt><dd>${moment(expiresAt)}</dd></div></dl>
${words.asWritten && html`<p>${words.asWritten}</p>`}
</header>
<main>
${scoreSection(score, words)}${consumerSection(report.consumer, words)}${tradeLinesSection(report.tradeLines, words)}${publicRecordsSection(report.publicRecords, words)}${inquiriesSection(report.inquiries, words)}${leftOut.has('background') ? null : backgroundSection(report.background, words)}${leftOut.has('housingCourt') ? null : housingCourtSection(report.housingCourt, words)}${consumerRightsSection(words)}</main>
</body>
</html>
`.text;
}
