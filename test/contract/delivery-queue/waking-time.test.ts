// Which time counts when it is judged how long somebody took.
import { expect, it } from '@jest/globals';
import { WakingTime } from '../../../src/adapters/delivery-queue/waking-time.js';

it('goes on while the process is awake, also when a timer is late, and stands still with it', () => {
  let at = 5_000;
  const time = new WakingTime(250, () => at);
  const passes = (ms: number): number => {
    const before = time.now();
    at += ms;
    return time.now() - before;
  };
  expect([0, 1, 250, 500].map(passes)).toEqual([0, 1, 250, 500]);
  // One of its turns is all that it can have been awake for.
  expect([501, 1_500, 3_600_000].map(passes)).toEqual([250, 250, 250]);
  expect(passes(100)).toBe(100);
});
