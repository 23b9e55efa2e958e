import { describe, expect, it } from '@jest/globals';
import type { Session } from '../../../web/frame/api/wire.js';
import { dayAndTime, endOf } from '../../../web/frame/steps/ended/times.js';

const NOW = Date.parse('2026-03-04T05:06:07.000Z');
const BLOCKED: Session = { id: 'session-1', status: 'BLOCKED', blockedUntil: '2026-03-05T05:06:07.000Z' };

describe('when a person may start again', () => {
  it('is at once after an expired or failed session', () => {
    expect(endOf({ id: 'session-1', status: 'EXPIRED' }, NOW)).toBe('over');
    expect(endOf({ id: 'session-1', status: 'ERROR' }, NOW)).toBe('over');
  });

  it('is when the block ends', () => expect(endOf(BLOCKED, NOW)).toEqual(new Date('2026-03-05T05:06:07.000Z')));

  it('is never while a block has no end', () => expect(endOf({ ...BLOCKED, blockedUntil: null }, NOW)).toBe('never'));

  it('is at once after details that match nobody, which may have been typed wrong', () =>
    expect(endOf({ id: 'session-1', status: 'BLOCKED', reasonCode: 'IDENTITY_NOT_FOUND' }, NOW)).toBe('over'));

  it('is at once when the block is over', () =>
    expect(endOf(BLOCKED, Date.parse('2026-03-05T05:06:07.000Z'))).toBe('over'));
});

describe('a day and time', () => {
  const time = new Date('2026-03-05T05:06:07.000Z');

  it('is written as the reader writes it, in the named zone', () => {
    const text = dayAndTime('en', ['en-US'], time, 'America/Chicago').replace(/\s/g, ' ');
    expect(text).toBe('Wednesday, March 4 at 11:06 PM CST');
  });

  it('follows the region of the reader', () =>
    expect(dayAndTime('en', ['es-MX', 'en-GB'], time, 'Europe/London')).toContain('5 March'));

  it('is in the language of the screen, whatever the browser speaks', () =>
    expect(dayAndTime('es', [null, 'en-US'], time, 'America/Chicago')).toContain('miércoles, 4 de marzo'));

  it('takes no tag that is none', () => expect(dayAndTime('en', ['en-', 'en_US'], time, 'UTC')).toContain('March 5'));
});
