// The income session. A session tries its routes in order until one gives a report, all have failed, or its time limit has passed. Source:
// docs/contract/platform.md#income-sessions, docs/contract/webhooks.md#event-types.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { FIRST_CHOICE } from '../../../kernel/vendor-choice.js';
import type {
  Attempt,
  FailureReason,
  IncomeEvent,
  IncomeState,
  NoOutcomeCause,
  OpenIncomeSession,
  Route,
} from './income.js';

/** A call to the vendor that will be made next. */
export interface NewAttempt {
  readonly attemptId: string;
  readonly settleAfter: Date;
}

export type IncomeCommand =
  | {
      readonly kind: 'open';
      /** The session has at least one route, and each route occurs once. */
      readonly routes: readonly [Route, ...Route[]];
      readonly screeningSessionId: string | null;
      readonly subjectId: string;
      readonly grantId?: string;
      readonly externalIdHash?: string;
      readonly expiresAt: Date;
      readonly vendor: string;
      readonly bankingVendor?: string;
      readonly attempt: NewAttempt;
    }
  | { readonly kind: 'record-started'; readonly now: Date; readonly attemptId: string }
  /**
   * `looks`: the number of answers that were recorded for the attempt when the vendor was asked. When two processes ask at the same time, one answer
   * is recorded.
   */
  | {
      readonly kind: 'record-no-outcome';
      readonly now: Date;
      readonly attemptId: string;
      readonly looks: number;
      readonly cause: NoOutcomeCause;
      /** The pause that the vendor demands before the next look, in milliseconds. */
      readonly pauseMs?: number;
    }
  /** `until`: the vendor's end of the round. `patienceMs`: the time that the vendor has after the person has acted. */
  | {
      readonly kind: 'record-user-action';
      readonly now: Date;
      readonly attemptId: string;
      readonly looks: number;
      readonly until: Date;
      readonly patienceMs: number;
    }
  /** `next`: the attempt of the next route, if there is a next route. */
  | {
      readonly kind: 'record-failure';
      readonly now: Date;
      readonly attemptId: string;
      readonly reason: FailureReason;
      readonly next: NewAttempt;
    }
  | { readonly kind: 'record-report'; readonly now: Date; readonly attemptId: string; readonly bodyDigest: string }
  | { readonly kind: 'expire'; readonly now: Date }
  /** The person was erased, together with the data that the session needs. */
  | { readonly kind: 'end-erased' }
  /** The data key of the session's own subject was destroyed. An open session then ends. */
  | { readonly kind: 'record-erasure' };

const FIRST_LOOK_MS = 1_000;
const LAST_DELAY_MS = 30_000;
/** Persons are slower than vendors, and most vendors send a notice when the person has acted. */
const LAST_DELAY_OF_USER_MS = 300_000;
/** The time after the first end of a session in which rounds of the person can end. */
const ROUNDS_MS = 86_400_000;

export const incomeSession: Decider<IncomeState, IncomeCommand, IncomeEvent> = {
  category: 'income',
  initial: { status: 'NONE' },
  decide,
  evolve,
};

function decide(command: IncomeCommand, state: IncomeState): readonly IncomeEvent[] {
  switch (command.kind) {
    case 'open':
      return state.status === 'NONE' ? opened(command) : [];
    case 'record-started': {
      const attempt = pending(state, command.attemptId);
      if (!isOpen(state) || !attempt || attempt.started) return [];
      return [
        {
          type: 'RouteStarted',
          data: { route: state.route, attemptId: attempt.attemptId, lookAgainAt: after(command.now, FIRST_LOOK_MS) },
        },
      ];
    }
    case 'record-no-outcome': {
      const attempt = pending(state, command.attemptId);
      if (!isOpen(state) || !attempt || attempt.looks !== command.looks) return [];
      if (isOverdue(state, command.now)) return [expired('NO_OUTCOME')];
      const { pauseMs = 0 } = command;
      const lookAgainAt = after(command.now, Math.max(pauseMs, delay(attempt, LAST_DELAY_MS)));
      return [
        {
          type: 'RouteAwaited',
          data: { route: state.route, attemptId: attempt.attemptId, cause: command.cause, lookAgainAt },
        },
      ];
    }
    case 'record-user-action':
      return requestUser(command, state);
    case 'record-failure':
      return isOpen(state) && pending(state, command.attemptId) ? fail(command, state) : [];
    case 'record-report': {
      if (!isOpen(state) || !pending(state, command.attemptId)) return [];
      const { attemptId, now, bodyDigest } = command;
      const data = { route: state.route, attemptId, generatedAt: now.toISOString(), bodyDigest };
      return [{ type: 'IncomeReportReleased', data }];
    }
    case 'expire':
      return isOverdue(state, command.now) ? [expired('NO_OUTCOME')] : [];
    case 'end-erased':
      return isOpen(state) ? [expired('PERSON_ERASED')] : [];
    case 'record-erasure':
      if (state.status === 'NONE' || state.erased) return [];
      return [
        { type: 'IncomePersonErased', data: { subjectId: state.subjectId } },
        ...decide({ kind: 'end-erased' }, state),
      ];
    default:
      return command satisfies never;
  }
}

/** A round that is not over yet. The session ends as expired when the vendor still waits for the person after the round. */
function requestUser(
  { now, attemptId, looks, until, patienceMs }: Extract<IncomeCommand, { kind: 'record-user-action' }>,
  state: IncomeState,
): readonly IncomeEvent[] {
  const attempt = pending(state, attemptId);
  if (!isOpen(state) || !attempt || attempt.looks !== looks) return [];
  const { route, expiresAt, firstExpiresAt = expiresAt } = state;
  const end = earlier(until.toISOString(), after(new Date(firstExpiresAt), ROUNDS_MS));
  if (now >= new Date(end) || isOverdue(state, now)) return [expired('NO_OUTCOME')];
  const lookAgainAt = earlier(after(now, delay(attempt, LAST_DELAY_OF_USER_MS)), end);
  if (attempt.userActsUntil === end)
    return [{ type: 'RouteAwaited', data: { route, attemptId, cause: 'USER_ACTING', lookAgainAt } }];
  const patient = after(new Date(end), patienceMs);
  return [
    {
      type: 'UserActionRequested',
      data: { route, attemptId, until: end, lookAgainAt, expiresAt: patient > expiresAt ? patient : expiresAt },
    },
  ];
}

function delay({ looks }: Attempt, last: number): number {
  return Math.min(last, FIRST_LOOK_MS * 2 ** (looks + 1));
}

/** ISO 8601 UTC times of one form have the order of their texts. */
function earlier(one: string, other: string): string {
  return one < other ? one : other;
}

function opened(command: Extract<IncomeCommand, { kind: 'open' }>): readonly IncomeEvent[] {
  const { routes, screeningSessionId, subjectId, grantId, externalIdHash, expiresAt, attempt } = command;
  const { vendor, bankingVendor } = command;
  return [
    {
      type: 'IncomeSessionOpened',
      data: {
        routes,
        screeningSessionId,
        subjectId,
        ...(grantId && { grantId }),
        ...(externalIdHash && { externalIdHash }),
        expiresAt: expiresAt.toISOString(),
        vendor,
        ...(bankingVendor && { bankingVendor }),
      },
    },
    requested(routes[0], attempt),
  ];
}

/** The next route begins, and no event is published. When the last route fails, the session fails for the same reason. */
function fail(
  { now, attemptId, reason, next }: Extract<IncomeCommand, { kind: 'record-failure' }>,
  state: OpenIncomeSession,
): readonly IncomeEvent[] {
  const { route, routes } = state;
  const failed: IncomeEvent = { type: 'RouteFailed', data: { route, attemptId, reason } };
  const following = routes[routes.indexOf(route) + 1];
  if (following === undefined) return [failed, { type: 'IncomeSessionFailed', data: { route, reasonCode: reason } }];
  return [failed, isOverdue(state, now) ? expired('NO_OUTCOME') : requested(following, next)];
}

function requested(route: Route, { attemptId, settleAfter }: NewAttempt): IncomeEvent {
  return { type: 'RouteRequested', data: { route, attemptId, settleAfter: settleAfter.toISOString() } };
}

function expired(cause: 'NO_OUTCOME' | 'PERSON_ERASED'): IncomeEvent {
  return { type: 'IncomeSessionExpired', data: { cause } };
}

function after(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}

/** The vendor of the route. */
export function vendorOf(
  { vendor, bankingVendor = vendor }: { readonly vendor: string; readonly bankingVendor?: string },
  route: Route,
): string {
  return route === 'BANKING' ? bankingVendor : vendor;
}

/** Whether another vendor follows when the current route fails. */
export function changesVendor(session: OpenIncomeSession): boolean {
  const { route, routes } = session;
  const following = routes[routes.indexOf(route) + 1];
  return following !== undefined && vendorOf(session, following) !== vendorOf(session, route);
}

export function isOpen(state: IncomeState): state is OpenIncomeSession {
  return state.status === 'CREATED' || state.status === 'IN_PROGRESS';
}

/** The vendor's current inquiry, if its attempt has this id. */
export function pending(state: IncomeState, attemptId: string): Attempt | null {
  return isOpen(state) && state.attempt?.attemptId === attemptId ? state.attempt : null;
}

/** Whether the time limit for an outcome has passed. */
export function isOverdue(state: IncomeState, now: Date): boolean {
  return isOpen(state) && now >= new Date(state.expiresAt);
}

/** The time at which the recovery job must examine the session (ISO 8601 UTC), or null. */
export function dueAt(state: IncomeState): string | null {
  if (!isOpen(state)) return null;
  const { attempt, expiresAt } = state;
  return attempt && attempt.lookAgainAt < expiresAt ? attempt.lookAgainAt : expiresAt;
}

function evolve(state: IncomeState, event: IncomeEvent): IncomeState {
  if (event.type === 'IncomeSessionOpened') {
    const { routes, screeningSessionId, subjectId, grantId, expiresAt, vendor, bankingVendor } = event.data;
    return {
      routes,
      screeningSessionId,
      subjectId,
      ...(grantId && { grantId }),
      expiresAt,
      vendor: vendor ?? FIRST_CHOICE.income,
      ...(bankingVendor && { bankingVendor }),
      route: routes[0] ?? 'PAYROLL',
      erased: false,
      status: 'CREATED',
      attempt: null,
    };
  }
  // Only this event may follow the end of a session.
  if (event.type === 'IncomePersonErased') return state.status === 'NONE' ? state : { ...state, erased: true };
  if (!isOpen(state)) return state;
  const { status: _status, attempt, ...opened } = state;
  switch (event.type) {
    case 'RouteRequested': {
      const { route, attemptId, settleAfter } = event.data;
      return { ...state, route, attempt: { attemptId, started: false, lookAgainAt: settleAfter, looks: 0 } };
    }
    case 'RouteStarted': {
      const { attemptId, lookAgainAt } = event.data;
      return { ...state, status: 'IN_PROGRESS', attempt: { attemptId, started: true, lookAgainAt, looks: 0 } };
    }
    case 'RouteAwaited':
      return attempt ? { ...state, attempt: awaited(attempt, event.data) } : state;
    case 'UserActionRequested': {
      const { until, lookAgainAt, expiresAt } = event.data;
      const { firstExpiresAt = state.expiresAt } = state;
      const looks = (attempt?.looks ?? 0) + 1;
      return attempt
        ? { ...state, expiresAt, firstExpiresAt, attempt: { ...attempt, lookAgainAt, looks, userActsUntil: until } }
        : state;
    }
    case 'RouteFailed':
      return { ...state, attempt: null };
    case 'IncomeReportReleased':
      return { ...opened, route: event.data.route, status: 'COMPLETED', generatedAt: event.data.generatedAt };
    case 'IncomeSessionFailed':
      return { ...opened, route: event.data.route, status: 'FAILED', reasonCode: event.data.reasonCode };
    case 'IncomeSessionExpired':
      return { ...opened, status: 'EXPIRED' };
    default:
      return assertNever(event, state);
  }
}

/** The person's round ends when the vendor works again. A call that failed says nothing about the round. */
function awaited(
  { userActsUntil, ...attempt }: Attempt,
  { cause, lookAgainAt }: Extract<IncomeEvent, { type: 'RouteAwaited' }>['data'],
): Attempt {
  return {
    ...attempt,
    ...(cause !== 'IN_PROGRESS' && userActsUntil !== undefined && { userActsUntil }),
    lookAgainAt,
    looks: attempt.looks + 1,
  };
}
