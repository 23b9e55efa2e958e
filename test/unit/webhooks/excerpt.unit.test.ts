// Answers of receivers, as the log keeps them. The answers are unreadable without the key, and each is bound to one
// attempt.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { excerptPlace, openExcerpt, sealExcerpt } from '../../../src/modules/webhooks/domain/excerpt.js';

const KEY = randomBytes(32);
const PLACE = excerptPlace('0190a6d0-0000-7000-8000-000000000001', 1);

describe("a receiver's answer in the log", () => {
  it('is read back unchanged, whatever its text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(openExcerpt(KEY, PLACE, sealExcerpt(KEY, randomBytes(12), PLACE, text))).toBe(text);
      }),
    );
  });

  it('is unreadable without the key, and two equal answers look different', () => {
    const [one, other] = [
      sealExcerpt(KEY, randomBytes(12), PLACE, 'hello Ada'),
      sealExcerpt(KEY, randomBytes(12), PLACE, 'hello Ada'),
    ];
    expect(one).not.toBe(other);
    expect(Buffer.from(one, 'base64').toString('latin1')).not.toContain('Ada');
    expect(() => openExcerpt(randomBytes(32), PLACE, one)).toThrow();
  });

  it('cannot be read as the answer to another attempt or delivery', () => {
    const sealed = sealExcerpt(KEY, randomBytes(12), PLACE, 'hello');
    for (const place of [
      excerptPlace('0190a6d0-0000-7000-8000-000000000001', 2),
      excerptPlace('0190a6d0-0000-7000-8000-000000000002', 1),
    ]) {
      expect(() => openExcerpt(KEY, place, sealed)).toThrow();
    }
  });

  it('cannot be changed without the key', () => {
    const sealed = Buffer.from(sealExcerpt(KEY, randomBytes(12), PLACE, 'hello'), 'base64');
    for (let place = 0; place < sealed.length; place++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(place) ^ 1, place);
      expect(() => openExcerpt(KEY, PLACE, changed.toString('base64'))).toThrow();
    }
  });
});
