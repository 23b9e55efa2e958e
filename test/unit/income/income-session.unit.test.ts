// The decisions of an income session (docs/contract/platform.md#income-sessions).
import { describe, expect, it } from '@jest/globals';
import {
  dueAt,
  type IncomeCommand,
  incomeSession,
  isOverdue,
} from '../../../src/modules/income/domain/income-session.js';
import { given } from '../../support/decider.js';
import {
  at,
  AWAITED,
  created,
  ERASED,
  EXPIRED,
  FAILED,
  failure,
  inProgress,
  iso,
  noOutcome,
  onBanking,
  open,
  OPENED,
  OVER,
  RELEASED,
  report,
  REQUESTED,
  SESSION_FAILED,
  STARTED,
  started,
  TTL_SECONDS,
  USER_REQUESTED,
  userAction,
} from './histories.js';

describe('opening an income session', () => {
  it('requests the first route, and the session is CREATED until the vendor has begun', () => {
    const { state } = given(incomeSession).when(open()).then(OPENED(), REQUESTED('PAYROLL', 'first'));
    expect(state).toMatchObject({
      status: 'CREATED',
      route: 'PAYROLL',
      attempt: { attemptId: 'first', started: false },
    });
    expect(inProgress().state).toMatchObject({
      status: 'IN_PROGRESS',
      route: 'PAYROLL',
      attempt: { attemptId: 'first', started: true, looks: 0 },
    });
  });

  it('keeps the order of the routes, and the screening to which the session belongs', () => {
    const { state } = given(incomeSession)
      .when(open(['BANKING'], 'screening'))
      .then(OPENED(['BANKING'], 'screening'), REQUESTED('BANKING', 'first'));
    expect(state).toMatchObject({ route: 'BANKING', screeningSessionId: 'screening' });
  });

  it('changes nothing when the session is already open', () => {
    created().when(open()).then();
    inProgress()
      .and(...OVER.COMPLETED)
      .when(open())
      .then();
  });

  it("records the vendor's beginning once, even if the command is repeated", () => {
    created()
      .when(started('first', 3))
      .then(STARTED('PAYROLL', 'first', 3));
    inProgress().when(started('first', 4)).then();
    created().when(started('other', 3)).then();
  });
});

describe('an unknown outcome of a route', () => {
  it('is requested with growing pauses of at most half a minute', () => {
    let session = inProgress();
    let seconds = 1;
    const delays: number[] = [];
    for (let looks = 0; looks < 8; looks++) {
      const { state } = (session = session.when(noOutcome('first', looks, seconds)).decided);
      const due = new Date(dueAt(state) as string).getTime() / 1_000 - at(0).getTime() / 1_000;
      delays.push(due - seconds);
      seconds = due;
    }
    expect(delays).toEqual([2, 4, 8, 16, 30, 30, 30, 30]);
  });

  it('is requested later when the vendor demands a longer pause, and at the latest at the end of the session', () => {
    const asked = (pauseMs: number) => inProgress().when({ ...noOutcome('first', 0, 1), pauseMs } as IncomeCommand);
    expect(dueAt(asked(60_000).then(AWAITED('PAYROLL', 'first', 61)).state)).toBe(iso(61));
    expect(dueAt(asked(500).then(AWAITED('PAYROLL', 'first', 3)).state)).toBe(iso(3));
    expect(dueAt(asked(86_400_000).then(AWAITED('PAYROLL', 'first', 86_401)).state)).toBe(iso(TTL_SECONDS));
  });

  it('records the cause, and does not end the session before its time limit', () => {
    for (const cause of ['IN_PROGRESS', 'VENDOR_UNAVAILABLE', 'VENDOR_TIMED_OUT', 'VENDOR_UNINTELLIGIBLE'] as const) {
      const { state } = inProgress()
        .when(noOutcome('first', 0, TTL_SECONDS - 0.001, cause))
        .then(AWAITED('PAYROLL', 'first', TTL_SECONDS + 1.999, cause));
      expect([state.status, dueAt(state)]).toEqual(['IN_PROGRESS', iso(TTL_SECONDS)]);
      expect(
        created()
          .when(noOutcome('first', 0, 2, cause))
          .then(AWAITED('PAYROLL', 'first', 4, cause)).state.status,
      ).toBe('CREATED');
    }
  });

  it('is recorded once when two processes asked the vendor at the same time', () => {
    inProgress()
      .and(AWAITED('PAYROLL', 'first', 3))
      .when(noOutcome('first', 0, 1))
      .then();
    inProgress()
      .when(noOutcome('other', 0, 1))
      .then();
  });

  it('ends the session as expired when its time limit has passed', () => {
    expect(
      inProgress()
        .when(noOutcome('first', 0, TTL_SECONDS))
        .then(EXPIRED()).state,
    ).toMatchObject({ status: 'EXPIRED', route: 'PAYROLL' });
    created()
      .when({ kind: 'expire', now: at(TTL_SECONDS) })
      .then(EXPIRED());
    created()
      .when({ kind: 'expire', now: at(TTL_SECONDS - 0.001) })
      .then();
  });
});

describe('a round of the person at the vendor', () => {
  const acting = () => inProgress().and(USER_REQUESTED('PAYROLL', 'first', 3));

  it('leaves the vendor its whole time after the round, and is looked at until its end', () => {
    const { state } = inProgress()
      .when(userAction('first', 0, 1))
      .then(USER_REQUESTED('PAYROLL', 'first', 3));
    expect(state).toMatchObject({ status: 'IN_PROGRESS', attempt: { userActsUntil: iso(900), looks: 1 } });
    expect([dueAt(state), isOverdue(state, at(900 + TTL_SECONDS - 1))]).toEqual([iso(3), false]);
    acting()
      .and(AWAITED('PAYROLL', 'first', 899, 'USER_ACTING'))
      .when(userAction('first', 2, 899))
      .then(AWAITED('PAYROLL', 'first', 900, 'USER_ACTING'));
  });

  it('is recorded once, and looked at with pauses of at most five minutes', () => {
    acting()
      .when(userAction('first', 0, 1))
      .then();
    let session = acting();
    let seconds = 3;
    const delays: number[] = [];
    for (let looks = 1; looks < 10; looks++) {
      const { state } = (session = session.when(userAction('first', looks, seconds, 900)).decided);
      const due = (new Date(dueAt(state) as string).getTime() - at(0).getTime()) / 1_000;
      delays.push(due - seconds);
      seconds = due;
    }
    expect(delays.slice(0, 7)).toEqual([4, 8, 16, 32, 64, 128, 256]);
  });

  it('is followed by another round, or by the work of the vendor, which ends the round', () => {
    const next = acting()
      .when(userAction('first', 1, 60, 1_800))
      .then(USER_REQUESTED('PAYROLL', 'first', 64, 1_800));
    expect(next.state).toMatchObject({ attempt: { userActsUntil: iso(1_800) } });
    const down = acting().and(AWAITED('PAYROLL', 'first', 9, 'VENDOR_UNAVAILABLE'));
    expect(down.state).toMatchObject({ attempt: { userActsUntil: iso(900) } });
    const working = acting().and(AWAITED('PAYROLL', 'first', 9));
    expect(working.state).not.toHaveProperty('attempt.userActsUntil');
    working.when(report('first', 10)).then(RELEASED('PAYROLL', 'first', 10));
    acting()
      .when(failure('first', 'NO_MATCH', TTL_SECONDS + 60))
      .then(FAILED('PAYROLL', 'first'), REQUESTED('BANKING', 'second', TTL_SECONDS + 60));
  });

  it('that is over ends the session as expired, and rounds end at the latest a day after the first end of the session', () => {
    acting()
      .when(userAction('first', 1, 900))
      .then(EXPIRED());
    const last = TTL_SECONDS + 86_400;
    inProgress()
      .when(userAction('first', 0, 1, 30 * 86_400))
      .then(USER_REQUESTED('PAYROLL', 'first', 3, last));
    const long = inProgress().and(USER_REQUESTED('PAYROLL', 'first', 3, last));
    long.when(userAction('first', 1, 7_200, 60 * 86_400)).then(AWAITED('PAYROLL', 'first', 7_204, 'USER_ACTING'));
    long.when(userAction('first', 1, last, 60 * 86_400)).then(EXPIRED());
  });
});

describe('the outcome of a route', () => {
  it('completes the session on its route when the outcome is a report', () => {
    expect(
      inProgress()
        .when(report('first', 9))
        .then(RELEASED('PAYROLL', 'first', 9)).state,
    ).toMatchObject({ status: 'COMPLETED', route: 'PAYROLL', generatedAt: iso(9) });
    expect(
      onBanking()
        .when(report('second', 9))
        .then(RELEASED('BANKING', 'second', 9)).state,
    ).toMatchObject({ status: 'COMPLETED', route: 'BANKING' });
  });

  it("still counts after the session's time limit when the outcome is a report", () => {
    inProgress()
      .when(report('first', TTL_SECONDS + 99))
      .then(RELEASED('PAYROLL', 'first', TTL_SECONDS + 99));
  });

  it.each(['NO_MATCH', 'VENDOR_ERROR'] as const)('%s requests the next route with a new attempt', (reason) => {
    const { state } = inProgress()
      .when(failure('first', reason, 5))
      .then(FAILED('PAYROLL', 'first', reason), REQUESTED('BANKING', 'second', 5));
    expect(state).toMatchObject({
      status: 'IN_PROGRESS',
      route: 'BANKING',
      attempt: { attemptId: 'second', started: false, looks: 0 },
    });
  });

  it.each(['NO_MATCH', 'VENDOR_ERROR'] as const)(
    '%s on the last route fails the session with this reason',
    (reason) => {
      const { state } = onBanking()
        .when(failure('second', reason, 9))
        .then(FAILED('BANKING', 'second', reason), SESSION_FAILED('BANKING', reason));
      expect(state).toMatchObject({ status: 'FAILED', route: 'BANKING', reasonCode: reason });
      given(incomeSession, OPENED(['PAYROLL']), REQUESTED('PAYROLL', 'first'), STARTED('PAYROLL', 'first'))
        .when(failure('first', reason, 9))
        .then(FAILED('PAYROLL', 'first', reason), SESSION_FAILED('PAYROLL', reason));
    },
  );

  it("requests no further route after the session's time limit when the outcome is a failure", () => {
    inProgress()
      .when(failure('first', 'NO_MATCH', TTL_SECONDS))
      .then(FAILED('PAYROLL', 'first'), EXPIRED());
  });

  it('changes nothing when its route is not the current one', () => {
    onBanking().when(report('first', 9)).then();
    onBanking()
      .when(failure('first', 'NO_MATCH', 9))
      .then();
  });
});

describe('an income session that has ended', () => {
  it.each(Object.entries(OVER))('%s is changed by no command', (status, events) => {
    const over = inProgress().and(...events);
    for (const command of [
      report('first', 9),
      failure('first', 'NO_MATCH', 9),
      started('first'),
      noOutcome('first', 0, 9),
      { kind: 'expire', now: at(9_999) } as const,
      { kind: 'end-erased' } as const,
    ])
      over.when(command).then();
    expect(over.state.status).toBe(status);
    expect([dueAt(over.state), isOverdue(over.state, at(9_999))]).toEqual([null, false]);
  });
});

describe('after the erasure of the person', () => {
  it('an open session ends', () => {
    for (const session of [created(), inProgress(), onBanking()])
      expect(session.when({ kind: 'end-erased' }).then(EXPIRED('PERSON_ERASED')).state.status).toBe('EXPIRED');
  });

  it('an open session records the erasure once, and ends', () => {
    for (const session of [created(), inProgress(), onBanking()]) {
      const erased = session.when({ kind: 'record-erasure' }).then(ERASED, EXPIRED('PERSON_ERASED'));
      expect(erased.state).toMatchObject({ status: 'EXPIRED', erased: true });
      erased.when({ kind: 'record-erasure' }).then();
    }
  });

  it.each(Object.entries(OVER))(
    'a session that is %s records the erasure once, and does not change otherwise',
    (_status, events) => {
      const over = inProgress().and(...events);
      const erased = over.when({ kind: 'record-erasure' }).then(ERASED);
      expect(over.state).toMatchObject({ erased: false });
      expect(erased.state).toEqual({ ...over.state, erased: true });
      for (const command of [
        { kind: 'record-erasure' } as const,
        report('first', 9),
        failure('first', 'NO_MATCH', 9),
        started('first'),
      ])
        erased.when(command).then();
    },
  );

  it('a session that the recovery job had ended also records the erasure', () => {
    inProgress().and(EXPIRED('PERSON_ERASED')).when({ kind: 'record-erasure' }).then(ERASED);
  });

  it('a session that does not exist records nothing', () => {
    given(incomeSession).when({ kind: 'record-erasure' }).then();
    expect(given(incomeSession, ERASED).state).toEqual({ status: 'NONE' });
  });
});

describe('the due time of an income session', () => {
  it('is the time of the next call or question, but at the latest the end of the session', () => {
    expect(dueAt(created().state)).toBe(iso(22));
    expect(dueAt(inProgress().state)).toBe(iso(1));
    expect(dueAt(onBanking().state)).toBe(iso(7));
    expect(dueAt(inProgress().and(AWAITED('PAYROLL', 'first', TTL_SECONDS + 5)).state)).toBe(iso(TTL_SECONDS));
    expect(dueAt(given(incomeSession, OPENED()).state)).toBe(iso(TTL_SECONDS));
    expect(dueAt(incomeSession.initial)).toBeNull();
  });
});
