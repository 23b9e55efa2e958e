// The common parts of all sections of a report's page: their contents, and the markup of titles and facts. Pure.
import type { VendorReport } from '../../../application/report-bodies.js';
import type { Section } from '../../../application/report-sections.js';
import { html, type Content, type Html } from './html.js';
import type { Wording } from './wording.js';

/** The contents of one page's sections. */
export interface Records {
  readonly report: VendorReport;
  /** ISO 8601 UTC. */
  readonly generatedAt: string;
  readonly words: Wording;
  readonly leftOut: ReadonlySet<Section>;
  readonly requestedBy: string;
}

/** The records of a section; null if the reader left out the section, or if it was not ordered. */
export function recordsOf<Of extends Section>(of: Of, { report, leftOut }: Records): VendorReport[Of] | null {
  return leftOut.has(of) ? null : report[of];
}

export type Fact = readonly [label: string, value: Content];

export function section(title: string, content: Content, name: string | null = null): Html {
  return html`<section${name && html` class="${name}"`}>
<h2>${title}</h2>
${content}
</section>
`;
}

export function facts(all: readonly Fact[]): Html {
  return html`<dl class="facts">${all.filter(([, value]) => value !== null).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The bureau's own words, which are English. */
export function written(text: string, { language }: Wording): Content {
  return language === 'en' ? text : html`<span lang="en">${text}</span>`;
}
