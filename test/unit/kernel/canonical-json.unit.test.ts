// The service's canonical JSON equals the output of the `canonicalize` package, with which older logs were hashed.
import { describe, expect, it } from '@jest/globals';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/kernel/canonical-json.js';

const RUNS = 5_000;
/**
 * Keys that sort differently by locale, by code point or as array indexes, and keys that have a meaning in JavaScript.
 */
const KEYS = [
  '',
  'a',
  'A',
  'b',
  'é',
  'e\u0301',
  '€',
  '\ufb33',
  '\u{1f600}',
  '\r',
  '\u0080',
  '10',
  '9',
  '1e3',
  '-1',
].concat(['__proto__', 'constructor', 'toJSON', 'length', '"', '\\', '\u2028', '\u007f', '\ud83d', '\udc00']);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.constantFrom(...KEYS),
);
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 0, 1e21, 1e-7, 123e-20, 5e-324, Number.MAX_VALUE, 999_999_999_999_999_900_000, 0.1 + 0.2),
);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 8 }, text, number, fc.boolean(), fc.constant(null), tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 6 }),
  record: fc
    .array(fc.tuple(text, fc.oneof(tie('value'), fc.constant(undefined))), { maxLength: 8 })
    .map((members) => Object.fromEntries(members)),
}));

describe('canonical JSON', () => {
  it('equals the output of the package for any JSON', () => {
    fc.assert(
      fc.property(json, (value) => expect(canonicalJson(value)).toBe(canonicalize(value))),
      { numRuns: RUNS },
    );
  });

  it('omits inherited members, and accepts a deeply nested value', () => {
    const inheriting = Object.assign(Object.create({ inherited: 1 }) as object, { own: 2 });
    expect(canonicalJson(inheriting)).toBe('{"own":2}');
    let deep: unknown = 1;
    for (let depth = 0; depth < 1_000; depth++) deep = depth % 2 === 0 ? [deep] : { deep };
    expect(canonicalJson(deep)).toBe(canonicalize(deep));
  });

  it('equals the example of RFC 8785', () => {
    const value = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"\u002f',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it.each([undefined, NaN, Infinity, -Infinity, 1n, Symbol('s'), () => 1])('refuses %p', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
    expect(() => canonicalJson([value])).toThrow(TypeError);
    if (value !== undefined) expect(() => canonicalJson({ value })).toThrow(TypeError);
  });
});
