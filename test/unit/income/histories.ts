// Histories and commands of income sessions, for the tests beside this file.
import type { IncomeEvent, IncomeState, Route } from '../../../src/modules/income/domain/income.js';
import {
  incomeSession,
  type IncomeCommand,
  type NewAttempt,
} from '../../../src/modules/income/domain/income-session.js';
import { given, type Given } from '../../support/decider.js';

export type GivenIncome = Given<IncomeState, IncomeCommand, IncomeEvent>;
type EventOf<Type extends IncomeEvent['type']> = Extract<IncomeEvent, { type: Type }>;

export const START = new Date('2026-03-01T12:00:00.000Z');
export const TTL_SECONDS = 1_800;

/** The time that is this number of seconds after the start. */
export function at(seconds: number): Date {
  return new Date(START.getTime() + seconds * 1_000);
}
export const iso = (seconds: number): string => at(seconds).toISOString();

export const attempt = (attemptId: string, seconds = 0): NewAttempt => ({ attemptId, settleAfter: at(seconds + 22) });

export const open = (
  routes: readonly [Route, ...Route[]] = ['PAYROLL', 'BANKING'],
  screeningSessionId: string | null = null,
): IncomeCommand => ({
  kind: 'open',
  routes,
  screeningSessionId,
  subjectId: 'subject',
  expiresAt: at(TTL_SECONDS),
  vendor: 'voie',
  attempt: attempt('first'),
});
export const started = (attemptId: string, seconds = 0): IncomeCommand => ({
  kind: 'record-started',
  now: at(seconds),
  attemptId,
});
export const noOutcome = (
  attemptId: string,
  looks: number,
  seconds: number,
  cause: EventOf<'RouteAwaited'>['data']['cause'] = 'IN_PROGRESS',
): IncomeCommand => ({ kind: 'record-no-outcome', now: at(seconds), attemptId, looks, cause });
export const userAction = (attemptId: string, looks: number, seconds: number, until = 900): IncomeCommand => ({
  kind: 'record-user-action',
  now: at(seconds),
  attemptId,
  looks,
  until: at(until),
  patienceMs: TTL_SECONDS * 1_000,
});
export const failure = (attemptId: string, reason: 'NO_MATCH' | 'VENDOR_ERROR', seconds: number): IncomeCommand => ({
  kind: 'record-failure',
  now: at(seconds),
  attemptId,
  reason,
  next: attempt('second', seconds),
});
/** The digest of each report in these histories. */
export const DIGEST = 'salt.digest';
export const report = (attemptId: string, seconds: number): IncomeCommand => ({
  kind: 'record-report',
  now: at(seconds),
  attemptId,
  bodyDigest: DIGEST,
});

export const OPENED = (
  routes: readonly Route[] = ['PAYROLL', 'BANKING'],
  screeningSessionId: string | null = null,
): IncomeEvent => ({
  type: 'IncomeSessionOpened',
  data: { routes, screeningSessionId, subjectId: 'subject', expiresAt: iso(TTL_SECONDS), vendor: 'voie' },
});
export const REQUESTED = (route: Route, attemptId: string, seconds = 0): IncomeEvent => ({
  type: 'RouteRequested',
  data: { route, attemptId, settleAfter: iso(seconds + 22) },
});
export const STARTED = (route: Route, attemptId: string, seconds = 0): IncomeEvent => ({
  type: 'RouteStarted',
  data: { route, attemptId, lookAgainAt: iso(seconds + 1) },
});
export const AWAITED = (
  route: Route,
  attemptId: string,
  lookAgainAt: number,
  cause: EventOf<'RouteAwaited'>['data']['cause'] = 'IN_PROGRESS',
): IncomeEvent => ({ type: 'RouteAwaited', data: { route, attemptId, cause, lookAgainAt: iso(lookAgainAt) } });
export const USER_REQUESTED = (
  route: Route,
  attemptId: string,
  lookAgainAt: number,
  until = 900,
  expiresAt = until + TTL_SECONDS,
): IncomeEvent => ({
  type: 'UserActionRequested',
  data: { route, attemptId, until: iso(until), lookAgainAt: iso(lookAgainAt), expiresAt: iso(expiresAt) },
});
export const FAILED = (
  route: Route,
  attemptId: string,
  reason: 'NO_MATCH' | 'VENDOR_ERROR' = 'NO_MATCH',
): IncomeEvent => ({ type: 'RouteFailed', data: { route, attemptId, reason } });
export const RELEASED = (route: Route, attemptId: string, seconds: number): IncomeEvent => ({
  type: 'IncomeReportReleased',
  data: { route, attemptId, generatedAt: iso(seconds), bodyDigest: DIGEST },
});
export const SESSION_FAILED = (route: Route, reasonCode: 'NO_MATCH' | 'VENDOR_ERROR'): IncomeEvent => ({
  type: 'IncomeSessionFailed',
  data: { route, reasonCode },
});
export const EXPIRED = (cause: 'NO_OUTCOME' | 'PERSON_ERASED' = 'NO_OUTCOME'): IncomeEvent => ({
  type: 'IncomeSessionExpired',
  data: { cause },
});
export const ERASED: IncomeEvent = { type: 'IncomePersonErased', data: { subjectId: 'subject' } };

export const created = (): GivenIncome => given(incomeSession, OPENED(), REQUESTED('PAYROLL', 'first'));
export const inProgress = (): GivenIncome => created().and(STARTED('PAYROLL', 'first'));
export const onBanking = (): GivenIncome =>
  inProgress().and(FAILED('PAYROLL', 'first'), REQUESTED('BANKING', 'second', 5), STARTED('BANKING', 'second', 6));

/** One history for each way in which a session can end. */
export const OVER: Readonly<Record<'COMPLETED' | 'FAILED' | 'EXPIRED', readonly IncomeEvent[]>> = {
  COMPLETED: [RELEASED('PAYROLL', 'first', 9)],
  FAILED: [FAILED('PAYROLL', 'first'), SESSION_FAILED('PAYROLL', 'NO_MATCH')],
  EXPIRED: [EXPIRED()],
};
