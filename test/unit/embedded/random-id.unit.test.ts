import { expect, it } from '@jest/globals';
import { randomId } from '../../../web/frame/random-id.js';

it('random ids differ, even in a page without a secure context', () => {
  const { randomUUID } = crypto;
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true, writable: true });
  try {
    const ids = Array.from({ length: 100 }, randomId);
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  } finally {
    crypto.randomUUID = randomUUID;
  }
});
