import { describe, expect, it } from '@jest/globals';
import { BuildProgress, shareOfLog } from '../../src/platform/subscriptions/build-progress.js';

const place = (position: number): string => String(position).padStart(20, '0');

describe('the progress of a rebuild', () => {
  it('is the share of the log that was read', () => {
    expect(shareOfLog(place(250), place(1_000))).toBe(0.25);
    expect(shareOfLog(null, place(1_000))).toBe(0);
    expect(shareOfLog(place(1_001), place(1_000))).toBe(1);
    expect(shareOfLog(null, null)).toBe(1);
    expect(shareOfLog('C:10/P:10', 'C:20/P:20')).toBeNull();
  });

  it('estimates the remaining time from the speed so far, from any start of the measurement', () => {
    const progress = new BuildProgress();
    expect(progress.at(0.5, 10_000)).toEqual({ percent: 50, secondsLeft: null });
    expect(progress.at(0.6, 12_000)).toEqual({ percent: 60, secondsLeft: 8 });
    expect(progress.at(1, 20_000)).toEqual({ percent: 100, secondsLeft: 0 });
  });
});
