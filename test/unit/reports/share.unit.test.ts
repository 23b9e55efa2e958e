import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { derivedId } from '../../../src/kernel/ids.js';
import { monthsAfter } from '../../../src/modules/reports/domain/calendar-months.js';
import { reportLooks } from '../../../src/modules/reports/domain/report-view.js';
import {
  idOfShare,
  isOver,
  share,
  shareIdOf,
  type ActiveShare,
  type ShareEvent,
} from '../../../src/modules/reports/domain/share.js';
import { given } from '../../support/decider.js';
import { at, consent, iso, link, SESSION } from './histories.js';

const shared: ShareEvent = {
  type: 'ReportShared',
  data: {
    reportId: 'report',
    sessionId: SESSION,
    recipientAccountId: 'recipient',
    purpose: 'TENANT_SCREENING',
    sharedAt: '2026-03-01T12:00:00.000Z',
    expiresAt: '2028-03-01T12:00:00.000Z',
  },
};
const revoked: ShareEvent = {
  type: 'SharingRevoked',
  data: { reportId: 'report', sessionId: SESSION, recipientAccountId: 'recipient', revokedAt: iso(60) },
};

describe('a share', () => {
  it('lets the recipient read for 24 calendar months', () => {
    given(share).when(consent()).then(shared);
  });

  it('lasts for the configured time, if a time is configured', () => {
    const [event] = given(share).when(consent(at(0), 90)).events;
    expect(event?.data).toMatchObject({ sharedAt: iso(0), expiresAt: iso(90) });
  });

  it('is made once; another consent changes nothing, not even the time of the share', () => {
    given(share, shared)
      .when(consent(at(5_000)))
      .then();
  });

  it('is revoked permanently', () => {
    given(share, shared)
      .when({ kind: 'revoke', now: at(60) })
      .then(revoked)
      .when(consent())
      .thenRefused('sharing.already_revoked');
    given(share, shared, revoked)
      .when({ kind: 'revoke', now: at(61) })
      .thenRefused('sharing.already_revoked');
  });

  it('cannot be revoked when it does not exist', () => {
    given(share)
      .when({ kind: 'revoke', now: at(0) })
      .thenRefused('sharing.not_found');
  });

  it('is not renewed after its time has passed', () => {
    given(share, shared)
      .when(consent(new Date('2028-03-01T12:00:00.000Z')))
      .thenRefused('sharing.expired');
  });

  it('ends exactly when its time has passed', () => {
    const state = given(share, shared).state as ActiveShare;
    expect(isOver(state, new Date('2028-03-01T11:59:59.999Z'))).toBe(false);
    expect(isOver(state, new Date('2028-03-01T12:00:00.000Z'))).toBe(true);
  });

  it('has one id for each session and recipient', () => {
    expect(shareIdOf('session', 'recipient')).toBe(derivedId('share', 'session', 'recipient'));
    expect(shareIdOf('session', 'recipient')).not.toBe(shareIdOf('recipient', 'session'));
  });

  it('keeps its state when it reads events of a later version of the service', () => {
    const { state } = given(share, shared);
    expect(share.evolve(state, { type: 'Unheard', data: {} } as unknown as ShareEvent)).toEqual(state);
    expect(share.evolve(share.initial, revoked)).toEqual(share.initial);
  });
});

describe('a link to an agent or organization', () => {
  const linked: ShareEvent = { ...shared, data: { ...shared.data, recipientPartyId: 'agent' } } as ShareEvent;

  it('is a share that names the party and the purpose', () => {
    given(share).when(link()).then(linked);
  });

  it('has a different id from the share with the account', () => {
    expect(idOfShare(given(share, linked).state as ActiveShare)).toBe(shareIdOf(SESSION, 'agent'));
    expect(idOfShare(given(share, shared).state as ActiveShare)).toBe(shareIdOf(SESSION, 'recipient'));
  });

  it('is made once while it is valid', () => {
    given(share, linked)
      .when(link(at(5_000)))
      .then();
  });

  it('is made again after an unlink, with a time of its own', () => {
    const { state } = given(share, linked, revoked)
      .when(link(at(120)))
      .then({
        ...linked,
        data: { ...linked.data, sharedAt: iso(120), expiresAt: '2028-03-01T12:02:00.000Z' },
      } as ShareEvent);
    expect(state).toMatchObject({ status: 'SHARED', sharedAt: iso(120), recipientPartyId: 'agent' });
    expect(state).not.toHaveProperty('revokedAt');
  });

  it('is made again after its time has passed', () => {
    const later = new Date('2028-03-01T12:00:00.000Z');
    const [event] = given(share, linked).when(link(later)).events;
    expect(event?.data).toMatchObject({ sharedAt: later.toISOString() });
  });

  it('is revoked once, even when the command is repeated', () => {
    given(share, linked)
      .when({ kind: 'revoke', now: at(60) })
      .then(revoked)
      .when({ kind: 'revoke', now: at(61) })
      .then();
  });
});

describe('calendar months', () => {
  it.each([
    ['2026-03-01T12:00:00.000Z', 24, '2028-03-01T12:00:00.000Z'],
    // Two years after 29 February follows a common year. 28 February stays the 28th, even in a leap year.
    ['2024-02-29T23:59:59.999Z', 24, '2026-02-28T23:59:59.999Z'],
    ['2026-02-28T00:00:00.000Z', 24, '2028-02-28T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 48, '2032-02-29T00:00:00.000Z'],
    ['2098-02-28T10:00:00.000Z', 24, '2100-02-28T10:00:00.000Z'],
    ['2026-01-31T08:00:00.000Z', 1, '2026-02-28T08:00:00.000Z'],
    ['2026-05-31T08:00:00.000Z', 1, '2026-06-30T08:00:00.000Z'],
    ['2026-12-31T23:00:00.000Z', 2, '2027-02-28T23:00:00.000Z'],
    ['2026-08-31T00:30:00.000Z', 24, '2028-08-31T00:30:00.000Z'],
  ])('%s and %i months are %s', (from, months, to) => {
    expect(monthsAfter(new Date(from), months).toISOString()).toBe(to);
  });

  it('keep the day if the month has this day, and otherwise end on the last day of the month', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
        fc.integer({ min: 0, max: 48 }),
        (from, months) => {
          const after = monthsAfter(from, months);
          const month = from.getUTCFullYear() * 12 + from.getUTCMonth() + months;
          expect(after.getUTCFullYear() * 12 + after.getUTCMonth()).toBe(month);
          expect(after.getTime() % 86_400_000).toBe(from.getTime() % 86_400_000);
          const nextDay = new Date(after.getTime() + 86_400_000);
          expect(
            after.getUTCDate() === from.getUTCDate() ||
              (after.getUTCDate() < from.getUTCDate() && nextDay.getUTCDate() === 1),
          ).toBe(true);
        },
      ),
    );
  });
});

describe('a look at a report', () => {
  it('is recorded each time', () => {
    const viewed = {
      sessionId: SESSION,
      reportId: 'report',
      viewerAccountId: 'account',
      purpose: 'TENANT_SCREENING',
      format: 'html',
      shareId: null,
    } as const;
    given(reportLooks)
      .when({ kind: 'record', ...viewed })
      .then({ type: 'ReportViewed', data: viewed })
      .when({ kind: 'record', ...viewed })
      .then({ type: 'ReportViewed', data: viewed });
  });
});
