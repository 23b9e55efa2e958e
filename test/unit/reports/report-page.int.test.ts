import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OpenedReport } from '../../../src/modules/reports/application/report-viewer.js';
import { html } from '../../../src/modules/reports/http/platform/report-page/html.js';
import { reportPage } from '../../../src/modules/reports/http/platform/report-page/page.js';
import { PAGE_LANGUAGES, WORDINGS } from '../../../src/modules/reports/http/platform/report-page/wording.js';
import { REPORT, SCORE } from './house.js';

const OPENED: OpenedReport = {
  id: '0190a6d0-0000-7000-8000-000000000700',
  sessionId: '0190a6d0-0000-7000-8000-000000000002',
  score: SCORE,
  report: REPORT,
  generatedAt: '2026-03-01T12:00:00.000Z',
  expiresAt: '2026-03-31T12:00:00.000Z',
};

/** The text of a page, as a browser reads it: without tags, and with entities resolved. Enough for our own markup. */
function textOf(page: string): string {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  return page
    .replace(/<style>[^]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity]!);
}
const tagsOf = (page: string): string[] => page.match(/<[^>]*>/g) ?? [];

/** The same report with one text in every place that the vendor fills in. */
function filledWith(text: string): OpenedReport {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return text;
    if (Array.isArray(value)) return value.map(filled);
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one)]))
      : value;
  };
  const whole = {
    ...REPORT,
    publicRecords: [{ type: 'x', court: 'x', filedOn: 'x', status: 'x', amountCents: 1 }],
    background: [{ jurisdiction: 'x', offense: 'x', severity: 'x', date: 'x', disposition: 'x' }],
    housingCourt: [{ court: 'x', caseType: 'x', filedOn: 'x', outcome: 'x', judgmentCents: null }],
  };
  return { ...OPENED, score: filled(SCORE) as OpenedReport['score'], report: filled(whole) as OpenedReport['report'] };
}

describe('the page of a report', () => {
  const page = reportPage(OPENED);

  it('has every section and the contents of the report', () => {
    for (const title of [
      'Score',
      'Trade lines',
      'Public records',
      'Inquiries',
      'Background',
      'Housing court',
      'Your rights as a consumer',
    ])
      expect(page).toContain(`<h2>${title}</h2>`);
    for (const text of [
      '712',
      'VantageScore 4.0',
      'Balances are high',
      'Ada Example',
      '1 Main Street',
      '1990',
      'First Bank',
      '$1,234.56',
      '000100',
      'Example Homes',
      'Revolving credit',
      'May 1, 2019',
      OPENED.id,
      'March 31, 2026 at 12:00',
      'PM UTC',
    ]) {
      expect(textOf(page)).toContain(text);
    }
  });

  it('says so when it has no entries or no score', () => {
    expect(textOf(reportPage({ ...OPENED, score: null }))).toContain('No score');
    expect(page.match(/No entries\./g)).toHaveLength(3);
  });

  it('is a whole document for screen and paper that loads and runs nothing', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toContain('@media print');
    expect(page).not.toMatch(/<script|<img|<link|<iframe|@import|url\(|\son\w+=|javascript:|https?:/i);
  });

  it('shows every text of the vendor as text, in every place', () => {
    const tags = tagsOf(reportPage(filledWith('plain')));
    const nasty = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '<script>alert(1)</script>',
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='x",
        '</style><script>',
        '<!--',
        '&lt;b&gt;',
        '&#60;',
        ']]>',
        '{{x}}',
        '${x}',
      ),
    );
    fc.assert(
      fc.property(nasty, (text) => {
        const filled = reportPage(filledWith(text));
        expect(tagsOf(filled)).toEqual(tags);
        expect(textOf(filled)).toContain(text);
      }),
    );
  });
});

describe('the page of a report in Spanish', () => {
  const page = reportPage(OPENED, { language: 'es' });

  it('is Spanish from title to rights, and days, times, amounts and known codes are spelled for people', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="es">/);
    expect(page).toContain('<title>Informe de crédito</title>');
    for (const text of [
      'Puntaje',
      'en una escala de 300 a 850',
      '1 mar 2026',
      'Cuentas de crédito',
      'Crédito renovable',
      'Al día',
      '$1,234.56',
      'Registros públicos',
      'No hay registros.',
      'Evaluación de inquilino',
      'Antecedentes',
      'Tribunal de vivienda',
      'Sus derechos como consumidor',
      '31 de marzo de 2026 a las 12:00',
      'p.m. UTC',
    ])
      expect(textOf(page)).toContain(text);
    expect(page).toContain(`<time datetime="${OPENED.expiresAt}">`);
  });

  it("has no English words except the bureau's, which are marked as English", () => {
    expect(page).toContain('<li><span lang="en">Balances are high</span></li>');
    for (const word of wordsOf(WORDINGS.en))
      if (!wordsOf(WORDINGS.es).includes(word)) expect(page).not.toContain(`>${word}<`);
    expect(reportPage(OPENED)).not.toContain('<span lang=');
  });

  it('uses formal Spanish of the United States', () => {
    const foreign = /introdu[cz]|móvil|caduc|nóminas|importe\b|comprobación|\b(tu|tus|tienes|puedes)\b/i;
    expect(wordsOf(WORDINGS.es).filter((text) => foreign.test(text))).toEqual([]);
  });
});

describe.each(PAGE_LANGUAGES)('codes and days in %s', (language) => {
  const withLine = (line: object): string =>
    reportPage({ ...OPENED, report: { ...REPORT, tradeLines: [{ ...REPORT.tradeLines[0]!, ...line }] } }, { language });

  it('stay as they are when they are unknown, and an unknown code is marked', () => {
    expect(withLine({ status: 'CHARGED_OFF_47' })).toContain('<code>CHARGED_OFF_47</code>');
    expect(withLine({ status: 'toString' })).toContain('<code>toString</code>');
    for (const openedOn of ['2026-02-30', '2026-13-01', 'May 2019', ''])
      expect(withLine({ openedOn })).toContain(`>${openedOn}</td>`);
  });

  it("are never shown in a machine's format when they are known", () => {
    const shown = textOf(reportPage(OPENED, { language }));
    expect(shown).not.toMatch(/\b[A-Z]+_[A-Z_]+\b|\bREVOLVING\b|\d{4}-\d{2}-\d{2}/);
  });
});

/** All texts of a language. */
function wordsOf(words: unknown): string[] {
  if (typeof words === 'string') return [words];
  return typeof words === 'object' && words !== null ? Object.values(words).flatMap(wordsOf) : [];
}

describe('markup', () => {
  it('escapes values, keeps its own markup, joins lists and leaves out null', () => {
    expect(html`<p title="${'"<&>\''}">${html`<b>${1}</b>`}${['<', html`<i></i>`]}${null}</p>`.text).toBe(
      '<p title="&quot;&lt;&amp;&gt;&#39;"><b>1</b>&lt;<i></i></p>',
    );
  });
});
