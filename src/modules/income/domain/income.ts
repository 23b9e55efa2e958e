// The events and the state of an income session. Its decisions are in income-session.ts.
import type { DomainEvent } from '../../../kernel/domain-event.js';

export type Route = 'PAYROLL' | 'BANKING';
export type FailureReason = 'NO_MATCH' | 'VENDOR_ERROR';
/** The reason why an answer of the vendor gave no outcome. */
export type NoOutcomeCause = 'IN_PROGRESS' | 'VENDOR_UNAVAILABLE' | 'VENDOR_TIMED_OUT' | 'VENDOR_UNINTELLIGIBLE';

/** Every time is ISO 8601 UTC. */
export type IncomeEvent =
  | DomainEvent<
      'IncomeSessionOpened',
      {
        /** The routes in the order in which they are tried. */
        readonly routes: readonly Route[];
        readonly screeningSessionId: string | null;
        readonly subjectId: string;
        /** The session grant under which it was opened. Absent without one, and in older events. */
        readonly grantId?: string;
        readonly expiresAt: string;
        /** The vendor of its calls. Absent in older events: the first vendor. */
        readonly vendor?: string;
      }
    >
  /**
   * The service is about to ask the vendor to start. After `settleAfter` the recovery job asks again with the same attempt.
   */
  | DomainEvent<'RouteRequested', { readonly route: Route; readonly attemptId: string; readonly settleAfter: string }>
  /** The vendor has started. The vault holds its name for the inquiry. */
  | DomainEvent<'RouteStarted', { readonly route: Route; readonly attemptId: string; readonly lookAgainAt: string }>
  | DomainEvent<
      'RouteAwaited',
      {
        readonly route: Route;
        readonly attemptId: string;
        readonly cause: NoOutcomeCause;
        readonly lookAgainAt: string;
      }
    >
  | DomainEvent<'RouteFailed', { readonly route: Route; readonly attemptId: string; readonly reason: FailureReason }>
  /** The report is in the vault. */
  | DomainEvent<
      'IncomeReportReleased',
      { readonly route: Route; readonly attemptId: string; readonly generatedAt: string }
    >
  | DomainEvent<'IncomeSessionFailed', { readonly route: Route; readonly reasonCode: FailureReason }>
  | DomainEvent<'IncomeSessionExpired', { readonly cause: 'NO_OUTCOME' | 'PERSON_ERASED' }>
  /** Evidence that the data key of the session's own subject is gone: its values can never be read again. */
  | DomainEvent<'IncomePersonErased', { readonly subjectId: string }>;

/** The inquiry in progress at the vendor. */
export interface Attempt {
  readonly attemptId: string;
  /** Whether the vendor is known to have started. */
  readonly started: boolean;
  readonly lookAgainAt: string;
  /** How often the vendor gave no outcome since the request or the start. */
  readonly looks: number;
}

interface Opened {
  readonly routes: readonly Route[];
  readonly screeningSessionId: string | null;
  readonly subjectId: string;
  /** The session grant under which it was opened. Pages need a token of that grant (docs/contract/server.md#sessions-of-a-grant). */
  readonly grantId?: string;
  readonly expiresAt: string;
  /** The vendor of its calls, even if its account has chosen another since. */
  readonly vendor: string;
  /** The current route. After the session's end: the route that decided, or the last one tried. */
  readonly route: Route;
  /** Whether the erasure is recorded here. The erasure of a screening's person is recorded with that person. */
  readonly erased: boolean;
}

/** CREATED until the vendor has started for the first time. */
export type OpenIncomeSession = Opened & {
  readonly status: 'CREATED' | 'IN_PROGRESS';
  readonly attempt: Attempt | null;
};

export type IncomeState =
  | { readonly status: 'NONE' }
  | OpenIncomeSession
  | (Opened & { readonly status: 'COMPLETED'; readonly generatedAt: string })
  | (Opened & { readonly status: 'FAILED'; readonly reasonCode: FailureReason })
  | (Opened & { readonly status: 'EXPIRED' });

/** A session that exists. */
export type IncomeSession = Exclude<IncomeState, { status: 'NONE' }>;

/** The vault's value for an open session. `attempt` names the route to which the inquiry belongs. */
export interface InquiryContent {
  readonly attemptId: string;
  readonly inquiry: string;
}

/** The name of that entry under the session's vault subject. */
export function inquiryEntry(incomeSessionId: string): string {
  return `income:${incomeSessionId}`;
}

/** The name of the report's entry. */
export function reportEntry(incomeSessionId: string): string {
  return `income-report:${incomeSessionId}`;
}
