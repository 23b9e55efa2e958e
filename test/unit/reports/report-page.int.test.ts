import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ShownReport } from '../../../src/modules/reports/application/report-viewer.js';
import { html } from '../../../src/modules/reports/http/platform/report-page/html.js';
import { reportPage } from '../../../src/modules/reports/http/platform/report-page/page.js';
import { PAGE_LANGUAGES, WORDINGS } from '../../../src/modules/reports/http/platform/report-page/wording.js';
import { REPORT, REQUEST, SCORE } from './harness.js';

const OPENED: ShownReport = {
  id: '0190a6d0-0000-7000-8000-000000000700',
  sessionId: '0190a6d0-0000-7000-8000-000000000002',
  score: SCORE,
  report: REPORT,
  generatedAt: '2026-03-01T12:00:00.000Z',
  expiresAt: '2026-03-31T12:00:00.000Z',
};

/**
 * The text of a page as a browser reads it: without tags, and with decoded entities. This is enough for the markup of
 * the service.
 */
function textOf(page: string): string {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  return page
    .replace(/<style>[^]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity]!);
}
const tagsOf = (page: string): string[] => page.match(/<[^>]*>/g) ?? [];

/** Members of the report whose text the page does not show. */
const CODES = new Set(['paymentHistory', 'section']);

/** The same report with one text in every place that the vendor fills in. */
function filledWith(text: string): ShownReport {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return text;
    if (Array.isArray(value)) return value.map(filled);
    return typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, CODES.has(key) ? one : filled(one)]))
      : value;
  };
  const whole = {
    ...REPORT,
    consumer: { ...REPORT.consumer, ssnLastFour: 'x' },
    alerts: [{ type: 'x', date: 'x' }],
    searches: [{ section: 'background', area: 'x', date: 'x' }],
    publicRecords: [{ type: 'x', court: 'x', filedOn: 'x', status: 'x', amountCents: 1 }],
    background: [{ jurisdiction: 'x', offense: 'x', severity: 'x', date: 'x', disposition: 'x' }],
    housingCourt: [{ court: 'x', caseType: 'x', filedOn: 'x', outcome: 'x', judgmentCents: null }],
  };
  return { ...OPENED, score: filled(SCORE) as ShownReport['score'], report: filled(whole) as ShownReport['report'] };
}

describe('the page of a report', () => {
  const page = reportPage(OPENED, REQUEST);

  it('has every section and the contents of the report', () => {
    expect([...page.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, title]) => title)).toEqual([
      'Applicant and request',
      'Score',
      'At a glance',
      'Accounts',
      'Public records',
      'Housing court',
      'Background',
      'Inquiries',
      'Your rights',
    ]);
    for (const text of [
      '712',
      'VantageScore 4.0',
      'Balances are high',
      'Ada Example',
      '1 Main Street',
      '1990',
      'First Bank',
      '$1,234.56',
      'Good',
      'Acme Homes (property management)',
      '12 Elm Street, Apt 4, Austin, TX 78701',
      'Identity verified by one-time code on March 1, 2026',
      'Payment history: 5 paid on time, 1 30 days late. Late: Nov 2025 30 days late',
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

  it('says when it has no entries or no score', () => {
    expect(textOf(reportPage({ ...OPENED, score: null }, REQUEST))).toContain(WORDINGS.en.noScore);
    expect(page.match(/Searched March 1, 2026: no records/g)).toHaveLength(3);
    expect(textOf(page)).toContain('Nothing that needs attention was found.');
  });

  it('lists the facts that need attention, the worst first, and the sections that contain them', () => {
    const report = {
      ...REPORT,
      alerts: [{ type: 'FRAUD_ALERT', date: '2026-01-05' }, { type: 'ADDRESS_MISMATCH' }],
      tradeLines: [
        { ...REPORT.tradeLines[0]!, creditor: 'Late Bank', pastDueCents: 15_500 },
        { ...REPORT.tradeLines[0]!, creditor: 'Old Store', status: 'COLLECTION', balanceCents: 61_000 },
      ],
      publicRecords: [
        { type: 'BANKRUPTCY_CHAPTER_7', court: 'x', filedOn: '2021-03-02', status: 'DISCHARGED', amountCents: null },
      ],
      housingCourt: [
        { court: 'x', caseType: 'NONPAYMENT', filedOn: '2023-04-11', outcome: 'SETTLED', judgmentCents: null },
      ],
      background: [
        { jurisdiction: 'x', offense: 'Petty theft', severity: 'x', date: '2022-02-03', disposition: 'DISMISSED' },
      ],
    };
    const [, list = ''] = /<ul class="attention">(.*?)<\/ul>/s.exec(reportPage({ ...OPENED, report }, REQUEST)) ?? [];
    expect([...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line]) => line)).toEqual([
      'Fraud alert, Jan 5, 2026',
      'The address given differs from the addresses in the file',
      'Old Store: in collection or charged off, balance $610.00',
      'Late Bank: $155.00 past due',
      'Public records: Bankruptcy, chapter 7, Mar 2, 2021, Discharged',
      'Housing court: Nonpayment of rent, Apr 11, 2023, Settled',
      'Background: Petty theft, Feb 3, 2022, Dismissed',
    ]);
  });

  it('says whether a section was not ordered or was left out on request, and names the places of each search', () => {
    const searches = [{ section: 'publicRecords', area: 'Texas, statewide', date: '2026-02-28' }] as const;
    const report = { ...REPORT, searches, housingCourt: null };
    const shown = textOf(reportPage({ ...OPENED, report }, REQUEST, { leftOut: new Set(['background']) }));
    expect(shown).toMatch(/Public records\n+Searched Feb 28, 2026: no records \(Texas, statewide\)/);
    expect(shown).toMatch(/Housing court\n+Not ordered/);
    expect(shown).toMatch(/Background\n+Left out at the request of Acme Homes/);
    expect(shown).toContain('Searched: credit accounts, public records.');
  });

  it('marks test data on the screen and on each sheet, and never does so in live', () => {
    const test = reportPage(OPENED, { ...REQUEST, environment: 'test' });
    expect(textOf(test)).toContain('TEST DATA, not a real person');
    expect(test).toContain('<body class="test">');
    expect(test).toMatch(/@page test \{[^]*?@top-right \{ content: "TEST DATA, not a real person"/);
    expect(textOf(page)).not.toContain('TEST DATA');
    expect(page).toContain('<body class="live">');
  });

  it('has the logo of the account in its head, as a part of the page', () => {
    const branded = reportPage(OPENED, { ...REQUEST, logo: 'data:image/png;base64,bG9nbw==' });
    expect(branded).toContain('<p class="brand"><img alt="" src="data:image/png;base64,bG9nbw==">Acme Homes</p>');
    expect(page).toContain('<p class="brand">Acme Homes</p>');
  });

  it('leaves out the property, the end user and the verification when the request has none', () => {
    const request = { ...REQUEST, endUserType: null, property: null, verified: null };
    const shown = textOf(reportPage(OPENED, request));
    expect(shown).toMatch(/Requested by\n+Acme Homes\n/);
    expect(shown).not.toMatch(/Property|Identity verified|SSN/);
  });

  it('is a whole document for screen and paper that loads no resources and runs no scripts', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toContain('@media print');
    expect(page).not.toMatch(/<script|<img|<link|<iframe|@import|url\(|\son\w+=|javascript:|https?:/i);
  });

  it('shows every text of the vendor as plain text, in every place', () => {
    const tags = tagsOf(reportPage(filledWith('plain'), REQUEST));
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
        const filled = reportPage(filledWith(text), REQUEST);
        expect(tagsOf(filled)).toEqual(tags);
        expect(textOf(filled)).toContain(text);
      }),
    );
  });
});

describe('the page of a report in Spanish', () => {
  const page = reportPage(OPENED, REQUEST, { language: 'es' });

  it('is Spanish from title to rights, and spells days, times, amounts and known codes for people', () => {
    expect(page).toMatch(/^<!doctype html>\n<html lang="es">/);
    expect(page).toContain('<title>Informe de evaluación de inquilino, Ada Example, 1 de marzo de 2026</title>');
    for (const text of [
      'Puntaje',
      'en una escala de 300 a 850',
      '1 mar 2026',
      'Cuentas',
      'Crédito renovable',
      'Al día',
      '$1,234.56',
      'Registros públicos',
      'Se buscó el 1 de marzo de 2026: sin registros',
      'Evaluación de inquilino',
      'Antecedentes',
      'Tribunal de vivienda',
      'Sus derechos',
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
    expect(reportPage(OPENED, REQUEST)).not.toContain('<span lang=');
  });

  it('uses formal Spanish of the United States', () => {
    const foreign = /introdu[cz]|móvil|caduc|nóminas|importe\b|comprobación|\b(tu|tus|tienes|puedes)\b/i;
    expect(wordsOf(WORDINGS.es).filter((text) => foreign.test(text))).toEqual([]);
  });
});

describe.each(PAGE_LANGUAGES)('codes and days in %s', (language) => {
  const withLine = (line: object): string =>
    reportPage({ ...OPENED, report: { ...REPORT, tradeLines: [{ ...REPORT.tradeLines[0]!, ...line }] } }, REQUEST, {
      language,
    });

  it('stay as they are when they are unknown, and an unknown code is marked', () => {
    expect(withLine({ status: 'CHARGED_OFF_47' })).toContain('<code>CHARGED_OFF_47</code>');
    expect(withLine({ status: 'toString' })).toContain('<code>toString</code>');
    for (const openedOn of ['2026-02-30', '2026-13-01', 'May 2019', ''])
      expect(withLine({ openedOn })).toContain(`>${openedOn}</dd>`);
  });

  it("are never shown in a machine's format when they are known", () => {
    const shown = textOf(reportPage(OPENED, REQUEST, { language }));
    expect(shown).not.toMatch(/\b[A-Z]+_[A-Z_]+\b|\bREVOLVING\b|\d{4}-\d{2}-\d{2}/);
  });
});

/** All texts of a language. */
function wordsOf(words: unknown): string[] {
  if (typeof words === 'string') return [words];
  return typeof words === 'object' && words !== null ? Object.values(words).flatMap(wordsOf) : [];
}

describe('markup', () => {
  it('escapes values, keeps its own markup, joins lists and omits null', () => {
    expect(html`<p title="${'"<&>\''}">${html`<b>${1}</b>`}${['<', html`<i></i>`]}${null}</p>`.text).toBe(
      '<p title="&quot;&lt;&amp;&gt;&#39;"><b>1</b>&lt;<i></i></p>',
    );
  });
});
