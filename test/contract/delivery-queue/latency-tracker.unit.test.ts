// What makes an endpoint fast, slow or unknown.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type Answer,
  LatencyTracker,
  type TrackedAttempt,
} from '../../../src/adapters/delivery-queue/latency-tracker.js';

const RULES = { fastBelowMs: 500, overdueMs: 1_000, rememberMs: 300_000 };
const QUICK = { latencyMs: 20, timedOut: false };
const TIMED_OUT = { latencyMs: 8_000, timedOut: true };

describe('The standing of an endpoint', () => {
  let tracker: LatencyTracker;

  beforeEach(() => {
    jest.useFakeTimers();
    tracker = new LatencyTracker(RULES);
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  const standing = (): string => tracker.standing('one');

  function heard(...answers: Answer[]): void {
    for (const answer of answers) {
      const attempt = tracker.begin('one');
      jest.advanceTimersByTime(answer.latencyMs);
      tracker.end(attempt, answer);
    }
  }

  const begin = (count: number): TrackedAttempt[] => Array.from({ length: count }, () => tracker.begin('one'));

  it.each([
    ['quick', QUICK, 'fast'],
    ['slow', { latencyMs: 900, timedOut: false }, 'slow'],
    ['timed out', TIMED_OUT, 'slow'],
  ])('is unknown until it has answered: %s', (_, answer, expected) => {
    expect(standing()).toBe('unknown');
    heard(answer);
    expect(standing()).toBe(expected);
  });

  it('says nothing when nothing was sent', () => {
    for (const attempt of begin(3)) tracker.end(attempt, null);
    expect(standing()).toBe('unknown');
  });

  it('survives one time-out among quick answers, but not two in a row', () => {
    heard(QUICK, QUICK, TIMED_OUT);
    expect(standing()).toBe('fast');
    heard(TIMED_OUT);
    expect(standing()).toBe('slow');
  });

  it('becomes fast again by quick answers, however often it had timed out', () => {
    heard(...Array.from({ length: 30 }, () => TIMED_OUT));
    let answers = 0;
    for (; standing() === 'slow'; answers++) heard(QUICK);
    expect(answers).toBeGreaterThan(5);
    expect(answers).toBeLessThan(30);
  });

  it.each([QUICK, TIMED_OUT])('is forgotten when nothing was heard for a while, for better and for worse', (answer) => {
    heard(answer);
    jest.advanceTimersByTime(RULES.rememberMs);
    expect(standing()).not.toBe('unknown');
    jest.advanceTimersByTime(1);
    expect(standing()).toBe('unknown');
  });

  it('is slow while more than a quarter of its attempts is overdue', () => {
    heard(QUICK);
    const hanging = begin(16);
    jest.advanceTimersByTime(RULES.overdueMs);
    expect(standing()).toBe('slow');
    const others = begin(48);
    expect(standing()).toBe('fast');
    tracker.end(others[0]!, null);
    expect(standing()).toBe('slow');
    for (const attempt of [...hanging, ...others.slice(1)]) tracker.end(attempt, null);
    expect(standing()).toBe('fast');
  });

  it('counts no time in which the process stood still', () => {
    heard(QUICK);
    const underWay = begin(8);
    // Its clock goes on, its timers do not; the first that it does then is to run each of them once.
    jest.setSystemTime(Date.now() + 60_000);
    jest.advanceTimersByTime(RULES.overdueMs / 4);
    expect(standing()).toBe('fast');
    for (const attempt of underWay) tracker.end(attempt, TIMED_OUT);
    expect(standing()).toBe('fast');
  });

  it('leaves no timer behind when nothing is under way', () => {
    heard(QUICK, TIMED_OUT);
    expect(jest.getTimerCount()).toBe(0);
  });
});
