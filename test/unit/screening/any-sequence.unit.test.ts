// Properties of every sequence of commands and events, whatever the vendor answers and in whatever order.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DomainError } from '../../../src/kernel/domain-error.js';
import {
  attemptOf,
  isOpen,
  screeningSession,
  type SessionCommand,
} from '../../../src/modules/screening/domain/screening-session.js';
import type { SessionEvent, SessionState } from '../../../src/modules/screening/domain/session.js';
import { at, attempt, POLICY, QUESTIONS, RIGHT_FORM, SUBMIT } from './sessions.js';

const TERMINAL = new Set(['VERIFIED', 'BLOCKED', 'EXPIRED', 'ERROR']);

/** The next command. `current` addresses the open vendor call, if there is one. */
type Step = (state: SessionState, now: number, attemptId: string) => SessionCommand;

const endings = fc.constantFrom(
  { kind: 'session-over' } as const,
  { kind: 'locked', unblockAt: null } as const,
  { kind: 'locked', unblockAt: '2026-03-04T00:00:00.000Z' } as const,
  { kind: 'refused', reason: 'DECEASED' } as const,
);
const noVerdicts = fc.constantFrom(
  { kind: 'unavailable' } as const,
  { kind: 'timed-out' } as const,
  { kind: 'unintelligible' } as const,
);
const registrations = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('step-up' as const),
      otp: fc.boolean(),
      questions: fc.constantFrom([], QUESTIONS),
      duplicateGuard: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('confirmed' as const), duplicateGuard: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('report-expired' as const, 'product-not-enabled' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'input-refused', input: 'ssn' } as const) },
  { weight: 1, arbitrary: endings },
  { weight: 1, arbitrary: noVerdicts },
);
const answers = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('wrong' as const),
      attemptsRemaining: fc.option(fc.integer({ min: -2, max: 9 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'confirmed' } as const) },
  { weight: 1, arbitrary: endings },
  { weight: 2, arbitrary: noVerdicts },
);
const resends = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'sent' } as const) },
  { weight: 1, arbitrary: endings },
  { weight: 2, arbitrary: noVerdicts },
);

const standings = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ lockedUntil: fc.constant(null), attemptsRemaining: fc.integer({ min: 0, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ lockedUntil: '2026-03-04T00:00:00.000Z', attemptsRemaining: 0 }) },
);

const aim = fc.boolean().map(
  (stray) =>
    (state: SessionState): string =>
      stray ? 'stray' : (attemptOf(state)?.attemptId ?? 'stray'),
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((_state, now, attemptId) => ({ ...SUBMIT, ...attempt(attemptId, now) }) as SessionCommand),
  fc
    .oneof(fc.constant('123456'), fc.anything())
    .map((code): Step => (_state, now, attemptId) => ({ kind: 'answer-otp', ...attempt(attemptId, now), code })),
  fc.oneof(fc.constant(RIGHT_FORM), fc.anything()).map((given): Step => (_state, now, attemptId) => ({
    kind: 'answer-kba',
    ...attempt(attemptId, now),
    answers: given,
  })),
  fc.constant<Step>((_state, now, attemptId) => ({
    kind: 'resend-otp',
    ...attempt(attemptId, now),
    intervalSeconds: 30,
  })),
  fc.tuple(aim, registrations).map(([to, verdict]): Step => (state, now) => ({
    kind: 'record-registration',
    now: at(now),
    attemptId: to(state),
    verdict,
    policy: POLICY,
  })),
  fc.tuple(aim, answers, standings).map(([to, verdict, standing]): Step => (state, now) => ({
    kind: 'record-verdict',
    now: at(now),
    attemptId: to(state),
    verdict,
    policy: POLICY,
    standing,
  })),
  fc.tuple(aim, resends).map(([to, verdict]): Step => (state, now) => ({
    kind: 'record-verdict',
    now: at(now),
    attemptId: to(state),
    verdict,
    policy: POLICY,
    standing: null,
  })),
  aim.map((to): Step => (state) => ({ kind: 'record-not-executed', attemptId: to(state) })),
  aim.map((to): Step => (state, now) => ({ kind: 'give-up', now: at(now), attemptId: to(state) })),
  fc.constant<Step>((_state, now) => ({ kind: 'expire', now: at(now) })),
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>(
      () => ({ kind: 'block', attemptId: 'elsewhere', lockedUntil: '2026-03-04T00:00:00.000Z' }),
      () => ({ kind: 'supersede' }),
    ),
  },
);

/** Time mostly advances by seconds, and sometimes by hours. */
const happenings = fc.array(
  fc.tuple(
    steps,
    fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 45 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 4_000 }) },
    ),
  ),
  { minLength: 4, maxLength: 40 },
);

interface Moment {
  readonly before: SessionState;
  readonly command: SessionCommand;
  readonly events: readonly SessionEvent[];
  readonly after: SessionState;
  readonly refused: boolean;
}

function play(happened: readonly (readonly [Step, number])[]): Moment[] {
  let state: SessionState = screeningSession.initial;
  let now = 0;
  const moments: Moment[] = [];
  // Every session begins with a submission. The arbitrary part follows.
  const beginning: readonly (readonly [Step, number])[] = [
    [(_state, time, attemptId) => ({ ...SUBMIT, ...attempt(attemptId, time) }) as SessionCommand, 0],
  ];
  for (const [index, [step, seconds]] of [...beginning, ...happened].entries()) {
    now += seconds;
    const before = state;
    const command = step(before, now, `attempt-${index}`);
    let events: readonly SessionEvent[] = [];
    let refused = false;
    try {
      events = screeningSession.decide(command, before);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      refused = true;
    }
    for (const event of events) state = screeningSession.evolve(state, event);
    moments.push({ before, command, events, after: state, refused });
  }
  return moments;
}

const always = (holds: (moments: Moment[]) => void): void =>
  fc.assert(
    fc.property(happenings, (happened) => holds(play(happened))),
    { numRuns: 600 },
  );

describe('any sequence of commands', () => {
  it('leads to events or a DomainError, never to another exception', () => {
    const seen = new Set<string>();
    always((moments) => {
      for (const { after, refused } of moments) seen.add(refused ? 'refused' : after.status);
    });
    // The sequences must reach every state. Otherwise the other properties would prove little.
    expect([...seen].sort()).toEqual([
      'BLOCKED',
      'ERROR',
      'EXPIRED',
      'KBA_PENDING',
      'OTP_PENDING',
      'STEP_UP_REQUIRED',
      'SUBMITTED',
      'VERIFIED',
      'refused',
    ]);
  });

  it('leaves a session unchanged after its end', () => {
    always((moments) => {
      for (const { before, after, events } of moments) {
        if (!TERMINAL.has(before.status)) continue;
        expect(events).toEqual([]);
        expect(after).toEqual(before);
      }
    });
  });

  it('never restores attempts, and ends the session with the last attempt', () => {
    always((moments) => {
      for (const { before, after } of moments) {
        if (isOpen(before) && isOpen(after))
          expect(after.stepUp.attemptsRemaining).toBeLessThanOrEqual(before.stepUp.attemptsRemaining);
        if (isOpen(after)) expect(after.stepUp.attemptsRemaining).toBeGreaterThan(0);
      }
    });
  });

  it('never returns from questions to codes, unless the questions did not reach the vendor', () => {
    always((moments) => {
      for (const { before, after, events } of moments) {
        if (isOpen(before) && isOpen(after) && !before.stepUp.otp && after.stepUp.otp)
          expect(events.map(({ type }) => type)).toEqual(['AttemptAbandoned']);
        if (isOpen(after) && after.status === 'KBA_PENDING') expect(after.stepUp.otp).toBe(false);
      }
    });
  });

  it('has at most one answer at the vendor, and records a verdict only for that answer', () => {
    always((moments) => {
      for (const { before, events } of moments) {
        const open = attemptOf(before);
        for (const event of events) {
          if (
            event.type === 'OtpAnswerReceived' ||
            event.type === 'KbaAnswersReceived' ||
            event.type === 'OtpResendRequested'
          )
            expect(open).toBeNull();
          else if (
            'attemptId' in event.data &&
            event.data.attemptId !== 'elsewhere' &&
            event.type !== 'VerificationRequested'
          )
            expect(event.data.attemptId).toBe(open?.attemptId);
        }
      }
    });
  });

  it('sends at most five further SMS codes', () => {
    always((moments) => {
      expect(
        moments.flatMap(({ events }) => events).filter(({ type }) => type === 'OtpResent').length,
      ).toBeLessThanOrEqual(5);
    });
  });

  it('gives the same events again, because a decision changes neither the command nor the state', () => {
    always((moments) => {
      for (const { before, command, events, refused } of moments)
        if (!refused) expect(screeningSession.decide(command, before)).toEqual(events);
    });
  });
});

describe('evolve', () => {
  it('accepts every known event in every state without an error', () => {
    fc.assert(
      fc.property(happenings, happenings, (one, other) => {
        const states = play(one).map(({ after }) => after);
        const events = play(other).flatMap(({ events: decided }) => decided);
        for (const state of [screeningSession.initial, ...states]) {
          for (const event of events) expect(screeningSession.evolve(state, event)).toHaveProperty('status');
        }
      }),
      { numRuns: 100 },
    );
  });

  it('ignores an unknown event', () => {
    always((moments) => {
      const later = { type: 'SomethingNew', data: {} } as unknown as SessionEvent;
      for (const { after } of moments) expect(screeningSession.evolve(after, later)).toBe(after);
    });
  });
});
