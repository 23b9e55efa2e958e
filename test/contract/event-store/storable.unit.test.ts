// Both stores either return a JavaScript value unchanged or refuse it.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeStorable } from '../../../src/adapters/event-store/storable.js';
import type { JsonObject } from '../../../src/kernel/json.js';
import { UnstorableEvent } from '../../../src/ports/event-store.js';
import { newEvent } from './suite.js';

const key = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('toJSON', '__proto__', 'length', '0', '10', '9', '\ud83d'),
);
const values = [
  fc.string({ unit: 'binary' }),
  fc.constantFrom(true, false, null, 'half: \ud83d'),
  // JSON turns a negative zero into zero, and the two are equal.
  fc.double().map((number) => number + 0),
];
const anything = fc.oneof(
  fc.anything({ key, values: values.slice(0, 1) }),
  fc.anything({
    key,
    values: [...values, fc.constantFrom(undefined, Symbol('s'), () => 1)],
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
);

function textOf(data: object): string | null {
  try {
    const [event] = encodeStorable('thing-1', 'no-stream', [newEvent(data as JsonObject)]).events;
    return (event as { readonly data: string }).data;
  } catch (error) {
    expect(error).toBeInstanceOf(UnstorableEvent);
    return null;
  }
}

describe('an event that will be stored', () => {
  it('either is unchanged when its text is parsed, or is refused', () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(anything, (value) => {
        const text = textOf({ value });
        seen[text === null ? 'refused' : 'taken']++;
        if (text === null) return;
        expect(JSON.parse(text)).toEqual({ value });
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
      }),
      { numRuns: 5_000 },
    );
    expect(seen.taken).toBeGreaterThan(500);
    expect(seen.refused).toBeGreaterThan(500);
  });

  it('is refused for half of a surrogate pair in any text or key, and accepted for a whole pair', () => {
    const unit = fc.integer({ min: 0xd7fe, max: 0xe001 }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1 }), (text) => {
        const whole = !/\p{Surrogate}/u.test(text);
        expect(textOf({ deep: [{ text }] }) !== null).toBe(whole);
        expect(textOf({ deep: [{ [text]: 1 }] }) !== null).toBe(whole);
      }),
      { numRuns: 2_000 },
    );
    expect(textOf({ text: '\u{1f600}' })).toBe('{"text":"\u{1f600}"}');
  });
});
