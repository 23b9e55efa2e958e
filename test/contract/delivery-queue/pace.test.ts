// What makes an endpoint fast, slow or unknown.
import { describe, expect, it } from '@jest/globals';
import { Pace } from '../../../src/adapters/delivery-queue/pace.js';

const RULES = { fastBelowMs: 500, overdueMs: 1_000, rememberMs: 300_000 };
const QUICK = { latencyMs: 20, timedOut: false };
const TIMED_OUT = { latencyMs: 8_000, timedOut: true };

function paceAfter(...answers: { latencyMs: number; timedOut: boolean }[]): Pace {
  const pace = new Pace(RULES);
  for (const answer of answers) pace.heard(answer, 0);
  return pace;
}

describe('The pace of an endpoint', () => {
  it('is unproven until it has answered', () => {
    expect(paceAfter().standing(0)).toBe('unproven');
    expect(paceAfter(QUICK).standing(0)).toBe('fast');
    expect(paceAfter({ latencyMs: 900, timedOut: false }).standing(0)).toBe('slow');
    expect(paceAfter(TIMED_OUT).standing(0)).toBe('slow');
  });

  it('survives one time-out among quick answers, but not two in a row', () => {
    expect(paceAfter(QUICK, QUICK, TIMED_OUT).standing(0)).toBe('fast');
    expect(paceAfter(QUICK, QUICK, TIMED_OUT, TIMED_OUT).standing(0)).toBe('slow');
  });

  it('becomes fast again by quick answers, however often it had timed out', () => {
    const pace = paceAfter(...Array.from({ length: 100 }, () => TIMED_OUT));
    let answers = 0;
    for (; pace.standing(0) === 'slow'; answers++) pace.heard(QUICK, 0);
    expect(answers).toBeGreaterThan(5);
    expect(answers).toBeLessThan(30);
  });

  it('is forgotten when nothing was heard for a while, for better and for worse', () => {
    for (const answer of [QUICK, TIMED_OUT]) {
      const pace = paceAfter(answer);
      expect(pace.standing(RULES.rememberMs)).not.toBe('unproven');
      expect(pace.standing(RULES.rememberMs + 1)).toBe('unproven');
    }
  });

  it('is slow while more than a quarter of its attempts is overdue', () => {
    const pace = paceAfter(QUICK);
    Object.assign(pace, { running: 64, overdue: 16 });
    expect(pace.standing(0)).toBe('fast');
    pace.overdue = 17;
    expect(pace.standing(0)).toBe('slow');
    Object.assign(pace, { running: 0, overdue: 0 });
    expect(pace.standing(0)).toBe('fast');
  });
});
