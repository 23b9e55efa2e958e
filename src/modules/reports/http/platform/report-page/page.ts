// The report as a page: all of it in one answer, printable, without a script.
import { REPORT_STYLE } from '../../../../../surfaces/platform/report-style.js';
import type { OpenedReport } from '../../../application/report-viewer.js';
import type { Section } from '../../../application/report-sections.js';
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

const STYLE = new Html(`<style>${REPORT_STYLE}</style>`);

/** A complete document, without the sections that are left out. Everything that is not ours is escaped. */
export function reportPage(
  { id, sessionId, score, report, generatedAt, expiresAt }: OpenedReport,
  leftOut: ReadonlySet<Section> = new Set(),
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Credit report</title>
${STYLE}
</head>
<body>
<header>
<h1>Credit report</h1>
<dl><div><dt>Report</dt><dd>${id}</dd></div><div><dt>Screening</dt><dd>${sessionId}</dd></div><div><dt>Generated</dt><dd><time datetime="${generatedAt}">${generatedAt}</time></dd></div><div><dt>To be seen until</dt><dd><time datetime="${expiresAt}">${expiresAt}</time></dd></div></dl>
</header>
<main>
${scoreSection(score)}${consumerSection(report.consumer)}${tradeLinesSection(report.tradeLines)}${publicRecordsSection(report.publicRecords)}${inquiriesSection(report.inquiries)}${leftOut.has('background') ? null : backgroundSection(report.background)}${leftOut.has('housingCourt') ? null : housingCourtSection(report.housingCourt)}${consumerRightsSection()}</main>
</body>
</html>
`.text;
}
