import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isBeyondLimits, LARGE_BODY_BYTES, SMALL_BODY_BYTES } from '../../../src/platform/http/json-limits.js';

const judged = (json: string): boolean => isBeyondLimits(Buffer.from(json), LARGE_BODY_BYTES);
const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}0${'}]'.repeat(levels / 2)}`;
/** The number of values in all arrays and objects. */
const valuesIn = (json: unknown): number =>
  typeof json === 'object' && json !== null
    ? Object.values(json).reduce((sum: number, value) => sum + 1 + valuesIn(value), 0)
    : 0;

describe('the limits of a JSON body', () => {
  it('are 32 levels', () => {
    expect([nested(32), nested(34)].map(judged)).toEqual([false, true]);
    expect(judged(`[${Array.from({ length: 5_000 }, () => '[]').join()}]`)).toBe(false);
  });

  it('are 10,000 values at any depth and spacing', () =>
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 0, max: 1 }),
        fc.constantFrom(undefined, '\t', 2),
        (value, more, space) => {
          const rest = 10_000 - 2 - valuesIn(value) + more;
          const body = { [`"\\ ,[{`]: value, rest: Array.from({ length: rest }, () => ',[') };
          expect(valuesIn(body)).toBe(10_000 + more);
          expect(judged(JSON.stringify(body, null, space))).toBe(more === 1);
        },
      ),
      { numRuns: 50 },
    ));

  it('are 500 values in a small body', () =>
    expect(
      [500, 501].map((values) => isBeyondLimits(Buffer.from(JSON.stringify(Array(values).fill(0))), SMALL_BODY_BYTES)),
    ).toEqual([false, true]));

  it('do not count the brackets and commas inside a text, such as a page for printing', () => {
    expect(judged(JSON.stringify({ html: '<p title="a\\" class=\'b\'>[{,:}]</p>'.repeat(60_000) }))).toBe(false);
    expect(judged(`["${'\\\\'.repeat(50_000)}",${'['.repeat(40)}`)).toBe(true);
  });

  it('apply to any bytes', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) =>
        expect(typeof isBeyondLimits(bytes, SMALL_BODY_BYTES)).toBe('boolean'),
      ),
    ));
});
