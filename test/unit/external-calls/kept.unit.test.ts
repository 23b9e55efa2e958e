import { expect, it } from '@jest/globals';
import { attemptTimes, keptMs } from '../../../src/external-calls/attempt-times.js';

it.each([1, 20, 120])(
  'a call that is repeated at the last moment ends at least one time limit (%i s) before the service gives up its attempt',
  (limit) => {
    const now = new Date('2026-03-01T12:00:00.000Z');
    const { settleAfter, giveUpAfter } = attemptTimes(now, limit);
    const lastMoment = now.getTime() + keptMs(limit * 1_000);
    expect(lastMoment + 2 * limit * 1_000).toBeLessThanOrEqual(giveUpAfter.getTime());
    expect(lastMoment).toBeGreaterThan(settleAfter.getTime());
  },
);
