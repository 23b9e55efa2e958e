import { describe, expect, it } from '@jest/globals';
import type { Session } from '../../../web/frame/api/wire.js';
import { dayAndTime, endOf } from '../../../web/frame/steps/ended/times.js';

const NOW = Date.parse('2026-03-04T05:06:07.000Z');
const BLOCKED: Session = { id: 'session-1', status: 'BLOCKED', blockedUntil: '2026-03-05T05:06:07.000Z' };

describe('the time when a person may start again', () => {
  it('has come when the session expired or failed', () => {
    expect(endOf({ id: 'session-1', status: 'EXPIRED' }, NOW)).toBe('over');
    expect(endOf({ id: 'session-1', status: 'ERROR' }, NOW)).toBe('over');
  });

  it('is the end of the block', () => expect(endOf(BLOCKED, NOW)).toEqual(new Date('2026-03-05T05:06:07.000Z')));

  it('does not exist when the block has no end', () =>
    expect(endOf({ ...BLOCKED, blockedUntil: null }, NOW)).toBe('never'));

  it('has come when the details matched no person, because the details may have a typing error', () =>
    expect(endOf({ id: 'session-1', status: 'BLOCKED', reasonCode: 'IDENTITY_NOT_FOUND' }, NOW)).toBe('over'));

  it('has come when the block has ended', () =>
    expect(endOf(BLOCKED, Date.parse('2026-03-05T05:06:07.000Z'))).toBe('over'));
});

describe('a day and time', () => {
  const time = new Date('2026-03-05T05:06:07.000Z');

  it("is written in the style of the reader's language, in the named time zone", () => {
    const text = dayAndTime('en', ['en-US'], time, 'America/Chicago').replace(/\s/g, ' ');
    expect(text).toBe('Wednesday, March 4 at 11:06 PM CST');
  });

  it("has the style of the reader's region", () =>
    expect(dayAndTime('en', ['es-MX', 'en-GB'], time, 'Europe/London')).toContain('5 March'));

  it('has the style of the United States when the language has no region', () =>
    expect(dayAndTime('es', ['es'], time, 'America/Chicago').replace(/\s/g, ' ')).toContain('11:06 p.m. CST'));

  it('is in the language of the screen, even if the browser has another language', () =>
    expect(dayAndTime('es', [null, 'en-US'], time, 'America/Chicago')).toContain('miércoles, 4 de marzo'));

  it('ignores an invalid language tag', () =>
    expect(dayAndTime('en', ['en-', 'en_US'], time, 'UTC')).toContain('March 5'));
});
