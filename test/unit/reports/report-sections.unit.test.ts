import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SECTIONS, withoutSections, type Section } from '../../../src/modules/reports/application/report-sections.js';

const BUREAU = `{ "score": {"value": 700.0, "max": 8.5e2},
  "report": { "housingCourt" : [ {"court": "a, \\"b\\" } ]", "judgmentCents": 12345678901234567890} ], "tradeLines": [{"balanceCents": 1.50}], "background":[] , "consumer": {"background": "kept"}},
  "background": "kept too" }`;

describe("the bureau's report without sections", () => {
  it('is the same byte for byte when no section is left out', () => {
    expect(withoutSections(BUREAU, new Set())).toBe(BUREAU);
  });

  it('has neither the section nor its name, and keeps every other number as the bureau wrote it', () => {
    const text = withoutSections(BUREAU, new Set(SECTIONS));
    expect(JSON.parse(text)).toEqual({
      score: { value: 700, max: 850 },
      report: { tradeLines: [{ balanceCents: 1.5 }], consumer: { background: 'kept' } },
      background: 'kept too',
    });
    expect(text).toContain('"value": 700.0');
    expect(text).toContain('8.5e2');
    expect(text).toContain('{"balanceCents": 1.50}');
  });

  it('leaves out one section and keeps the other, whatever their order', () => {
    const text = withoutSections(BUREAU, new Set<Section>(['background']));
    expect(text).toContain('12345678901234567890');
    expect(Object.keys((JSON.parse(text) as { report: object }).report)).toEqual([
      'housingCourt',
      'tradeLines',
      'consumer',
    ]);
  });

  it('recognises the name of a section when it is escaped or present twice', () => {
    const text = '{"report":{"b\\u0061ckground":[1],"x":[],"background":[2]}}';
    expect(withoutSections(text, new Set<Section>(['background']))).toBe('{"report":{"x":[]}}');
  });

  it.each(['null', '[]', '"report"', '{}', '{"report":null}', '{"report":[{"background":1}]}'])(
    'is %s when it has no section to leave out',
    (text) => {
      expect(withoutSections(text, new Set(SECTIONS))).toBe(text);
    },
  );

  it('equals the parsed report without the sections, whatever JSON it contains', () => {
    const member = fc.oneof(fc.constantFrom<string>(...SECTIONS, 'report'), fc.string());
    const object = fc.dictionary(member, fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(fc.dictionary(member, fc.oneof(object, fc.jsonValue())), fc.nat(3), (whole, indent) => {
        const text = JSON.stringify(whole, null, indent);
        const left = JSON.parse(text) as Record<string, unknown>;
        const { report } = left;
        if (typeof report === 'object' && report !== null && !Array.isArray(report))
          left.report = Object.fromEntries(
            Object.entries(report).filter(([name]) => !(SECTIONS as readonly string[]).includes(name)),
          );
        expect(JSON.parse(withoutSections(text, new Set(SECTIONS)))).toEqual(left);
      }),
    );
  });

  it('can be made from the longest text that the bureau may send, at any depth', () => {
    const long = `{"report":{"note":"${'x\\"'.repeat(500_000)}","deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"background":[]}}`;
    expect(withoutSections(long, new Set(SECTIONS))).toBe(long.replace(',"background":[]', ''));
  });
});
