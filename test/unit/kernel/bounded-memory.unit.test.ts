import { describe, expect, it } from '@jest/globals';
import { BoundedMemory } from '../../../src/kernel/bounded-memory.js';

describe('a bounded memory', () => {
  const text = (bytes: number): string => 'x'.repeat(bytes);

  it('remembers what fits, and forgets what was not used for longest', () => {
    // Room for four values of 100 bytes and what an entry takes itself, and for a part of a fifth.
    const memory = new BoundedMemory<string>(4.5 * 301, () => 100);
    for (const key of ['a', 'b', 'c', 'd']) memory.set(key, key);
    expect(memory.get('a')).toBe('a');
    memory.set('e', 'e');
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => memory.get(key))).toEqual(['a', undefined, 'c', 'd', 'e']);
  });

  it('forgets a sixteenth at once and no more, so that what is full need not forget with each value', () => {
    const keys = Array.from({ length: 1_601 }, (_, index) => String(index).padStart(4, '0'));
    const memory = new BoundedMemory<string>(1_600 * 304, () => 100);
    const held = (): number => keys.filter((key) => memory.get(key) !== undefined).length;
    for (const key of keys.slice(0, -1)) memory.set(key, key);
    expect(held()).toBe(1_600);
    memory.set('1600', 'one too many');
    expect(held()).toBe(1_500);
    expect([memory.get('0100'), memory.get('0101')]).toEqual([undefined, '0101']);
  });

  it('reckons by the size of what it is given, so that few large values take the room of many small ones', () => {
    const held = (bytes: number): number => {
      const memory = new BoundedMemory<{ readonly text: string }>(100_000);
      const keys = Array.from({ length: 1_000 }, (_, index) => `key-${index}`);
      for (const key of keys) memory.set(key, { text: text(bytes) });
      return keys.filter((key) => memory.get(key) !== undefined).length;
    };
    expect([held(10), held(1_000), held(40_000)]).toEqual([expect.closeTo(400, -2), expect.closeTo(45, -1), 1]);
  });

  it('keeps nothing of what is too large by itself, and reckons anew what is set again or deleted', () => {
    const memory = new BoundedMemory<string>(10_000);
    memory.set('small', 'x');
    memory.set('small', text(3_000));
    memory.delete('small');
    memory.delete('small');
    for (let time = 0; time < 100; time++) memory.set('again', text(4_000));
    expect(memory.get('again')).toHaveLength(4_000);
    memory.set('again', text(6_000));
    expect(memory.get('again')).toBeUndefined();
    memory.set('after', 'x');
    expect(memory.get('after')).toBe('x');
    memory.set('nearly all', text(4_890));
    expect(memory.get('nearly all')).toHaveLength(4_890);
  });
});
