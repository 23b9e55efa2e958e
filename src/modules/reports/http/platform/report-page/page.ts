// The report as a page: all of it in one answer, printable, without a script.
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

const STYLE = new Html(`<style>
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 0.95rem/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.6rem; margin: 0 0 0.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid #999; } h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
dl { margin: 0; display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; } dt { color: #555; font-size: 0.85em; } dd { margin: 0; }
table { width: 100%; border-collapse: collapse; font-size: 0.85rem; } th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.5rem 0.3rem 0; border-bottom: 1px solid #ddd; overflow-wrap: break-word; } td:last-child { overflow-wrap: anywhere; }
.score strong { font-size: 2.4rem; } .none { color: #555; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 9.5pt; } h2 { break-after: avoid; } tr, li, dl div { break-inside: avoid; } thead { display: table-header-group; } }
@page { margin: 15mm; }
</style>`);

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
