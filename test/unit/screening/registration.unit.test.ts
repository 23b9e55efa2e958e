// The beginning of a session, and the vendor's verdict on a person (docs/contract/platform.md#screening-session, #ends-of-a-session).
import { describe, expect, it } from '@jest/globals';
import { FIRST_CHOICE } from '../../../src/kernel/vendor-choice.js';
import { screeningSession } from '../../../src/modules/screening/domain/screening-session.js';
import { given } from '../../support/decider.js';
import {
  at,
  iso,
  OVER,
  QUESTIONS,
  record,
  REGISTERING,
  stepUp,
  SUBMIT,
  submitted,
  SUBMITTED,
  withChoice,
} from './sessions.js';

const verdict = (kind: Parameters<typeof record<'record-registration'>>[2], seconds = 0) =>
  record('record-registration', 'registration', kind, seconds);

describe('submitting a person', () => {
  it('opens the session and sends the first request to the vendor', () => {
    const { state } = given(screeningSession).when(SUBMIT).then(SUBMITTED, REGISTERING);
    expect(state).toEqual({
      status: 'SUBMITTED',
      subjectId: 'subject',
      personId: 'person',
      userType: 'CONSUMER',
      paymentRequired: true,
      vendors: FIRST_CHOICE,
      duplicateGuard: false,
      attemptIds: ['registration'],
      attempt: { operation: 'registration', attemptId: 'registration', settleAfter: iso(22), giveUpAfter: iso(82) },
      review: null,
    });
  });

  it('records the vendors of the session; without a record, the first vendors apply', () => {
    const vendors = { identity: 'acme', credit: 'acme', income: 'voie' };
    const command = { ...SUBMIT, vendors };
    expect(given(screeningSession).when(command).decided.state).toMatchObject({ vendors });
    const { vendors: _none, ...data } = SUBMITTED.data;
    const before = given(screeningSession, { ...SUBMITTED, data }, REGISTERING);
    expect(before.state).toMatchObject({ vendors: { identity: 'idv', credit: 'idv', income: 'voie' } });
  });

  it('changes nothing when the session exists, whatever its status', () => {
    submitted().when(SUBMIT).then();
    withChoice().when(SUBMIT).then();
    for (const end of Object.values(OVER)) submitted().and(end).when(SUBMIT).then();
  });
});

describe('a registration that the first vendor has not executed', () => {
  const vendors = { identity: 'acme', credit: 'acme', income: 'voie' };
  const other = { ...vendors, identity: 'third' };
  const fallBack = (to = vendors, seconds = 1) =>
    ({ kind: 'fall-back', now: at(seconds), attemptId: 'registration', vendors: to }) as const;
  const fellBack = { type: 'VendorFellBack', data: { attemptId: 'registration', vendors } } as const;

  it('goes to one other vendor, which gets every later call of the session', () => {
    const after = submitted().when(fallBack()).then(fellBack);
    expect(after.state).toMatchObject({ status: 'SUBMITTED', vendors, attempt: { attemptId: 'registration' } });
    const verified = after.when(verdict({ kind: 'confirmed', duplicateGuard: false }, 3)).decided;
    expect(verified.state).toMatchObject({ status: 'VERIFIED', vendors });
    after.when(fallBack(other)).then();
  });

  it('goes to no other vendor when an earlier try may have been executed, or when the session waits for no vendor', () => {
    submitted().when(fallBack(vendors, 22)).then();
    submitted().when(fallBack(FIRST_CHOICE)).then();
    withChoice().when(fallBack()).then();
    for (const end of Object.values(OVER)) submitted().and(end).when(fallBack()).then();
  });
});

describe("the vendor's verdict on a person", () => {
  it('confirmed at once: VERIFIED', () => {
    const { state } = submitted()
      .when(verdict({ kind: 'confirmed', duplicateGuard: false }, 3))
      .then({
        type: 'IdentityVerified',
        data: { attemptId: 'registration', verifiedAt: iso(3), duplicateGuard: false },
      });
    expect(state).toEqual({
      status: 'VERIFIED',
      subjectId: 'subject',
      personId: 'person',
      userType: 'CONSUMER',
      paymentRequired: true,
      vendors: FIRST_CHOICE,
      duplicateGuard: false,
      attemptIds: ['registration'],
      verifiedAt: iso(3),
    });
  });

  it('a code, questions or either of them: STEP_UP_REQUIRED for 30 minutes with three attempts', () => {
    for (const [otp, kba] of [
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      const expected = stepUp([...(otp ? ['OTP' as const] : []), ...(kba ? ['KBA' as const] : [])]);
      const { state } = submitted()
        .when(verdict({ kind: 'step-up', otp, questions: kba ? QUESTIONS : [], duplicateGuard: false }))
        .then(expected);
      expect(state).toMatchObject({
        status: 'STEP_UP_REQUIRED',
        attempt: null,
        stepUp: {
          otp,
          kba,
          questions: kba ? QUESTIONS : [],
          attemptsRemaining: 3,
          answeredWrong: false,
          expiresAt: iso(1_800),
          smsSentAt: otp ? iso(0) : null,
          resends: 0,
        },
      });
    }
  });

  it('a step-up without a method is unintelligible: ERROR', () => {
    submitted()
      .when(verdict({ kind: 'step-up', otp: false, questions: [], duplicateGuard: false }))
      .then({ type: 'SessionErrored', data: { attemptId: 'registration', cause: 'VENDOR_UNINTELLIGIBLE' } });
  });

  it("keeps the vendor's demand for the duplicate check, even through a step-up", () => {
    const asked = submitted().when(
      verdict({ kind: 'step-up', otp: true, questions: [], duplicateGuard: true }),
    ).decided;
    expect(asked.state).toMatchObject({ duplicateGuard: true });
    expect(asked.and(OVER.VERIFIED).state).toMatchObject({ status: 'VERIFIED', duplicateGuard: true });
    expect(submitted().when(verdict({ kind: 'confirmed', duplicateGuard: true })).decided.state).toMatchObject({
      duplicateGuard: true,
    });
  });

  it('refused because of the person: BLOCKED with the reason and without an end', () => {
    for (const reason of [
      'IDENTITY_NOT_FOUND',
      'FRAUD_REPORTED',
      'SANCTIONS_MATCH',
      'ALERT_LIST_MATCH',
      'DECEASED',
      'MINOR_CONSUMER',
    ] as const) {
      const { state } = submitted()
        .when(verdict({ kind: 'refused', reason }))
        .then({ type: 'SessionBlocked', data: { attemptId: 'registration', reasonCode: reason, blockedUntil: null } });
      expect(state).toMatchObject({ status: 'BLOCKED', reasonCode: reason, blockedUntil: null });
    }
  });

  it("locked: BLOCKED until the vendor's time, or for 24 hours without one", () => {
    for (const [unblockAt, blockedUntil] of [
      ['2026-03-09T00:00:00.000Z', '2026-03-09T00:00:00.000Z'],
      [null, iso(5 + 86_400)],
    ] as const) {
      submitted()
        .when(verdict({ kind: 'locked', unblockAt }, 5))
        .then({
          type: 'SessionBlocked',
          data: { attemptId: 'registration', reasonCode: 'TOO_MANY_ATTEMPTS', blockedUntil },
        });
    }
  });

  it('input refused: ERROR with the refused input', () => {
    const { state } = submitted()
      .when(verdict({ kind: 'input-refused', input: 'zip' }))
      .then({
        type: 'SessionErrored',
        data: { attemptId: 'registration', cause: 'INPUT_REFUSED', refusedInput: 'zip' },
      });
    expect(state).toMatchObject({ status: 'ERROR', cause: 'INPUT_REFUSED', refusedInput: 'zip' });
  });

  it('expired file, missing product, unavailable or unintelligible: ERROR, so that a new submit is allowed', () => {
    const causes = {
      'report-expired': 'REPORT_EXPIRED',
      'product-not-enabled': 'PRODUCT_NOT_ENABLED',
      unavailable: 'VENDOR_UNAVAILABLE',
      unintelligible: 'VENDOR_UNINTELLIGIBLE',
    } as const;
    for (const [kind, cause] of Object.entries(causes)) {
      const { state } = submitted()
        .when(verdict({ kind: kind as keyof typeof causes }))
        .then({ type: 'SessionErrored', data: { attemptId: 'registration', cause } });
      expect(state).toMatchObject({ status: 'ERROR', cause });
    }
  });

  it('unavailable for a late request, because no worker made it in time: the session stays open', () => {
    submitted()
      .when(verdict({ kind: 'unavailable' }, 22))
      .then();
  });

  it('vendor session over: EXPIRED', () => {
    const { state } = submitted()
      .when(verdict({ kind: 'session-over' }))
      .then({ type: 'SessionExpired', data: { cause: 'VENDOR_SESSION_OVER' } });
    expect(state).toMatchObject({ status: 'EXPIRED' });
  });

  it('late: the session stays SUBMITTED, and the verdict still counts when it arrives', () => {
    const waiting = submitted()
      .when(verdict({ kind: 'timed-out' }))
      .then();
    expect(waiting.state.status).toBe('SUBMITTED');
    expect(waiting.when(verdict({ kind: 'confirmed', duplicateGuard: false }, 40)).decided.state.status).toBe(
      'VERIFIED',
    );
  });

  it('counts once; a second verdict, or a verdict on another attempt, changes nothing', () => {
    const confirmed = { kind: 'confirmed', duplicateGuard: false } as const;
    submitted()
      .when(verdict(confirmed))
      .decided.when(verdict({ kind: 'refused', reason: 'DECEASED' }))
      .then();
    submitted()
      .when(record('record-registration', 'another', confirmed))
      .then();
    submitted()
      .when(record('record-verdict', 'registration', { kind: 'confirmed' }))
      .then();
    submitted()
      .when(record('record-verdict', 'registration', { kind: 'sent' }))
      .then();
    given(screeningSession).when(verdict(confirmed)).then();
  });
});

describe('a person who must act at the vendor', () => {
  const needed = (seconds: number, until = 900) => verdict({ kind: 'needs-user', until: iso(until) }, seconds);
  const sent = (until: number, lookAgainAt: number) => ({
    type: 'PersonSentToVendor' as const,
    data: { attemptId: 'registration', startedAt: iso(2), until: iso(until), lookAgainAt: iso(lookAgainAt) },
  });
  const acting = () => submitted().when(needed(2)).decided;
  const over = { type: 'SessionExpired' as const, data: { cause: 'NO_ANSWER' as const } };

  it('stays SUBMITTED until the end of the round, which another round may follow', () => {
    const { state } = submitted().when(needed(2)).then(sent(900, 3));
    expect(state).toMatchObject({ status: 'SUBMITTED', review: { until: iso(900), userActs: true } });
    acting()
      .when(needed(62))
      .then({ type: 'ReviewContinued', data: { attemptId: 'registration', lookAgainAt: iso(122) } });
    acting().when(needed(62, 1_800)).then(sent(1_800, 122));
  });

  it('is verified, declined or reviewed as the vendor then decides', () => {
    expect(acting().when(verdict({ kind: 'confirmed', duplicateGuard: false }, 70)).decided.state.status).toBe(
      'VERIFIED',
    );
    const reviewed = acting().when(verdict({ kind: 'under-review', lookAgainAfter: 60 }, 70)).decided;
    expect(reviewed.state).not.toHaveProperty('review.userActs');
    expect(reviewed.state).toMatchObject({ status: 'SUBMITTED', reviewed: true });
  });

  it('that has not acted within the round ends the session as EXPIRED', () => {
    acting().when(needed(900)).then(over);
    acting()
      .when({ kind: 'look-later', now: at(900), attemptId: 'registration' })
      .then(over);
    submitted().when(needed(2, 1)).then(over);
  });

  it('has no rounds after the longest review', () => {
    const week = 2 + 7 * 86_400;
    submitted()
      .when(needed(2, 30 * 86_400))
      .then(sent(week, 3));
  });
});

describe('a person under review by people at the vendor', () => {
  const DAY = 86_400;
  const started = (lookAgainAfter = 60) => submitted().when(verdict({ kind: 'under-review', lookAgainAfter }, 2));
  const look = (seconds: number) => ({ kind: 'look-later', now: at(seconds), attemptId: 'registration' }) as const;
  const lookAt = (decided: { readonly decided: { readonly state: object } }): unknown => decided.decided.state;

  it('stays SUBMITTED, with the end of the review and the time of the next query', () => {
    const { state } = started().then({
      type: 'ReviewStarted',
      data: {
        attemptId: 'registration',
        startedAt: iso(2),
        reviewUntil: iso(2 + 7 * DAY),
        lookAgainAt: iso(62),
      },
    });
    expect(state).toMatchObject({ status: 'SUBMITTED', review: { startedAt: iso(2), until: iso(2 + 7 * DAY) } });
  });

  it('is not given up after the time limit of a call, and does not expire as an unanswered session', () => {
    started()
      .decided.when({ kind: 'give-up', now: at(30 * DAY), attemptId: 'registration' })
      .then();
    started()
      .decided.when({ kind: 'expire', now: at(30 * DAY) })
      .then();
    started()
      .decided.when(verdict({ kind: 'unavailable' }, 30))
      .then();
  });

  it.each([
    ['within a minute', 63, 0, 61],
    ['after an hour', 3_602, 0, 3_600],
    ['after days', 2 + 3 * DAY, 0, DAY / 4],
    ['when the vendor demands more time', 63, 40_000, 40_000],
    ['when the vendor names a time after the end', 63, 30 * DAY, 7 * DAY - 61],
    ['when the vendor names a senseless time', 63, -5, 61],
  ])('is looked at again with growing pauses: %s', (_when, seconds, lookAgainAfter, pause) => {
    started()
      .decided.when(verdict({ kind: 'under-review', lookAgainAfter }, seconds))
      .then({
        type: 'ReviewContinued',
        data: { attemptId: 'registration', lookAgainAt: iso(seconds + pause) },
      });
  });

  it('is looked at later when the vendor does not answer, once for each time of a query', () => {
    started().decided.when(look(61)).then();
    const later = started().decided.when(look(63));
    later.then({ type: 'ReviewContinued', data: { attemptId: 'registration', lookAgainAt: iso(124) } });
    later.decided.when(look(64)).then();
    expect(lookAt(later)).toMatchObject({ attempt: { settleAfter: iso(124) } });
  });

  it('becomes VERIFIED, BLOCKED or challenged by the verdict of the people', () => {
    const after = 2 * DAY;
    const decided = (kind: Parameters<typeof verdict>[0]) => lookAt(started().decided.when(verdict(kind, after)));
    expect(decided({ kind: 'confirmed', duplicateGuard: false })).toMatchObject({ status: 'VERIFIED' });
    expect(decided({ kind: 'refused', reason: 'IDENTITY_NOT_FOUND' })).toMatchObject({ status: 'BLOCKED' });
    expect(decided({ kind: 'step-up', otp: true, questions: [], duplicateGuard: false })).toMatchObject({
      status: 'STEP_UP_REQUIRED',
    });
  });

  it('is EXPIRED when the people have not decided in time', () => {
    const over = { type: 'SessionExpired', data: { cause: 'NOT_REVIEWED' } } as const;
    started()
      .decided.when(look(2 + 7 * DAY))
      .then(over);
    started()
      .decided.when(verdict({ kind: 'under-review', lookAgainAfter: 60 }, 2 + 7 * DAY))
      .then(over);
  });

  it('is EXPIRED when the person is erased, and a later verdict changes nothing', () => {
    const erased = started().decided.when({ kind: 'end-erased', subjectId: 'subject' });
    erased.then({ type: 'SessionExpired', data: { cause: 'PERSON_ERASED' } });
    erased.decided.when(verdict({ kind: 'confirmed', duplicateGuard: false }, DAY)).then();
  });
});

describe('a submission without a recorded verdict', () => {
  it('is EXPIRED when it never reached the vendor', () => {
    submitted()
      .when({ kind: 'record-not-executed', attemptId: 'registration' })
      .then({ type: 'SessionExpired', data: { cause: 'NOT_EXECUTED' } });
  });

  it('is an ERROR when it is old enough, and not before', () => {
    submitted()
      .when({ kind: 'give-up', now: at(81.999), attemptId: 'registration' })
      .then();
    submitted()
      .when({ kind: 'give-up', now: at(82), attemptId: 'registration' })
      .then({ type: 'SessionErrored', data: { attemptId: 'registration', cause: 'NO_VERDICT' } });
  });

  it('does not expire while the vendor may still answer', () => {
    submitted()
      .when({ kind: 'expire', now: at(1_000_000) })
      .then();
  });
});
