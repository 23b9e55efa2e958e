import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DomainError } from '../../../src/kernel/domain-error.js';
import { derivedId } from '../../../src/kernel/ids.js';
import {
  isExpired,
  nextAttemptId,
  report,
  secondsToNextPull,
  type ReleasedReport,
  type ReportCommand,
  type ReportEvent,
  type ReportState,
} from '../../../src/modules/reports/domain/report.js';
import { given } from '../../support/decider.js';
import { at, FIRST, iso, release, request, requested, SECOND, SESSION } from './histories.js';

const released = (attemptId = FIRST): ReportEvent => ({
  type: 'ReportReleased',
  data: { reportId: 'report', attemptId, generatedAt: iso(5), expiresAt: iso(5 + 2_592_000), scored: true },
});
const frozen: ReportEvent = {
  type: 'ReportPullRefused',
  data: { attemptId: FIRST, reason: 'FILE_FROZEN', upstreamCode: 9132, refusedAt: iso(6) },
};
const failed: ReportEvent = { type: 'ReportPullFailed', data: { attemptId: FIRST, cause: 'VENDOR_UNAVAILABLE' } };
const NO_VERDICTS = ['unavailable', 'timed-out', 'unintelligible'] as const;
const noVerdict = (reason: (typeof NO_VERDICTS)[number], seconds: number, attemptId = FIRST): ReportCommand => ({
  kind: 'no-verdict',
  now: at(seconds),
  attemptId,
  reason,
});

describe('the report of a session', () => {
  it('is requested before the bureau is asked, and is readable for 30 days from its release', () => {
    given(report).when(request()).then(requested()).when(release()).then(released());
  });

  it('is requested once, even if several callers need it', () => {
    given(report, requested()).when(request()).then();
    given(report, requested(), released()).when(request(SECOND)).then();
  });

  it.each([
    ['refused', frozen],
    ['failed', failed],
  ])('may be requested again after a pull that was %s, as the same report under another attempt', (_, end) => {
    given(report, requested(), end)
      .when({ ...request(SECOND), reportId: 'another', subjectId: 'other' } as ReportCommand)
      .then(requested(SECOND));
  });

  it('is not requested under an attempt that has ended or is out of order', () => {
    given(report, requested(), failed).when(request(FIRST)).then();
    given(report, requested(), failed, requested(SECOND), {
      ...failed,
      data: { ...failed.data, attemptId: SECOND },
    } as ReportEvent)
      .when(request(FIRST))
      .then();
    given(report).when(request(SECOND)).then();
  });

  describe('when its payment moves to a newer session', () => {
    const carry: ReportCommand = { kind: 'carry-over', transactionId: 'txn' };
    const carried: ReportEvent = { type: 'ReportPaymentCarriedOver', data: { transactionId: 'txn' } };

    it.each([
      ['before the first pull', [], FIRST],
      ['after a pull that was refused', [requested(), frozen], SECOND],
      ['after a pull that failed', [requested(), failed], SECOND],
    ])('is no longer pulled for that payment %s', (_when, before, next) => {
      const left = given(report, ...before)
        .when(carry)
        .then(carried);
      left.when({ ...request(next), paidBy: 'txn' } as ReportCommand).thenRefused('report.consumer_has_not_paid');
      left.when(request(next)).then(requested(next));
      left.when(carry).then();
    });

    it('keeps the payment while a pull is open, and after the release', () => {
      given(report, requested()).when(carry).then();
      given(report, requested()).when(release()).decided.when(carry).then();
    });
  });

  describe('when its payment is refunded', () => {
    const end = (more: object = {}): ReportCommand => ({
      kind: 'end-pulls',
      transactionId: 'txn',
      reasonCode: 'other',
      evenIfReleased: false,
      ...more,
    });
    const ended = (more: object = {}): ReportEvent => ({
      type: 'ReportPullsEnded',
      data: { transactionId: 'txn', reasonCode: 'other', ...more },
    });
    const pullFor = (paidBy: string | null, attemptId = FIRST): ReportCommand =>
      ({ ...request(attemptId), paidBy }) as ReportCommand;

    it.each([
      ['before the first pull', [], FIRST],
      ['after a pull that was refused', [requested(), frozen], SECOND],
      ['after a pull that failed', [requested(), failed], SECOND],
    ])('is no longer pulled for that payment %s', (_when, before, next) => {
      const withheld = given(report, ...before)
        .when(end())
        .then(ended());
      withheld.when(pullFor('txn', next)).thenRefused('report.consumer_has_not_paid');
      withheld.when(end({ reasonCode: 'duplicate' })).then();
      withheld.when(pullFor('another', next)).then(requested(next));
      withheld.when(pullFor(null, next)).then(requested(next));
    });

    it('keeps the payment while a pull is open, even if an operator requests the refund', () => {
      for (const evenIfReleased of [false, true])
        given(report, requested()).when(end({ evenIfReleased })).thenRefused('payment.report_under_way');
    });

    it('keeps the payment after the release, unless an operator requests the refund', () => {
      const out = given(report, requested(), released());
      out.when(end()).thenRefused('payment.report_released');
      const kept = out.when(end({ evenIfReleased: true })).then(ended({ released: true }));
      expect(kept.state.status).toBe('RELEASED');
    });

    it('is never both pulled and refunded, whatever the sequence of commands', () => {
      const commands = fc.oneof(
        fc
          .constantFrom('a', 'b', null)
          .chain((paidBy) => fc.constantFrom(FIRST, SECOND).map((attemptId) => pullFor(paidBy, attemptId))),
        fc.record({ transactionId: fc.constantFrom('a', 'b'), evenIfReleased: fc.boolean() }).map(end),
        fc.constantFrom(FIRST, SECOND).map((attemptId) => release(attemptId)),
        fc.constantFrom(FIRST, SECOND).map((attemptId): ReportCommand => ({
          kind: 'refuse',
          now: at(6),
          attemptId,
          reason: 'FILE_FROZEN',
          upstreamCode: null,
        })),
      );
      fc.assert(
        fc.property(fc.array(commands, { maxLength: 20 }), (sequence) => {
          let state: ReportState = report.initial;
          const withheld = new Set<string | null>();
          for (const command of sequence) {
            let events: readonly ReportEvent[] = [];
            try {
              events = report.decide(command, state);
            } catch (error) {
              expect(error).toBeInstanceOf(DomainError);
            }
            for (const event of events) {
              if (event.type === 'ReportRequested' && command.kind === 'request')
                expect(withheld.has(command.paidBy)).toBe(false);
              if (event.type === 'ReportPullsEnded') {
                expect(state.status).not.toBe('REQUESTED');
                withheld.add(event.data.transactionId);
              }
              state = report.evolve(state, event);
            }
          }
        }),
      );
    });
  });

  it('records the reason why it was not released', () => {
    given(report, requested())
      .when({ kind: 'refuse', now: at(6), attemptId: FIRST, reason: 'FILE_FROZEN', upstreamCode: 9132 })
      .then(frozen);
    given(report, requested()).when(noVerdict('unavailable', 21)).then(failed);
  });

  it('stays open when a call brings no verdict, because an earlier call may still bring one', () => {
    for (const reason of NO_VERDICTS) given(report, requested()).when(noVerdict(reason, 22)).then();
  });

  it('records once that an answer was unintelligible, and stays open', () => {
    const awaited: ReportEvent = {
      type: 'ReportPullAwaited',
      data: { attemptId: FIRST, cause: 'VENDOR_UNINTELLIGIBLE' },
    };
    given(report, requested()).when(noVerdict('timed-out', 21)).then();
    given(report, requested())
      .when(noVerdict('unintelligible', 21))
      .then(awaited)
      .when(noVerdict('unintelligible', 21))
      .then()
      .when(release())
      .then(released());
    expect(given(report, requested(), awaited, failed, requested(SECOND)).state).toMatchObject({
      status: 'REQUESTED',
      attempt: expect.not.objectContaining({ unintelligible: true }),
    });
  });

  it('stays open for a day while the bureau is at work, and is asked again with growing pauses', () => {
    const day = 86_400;
    const work = (seconds: number, lookAgainAfter = 60): ReportCommand => ({
      kind: 'await',
      now: at(seconds),
      attemptId: FIRST,
      lookAgainAfter,
    });
    const pending = (lookAgainAt: number): ReportEvent => ({
      type: 'ReportPullAwaited',
      data: {
        attemptId: FIRST,
        cause: 'PENDING',
        pending: { since: iso(1), lookAgainAt: iso(lookAgainAt), giveUpAfter: iso(1 + day) },
      },
    });
    const waiting = given(report, requested()).when(work(1)).then(pending(61));
    for (const reason of NO_VERDICTS) waiting.when(noVerdict(reason, 7_201)).then(pending(14_401));
    waiting.when(work(61)).then(pending(121)).when(release()).then(released());
    const lost: ReportEvent = { type: 'ReportPullFailed', data: { attemptId: FIRST, cause: 'NO_VERDICT' } };
    waiting.when(work(1 + day)).then(lost);
  });

  it.each(NO_VERDICTS)('is given up without a verdict only when its time has passed: %s', (reason) => {
    given(report, requested()).when(noVerdict(reason, 81)).then();
    given(report, requested())
      .when(noVerdict(reason, 82))
      .then({ type: 'ReportPullFailed', data: { attemptId: FIRST, cause: 'NO_VERDICT' } });
  });

  it('keeps the key after an attempt without credit, because an earlier request may have reached the bureau', () => {
    const outOfCredit: ReportEvent = {
      type: 'ReportPullFailed',
      data: { attemptId: FIRST, cause: 'CREDIT_EXHAUSTED' },
    };
    given(report, requested())
      .when({ kind: 'fail', now: at(5), attemptId: FIRST, cause: 'CREDIT_EXHAUSTED' })
      .then(outOfCredit);
    const again = requested(SECOND);
    given(report, requested(), outOfCredit)
      .when(request(SECOND))
      .then({ ...again, data: { ...again.data, inquiryId: FIRST } } as ReportEvent);
  });

  it.each(['VENDOR_SESSION_OVER', 'PERSON_ERASED'] as const)(
    'keeps the open key after %s without a request',
    (cause) => {
      const noVerdictYet: ReportEvent = { type: 'ReportPullFailed', data: { attemptId: FIRST, cause: 'NO_VERDICT' } };
      const lost: ReportEvent = { type: 'ReportPullFailed', data: { attemptId: SECOND, cause } };
      const { state } = given(report, requested(), noVerdictYet, requested(SECOND), lost);
      expect(state).toMatchObject({ unresolved: FIRST });
    },
  );

  it('ignores a verdict on another attempt, and a second verdict', () => {
    const verdicts = (attemptId: string): ReportCommand[] => [
      release(attemptId),
      { kind: 'refuse', now: at(6), attemptId, reason: 'NO_RECORD', upstreamCode: null },
      { kind: 'fail', now: at(5), attemptId, cause: 'PERSON_ERASED' },
      noVerdict('timed-out', 9_999, attemptId),
      noVerdict('unavailable', 1, attemptId),
      noVerdict('unintelligible', 1, attemptId),
    ];
    for (const verdict of verdicts(SECOND)) given(report, requested()).when(verdict).then();
    for (const history of [[requested(), released()], [requested(), frozen], [requested(), failed], []])
      for (const verdict of verdicts(FIRST))
        given(report, ...history)
          .when(verdict)
          .then();
  });

  describe('after a refusal', () => {
    const { refusedAt: _, ...untimed } = frozen.data as { refusedAt: string };
    const refusedAgain = (reason: string, seconds: number): ReportEvent =>
      ({ ...frozen, data: { attemptId: SECOND, reason, upstreamCode: null, refusedAt: iso(seconds) } }) as ReportEvent;

    it('is requested from the bureau again after the interval, which begins at the last refusal', () => {
      const once = given(report, requested(), frozen).state;
      expect([6, 7, 605.5, 606, 9_999].map((now) => secondsToNextPull(once, at(now), 600))).toEqual([
        600, 599, 1, 0, 0,
      ]);
      const twice = given(report, requested(), frozen, requested(SECOND), refusedAgain('FILE_FROZEN', 700)).state;
      expect(secondsToNextPull(twice, at(701), 600)).toBe(599);
    });

    it.each<[string, readonly ReportEvent[]]>([
      ['no pull was requested', []],
      ['the pull is open', [requested()]],
      ['the bureau was unavailable', [requested(), failed]],
      ['the report is released', [requested(), released()]],
      ['an earlier version recorded no time', [requested(), { ...frozen, data: untimed } as ReportEvent]],
    ])('does not wait when %s', (_case, history) => {
      expect(secondsToNextPull(given(report, ...history).state, at(6), 600)).toBe(0);
    });

    it('remembers the time of the first refusal through all later events', () => {
      const later = [requested(SECOND), refusedAgain('NO_RECORD', 700)];
      expect(given(report, requested(), frozen, ...later).state).toMatchObject({ firstRefusedAt: iso(6) });
      expect(given(report, requested(), { ...frozen, data: untimed } as ReportEvent, ...later).state).toMatchObject({
        firstRefusedAt: iso(700),
      });
      expect(given(report, requested(), failed).state).toMatchObject({ firstRefusedAt: null });
    });
  });

  it('derives attempt ids from the session and a number', () => {
    expect(nextAttemptId(SESSION, report.initial)).toBe(derivedId('report-pull', SESSION, '1'));
    expect(nextAttemptId(SESSION, given(report, requested(), failed).state)).toBe(
      derivedId('report-pull', SESSION, '2'),
    );
  });

  it('expires exactly when its validity ends', () => {
    const state = given(report, requested(), released()).state as ReleasedReport;
    expect([5 + 2_592_000 - 0.001, 5 + 2_592_000].map((seconds) => isExpired(state, at(seconds)))).toEqual([
      false,
      true,
    ]);
  });

  it('keeps its state when it reads events of a later version of the service', () => {
    const state = given(report, requested()).state;
    expect(report.evolve(state, { type: 'Unheard', data: {} } as unknown as ReportEvent)).toEqual(state);
    expect(report.evolve(report.initial, released())).toEqual(report.initial);
  });

  it('is released at most once, whatever the sequence of commands, and never without a request', () => {
    const attempts = fc.constantFrom(FIRST, SECOND, derivedId('report-pull', SESSION, '3'), 'stray');
    const commands: fc.Arbitrary<ReportCommand> = fc.oneof(
      attempts.map((attemptId) => request(attemptId)),
      attempts.map((attemptId) => release(attemptId)),
      attempts.map((attemptId): ReportCommand => ({
        kind: 'refuse',
        now: at(6),
        attemptId,
        reason: 'NO_RECORD',
        upstreamCode: null,
      })),
      attempts.map((attemptId): ReportCommand => ({
        kind: 'fail',
        now: at(5),
        attemptId,
        cause: 'VENDOR_SESSION_OVER',
      })),
      fc
        .tuple(fc.constantFrom(...NO_VERDICTS), fc.integer({ min: 0, max: 200 }), attempts)
        .map((verdict) => noVerdict(...verdict)),
    );
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 30 }), (sequence) => {
        let state: ReportState = report.initial;
        const open = new Set<string>();
        let releases = 0;
        for (const command of sequence) {
          for (const event of report.decide(command, state)) {
            if (event.type === 'ReportRequested') {
              expect(open.has(event.data.attemptId)).toBe(false);
              open.add(event.data.attemptId);
            } else if ('attemptId' in event.data) {
              expect(open.has(event.data.attemptId)).toBe(true);
            }
            if (event.type === 'ReportReleased') releases += 1;
            state = report.evolve(state, event);
          }
        }
        expect(releases).toBeLessThanOrEqual(1);
      }),
    );
  });
});
