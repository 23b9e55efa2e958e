import { describe, expect, it } from '@jest/globals';
import { together } from '../../../src/kernel/together.js';

describe('work in parallel', () => {
  const items = [1, 2, 3, 4, 5];

  it('is started in order, and at most the given number of items run at once', async () => {
    const begun: number[] = [];
    let [now, most] = [0, 0];
    await together(items, 2, async (item) => {
      begun.push(item);
      most = Math.max(most, ++now);
      await Promise.resolve();
      now -= 1;
    });
    expect([begun, most]).toEqual([items, 2]);
  });

  it.each([
    { atMost: 1, done: [1] },
    { atMost: 2, done: [1, 3, 4, 5] },
  ])('with $atMost at once stops only the sequence of items in which an error occurs', async ({ atMost, done }) => {
    const worked: number[] = [];
    const work = together(items, atMost, async (item) => {
      await Promise.resolve();
      if (item === 2) throw new Error('Two');
      worked.push(item);
    });
    await expect(work).rejects.toThrow('Two');
    expect(worked).toEqual(done);
  });

  it('does nothing without items', async () => {
    await together([], 16, () => Promise.reject(new Error('Nothing')));
  });
});
