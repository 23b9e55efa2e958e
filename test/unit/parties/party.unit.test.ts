// Decisions of a party: registrations, the confirmation and its end, challenges, wrong answers and locks.
import { describe, expect, it } from '@jest/globals';
import { lockAt } from '../../../src/challenges/domain/answer-limit.js';
import { confirmedSince, referencesOf } from '../../../src/modules/parties/domain/party.js';
import { party } from '../../../src/modules/parties/domain/party-decider.js';
import { given } from '../../support/decider.js';
import {
  answered,
  answerKba,
  answerOtp,
  at,
  challenged,
  CHALLENGED,
  iso,
  reauthenticate,
  record,
  REFERENCE,
  register,
  resend,
  storeToken,
  WRONG,
  type GivenParty,
} from './histories.js';

const YEAR = 365 * 86_400;
const registered = (): GivenParty => given(party).when(register()).decided;

describe('a registration', () => {
  it('names its session', () => {
    given(party)
      .when(register())
      .then({
        type: 'PartyRegistered',
        data: { kind: 'agent', sessionId: 'session', bodyHash: 'hash', registeredAt: iso(0) },
      });
  });

  it('is stored once when two run at once and the second one has not seen the first', () => {
    registered().when(register('other', null)).then();
    expect(registered().when(register('other', 'session')).events).toHaveLength(1);
  });

  it('begins once under one session id', () => {
    registered().when(register('session', 'session')).then();
  });

  it('begins again after other registrations, and the party remembers the newest 20', () => {
    let party: GivenParty = registered();
    for (let number = 1; number < 30; number++)
      party = party.when(register(`s${number}`, number === 1 ? 'session' : `s${number - 1}`)).decided;
    expect(party.state.registrations).toHaveLength(20);
    expect(party.state.registrations.at(-1)?.sessionId).toBe('s29');
  });
});

describe('the confirmation', () => {
  const since = ({ state }: GivenParty, verifiedAt: string | null, seconds: number) =>
    confirmedSince(state, verifiedAt, at(seconds), YEAR);

  it('is valid for 365 days from the newest session', () => {
    expect(since(registered(), null, 1)).toBeNull();
    expect(since(registered(), iso(5), 5 + YEAR - 1)).toBe(iso(5));
    expect(since(registered(), iso(5), 5 + YEAR)).toBeNull();
  });

  it('is valid for 365 days from a re-authentication when that is later', () => {
    const again = answered(challenged(), 'a', { kind: 'confirmed' }, YEAR + 20);
    expect(since(again, iso(5), YEAR + 30)).toBe(iso(YEAR + 20));
    expect(since(again, iso(5), 2 * YEAR + 20)).toBeNull();
  });

  it('ends immediately when the caller expires it, even after a re-authentication, and returns with the next success', () => {
    const again = answered(challenged(), 'a', { kind: 'confirmed' }, 20);
    const expired = again.when({ kind: 'expire', now: at(30) }).then({
      type: 'AuthenticationExpired',
      data: { expiredAt: iso(30) },
    });
    expect(since(expired, iso(5), 31)).toBeNull();
    expect(since(expired, iso(40), 41)).toBe(iso(40));
    const after = expired.when(reauthenticate('b', 50)).decided.when(record('b', { kind: 'confirmed' }, 50)).decided;
    expect(since(after, iso(5), 51)).toBe(iso(50));
  });

  it('is not transferred from a re-authentication to a later registration', () => {
    const again = answered(challenged(), 'a', { kind: 'confirmed' }, 20);
    expect(since(again.when(register('later', 'session', 30)).decided, null, 31)).toBeNull();
  });
});

describe('the references of a party', () => {
  it('are its sessions, with the newest first', () => {
    expect(referencesOf(registered().when(register('later', 'session')).decided.state)).toEqual(['later', 'session']);
  });

  it('have the stored token first until the party registers again', () => {
    const stored = registered().when(storeToken()).decided;
    expect(referencesOf(stored.state)).toEqual([null, 'session']);
    expect(referencesOf(stored.when(register('later', 'session')).decided.state)).toEqual(['later', null, 'session']);
    expect(referencesOf(given(party).when(storeToken()).decided.state)).toEqual([null]);
  });
});

describe('a challenge', () => {
  it('is requested from the vendor first, and is open when the vendor has made it', () => {
    const asked = registered()
      .when(reauthenticate())
      .then({
        type: 'ReauthenticationRequested',
        data: { attemptId: 'auth', settleAfter: iso(32), giveUpAfter: iso(92), ...REFERENCE },
      });
    asked.when(record('auth', CHALLENGED, 11)).then({
      type: 'ReauthenticationChallenged',
      data: {
        attemptId: 'auth',
        otp: true,
        questions: [{ questionId: 7, answerCount: 5 }],
        smsSentAt: iso(11),
        ...REFERENCE,
      },
    });
  });

  it('must be open before it can be answered', () => {
    registered().when(answerOtp('a')).thenRefused('party.no_challenge');
    registered().when(answerKba('a')).thenRefused('party.no_challenge');
    registered().when(resend('a', 60)).thenRefused('party.no_challenge');
  });

  it('ends with the right answer', () => {
    const over = answered(challenged(), 'a', { kind: 'confirmed' });
    over.when(answerOtp('b')).thenRefused('party.no_challenge');
  });

  it('ends when the vendor says that it is over, and stays open when the vendor could not be reached', () => {
    answered(challenged(), 'a', { kind: 'session-over' }).when(answerOtp('b')).thenRefused('party.no_challenge');
    expect(answered(challenged(), 'a', { kind: 'unavailable' }).when(answerOtp('b')).events).toHaveLength(1);
  });

  it('takes only a code of four to eight digits, and only one position for each question', () => {
    for (const code of ['123', '123456789', 'abcd', 1234, null, ['1234']])
      expect(() => challenged().when(answerOtp('a', 20, code)).decided).toThrow('screening.otp_unusable');
    for (const positions of [[], [0], [6], [1, 2], ['1'], [1.5], '1', null, { 0: 1, length: 1 }])
      expect(() => challenged().when(answerKba('a', 20, positions)).decided).toThrow('screening.kba_unusable');
  });

  it('is answered only by the methods that it offers', () => {
    const by = (otp: boolean, kba: boolean): GivenParty =>
      registered()
        .when(reauthenticate())
        .decided.when(
          record('auth', { kind: 'step-up', otp, questions: kba ? [{ questionId: 1, answerCount: 2 }] : [] }),
        ).decided;
    by(false, true).when(answerOtp('a')).thenRefused('screening.otp_unusable', { rule: 'Codes are not offered.' });
    by(false, true).when(resend('a', 60)).thenRefused('screening.otp_unusable', { rule: 'Codes are not offered.' });
    by(true, false).when(answerKba('a')).thenRefused('screening.kba_unusable', { rule: 'Questions are not offered.' });
  });

  it('has another code sent after the interval, up to five times', () => {
    challenged().when(resend('r', 20)).thenRefused('screening.resend_too_early', { retryAfterSeconds: 20 });
    let party = challenged();
    for (let number = 1; number <= 5; number++)
      party = party
        .when(resend(`r${number}`, 10 + 30 * number))
        .decided.when(record(`r${number}`, { kind: 'sent' }, 10 + 30 * number)).decided;
    party.when(resend('r6', 1_000)).thenRefused('screening.too_many_resends');
  });

  it('is given up if the outcome of its call stays unknown', () => {
    const open = challenged()
      .when(answerOtp('a'))
      .decided.when(record('a', { kind: 'timed-out' }));
    open.then();
    open.decided.when({ kind: 'give-up', now: at(101), attemptId: 'a' }).then();
    open.decided
      .when({ kind: 'give-up', now: at(102), attemptId: 'a' })
      .then({ type: 'ReauthenticationEnded', data: { attemptId: 'a', cause: 'NO_VERDICT' } });
  });
});

describe('wrong answers', () => {
  const BUSY = { retryAfterSeconds: 1 };

  it('lock the party at the third, for the time that the limit sets', () => {
    const twice = answered(answered(challenged(), 'a', WRONG), 'b', WRONG);
    twice
      .when(answerOtp('c', 30))
      .decided.when(record('c', WRONG, 30))
      .then(
        { type: 'ReauthenticationRejected', data: { attemptId: 'c', rejectedAt: iso(30), attemptsRemaining: 0 } },
        { type: 'PartyLocked', data: { attemptId: 'c', lockedUntil: iso(30 + 86_400) } },
      );
  });

  it('lock all answers and requests for a challenge until the lock ends', () => {
    const locked = answered(answered(answered(challenged(), 'a', WRONG), 'b', WRONG), 'c', WRONG);
    const until = iso(20 + 86_400);
    for (const command of [
      answerOtp('d', 86_419),
      answerKba('d', 86_419),
      resend('d', 86_419),
      reauthenticate('d', 86_419),
    ])
      locked.when(command).thenRefused('party.locked', { blockedUntil: until });
    expect(lockAt(locked.state, at(86_420))).toBeNull();
    expect(locked.when(reauthenticate('d', 86_420)).events).toHaveLength(1);
  });

  it('are counted over all challenges, so that another challenge restores no attempts', () => {
    const twice = answered(answered(challenged(), 'a', WRONG), 'b', WRONG);
    const anew = twice.when(reauthenticate('again', 40)).decided.when(record('again', CHALLENGED, 40)).decided;
    expect(answered(anew, 'c', WRONG, 50).state.lockedUntil).toBe(iso(50 + 86_400));
  });

  it('no longer count after a success, or when they are older than the duration of a lock', () => {
    const twice = answered(answered(challenged(), 'a', WRONG), 'b', WRONG);
    const late = 20 + 86_400;
    expect(answered(twice, 'c', WRONG, late).state.lockedUntil).toBeNull();
    const right = answered(twice, 'c', { kind: 'confirmed' });
    const anew = right.when(reauthenticate('again', 30)).decided.when(record('again', CHALLENGED, 30)).decided;
    expect(answered(anew, 'd', WRONG, 40).state.lockedUntil).toBeNull();
  });

  it('are judged one at a time, and a second answer in the meantime is refused', () => {
    const judging = challenged().when(answerOtp('a')).decided;
    judging.when(answerOtp('b')).thenRefused('screening.attempt_in_progress', BUSY);
    judging.when(answerKba('b')).thenRefused('screening.attempt_in_progress', BUSY);
    judging.when(reauthenticate('b')).thenRefused('screening.attempt_in_progress', BUSY);
    judging.when(record('b', WRONG)).then();
  });

  it('are judged once each, even if they are sent again', () => {
    challenged().when(answerOtp('a')).decided.when(answerOtp('a')).then();
    const judged = answered(challenged(), 'a', WRONG);
    judged.when(answerOtp('a')).then();
    judged.when(record('a', WRONG)).then();
    judged.when(reauthenticate('auth')).then();
  });

  it('lock the party earlier when the vendor says so, until the time that the vendor names', () => {
    expect(answered(challenged(), 'a', { kind: 'wrong', attemptsRemaining: 0 }).state.lockedUntil).toBe(
      iso(20 + 86_400),
    );
    expect(answered(challenged(), 'a', { kind: 'locked', unblockAt: iso(100) }).state.lockedUntil).toBe(iso(100));
    const refused = registered().when(reauthenticate()).decided;
    expect(refused.when(record('auth', { kind: 'locked', unblockAt: iso(99) })).decided.state.lockedUntil).toBe(
      iso(99),
    );
    expect(refused.when(record('auth', { kind: 'locked', unblockAt: null })).decided.state.lockedUntil).toBe(
      iso(20 + 86_400),
    );
  });

  it("lock the party at the third by the service's own limit, even if the vendor's lock has another time", () => {
    const twice = answered(answered(challenged(), 'a', WRONG), 'b', WRONG);
    expect(answered(twice, 'c', { kind: 'locked', unblockAt: iso(999_999) }, 30).state.lockedUntil).toBe(
      iso(30 + 86_400),
    );
  });
});

describe('a stored token', () => {
  const stored = given(party).when(storeToken('first')).decided;
  const erasure = (subjectId: string) => ({ kind: 'record-token-erasure', subjectId }) as const;

  it('is unknown once its erasure is recorded, and the erasure is recorded once', () => {
    const erased = stored.when(erasure('first'));
    erased.then({ type: 'VendorTokenErased', data: { subjectId: 'first' } });
    expect([stored.state.token?.subjectId, erased.decided.state.token]).toEqual(['first', null]);
    expect(referencesOf(erased.decided.state)).toEqual([]);
    erased.decided.when(erasure('first')).then();
    stored.when(erasure('other')).then();
  });

  it('under another subject records the erasure of the earlier token, unless an event has already recorded it', () => {
    expect(stored.when(storeToken('second')).events).toMatchObject([
      { type: 'VendorTokenErased', data: { subjectId: 'first' } },
      { type: 'VendorTokenStored', data: { subjectId: 'second' } },
    ]);
    expect(stored.when(erasure('first')).decided.when(storeToken('second')).events).toHaveLength(1);
    expect(stored.when(storeToken('first')).events).toHaveLength(1);
  });
});
