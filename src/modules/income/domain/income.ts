// The events and the state of an income session. The decisions of an income session are in income-session.ts.
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { UserActionOpening } from '../../../kernel/user-action.js';

export type Route = 'PAYROLL' | 'BANKING';
export type FailureReason = 'NO_MATCH' | 'VENDOR_ERROR';
/** The reason why an answer of the vendor contained no outcome. */
export type NoOutcomeCause =
  'IN_PROGRESS' | 'USER_ACTING' | 'VENDOR_UNAVAILABLE' | 'VENDOR_TIMED_OUT' | 'VENDOR_UNINTELLIGIBLE';

/** Every time is ISO 8601 UTC. */
export type IncomeEvent =
  | DomainEvent<
      'IncomeSessionOpened',
      {
        /** The routes in the order in which they are tried. */
        readonly routes: readonly Route[];
        readonly screeningSessionId: string | null;
        readonly subjectId: string;
        /** The session grant under which the session was opened. Absent if the session has no grant, and in older events. */
        readonly grantId?: string;
        /** Keyed hash of the integrator's own id of the session, from the grant. Absent without one, and in older events. */
        readonly externalIdHash?: string;
        readonly expiresAt: string;
        /** The vendor of the session's calls. Absent in older events, which used the first vendor. */
        readonly vendor?: string;
        /** The vendor of the route BANKING. Absent if it is the vendor of the other calls too. */
        readonly bankingVendor?: string;
      }
    >
  /** The service will ask the vendor to start. After `settleAfter` the recovery job asks again with the same attempt. */
  | DomainEvent<'RouteRequested', { readonly route: Route; readonly attemptId: string; readonly settleAfter: string }>
  /** The vendor has started. The vault stores the vendor's id of the inquiry. */
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
  /**
   * The person must act at the vendor until `until`. The vault stores how the vendor is opened. A later event begins another round. `expiresAt` is the
   * new end of the session, which leaves the vendor time after the person has acted.
   */
  | DomainEvent<
      'UserActionRequested',
      {
        readonly route: Route;
        readonly attemptId: string;
        readonly until: string;
        readonly lookAgainAt: string;
        readonly expiresAt: string;
      }
    >
  | DomainEvent<'RouteFailed', { readonly route: Route; readonly attemptId: string; readonly reason: FailureReason }>
  /** The vault stores the report. */
  | DomainEvent<
      'IncomeReportReleased',
      {
        readonly route: Route;
        readonly attemptId: string;
        readonly generatedAt: string;
        /** The digest of the report, keyed with a salt beside the report in the vault (ports/salted-digest.ts). Absent in older events. */
        readonly bodyDigest?: string;
      }
    >
  | DomainEvent<'IncomeSessionFailed', { readonly route: Route; readonly reasonCode: FailureReason }>
  | DomainEvent<'IncomeSessionExpired', { readonly cause: 'NO_OUTCOME' | 'PERSON_ERASED' }>
  /** Evidence that the data key of the session's own subject was destroyed. The values of the subject can never be read again. */
  | DomainEvent<'IncomePersonErased', { readonly subjectId: string }>;

/** The inquiry in progress at the vendor. */
export interface Attempt {
  readonly attemptId: string;
  /** Whether the log says that the vendor has started. */
  readonly started: boolean;
  readonly lookAgainAt: string;
  /** The number of the vendor's answers without an outcome since the request or the start. */
  readonly looks: number;
  /** The end of the person's round at the vendor. Absent if no round is open. */
  readonly userActsUntil?: string;
}

interface Opened {
  readonly routes: readonly Route[];
  readonly screeningSessionId: string | null;
  readonly subjectId: string;
  /** The session grant under which the session was opened. Pages need a token of that grant (docs/contract/server.md#sessions-of-a-grant). */
  readonly grantId?: string;
  readonly expiresAt: string;
  /** The end before the first round of the person. Absent without a round. */
  readonly firstExpiresAt?: string;
  /** The vendor of the session's calls, even if the account has chosen another vendor since. */
  readonly vendor: string;
  readonly bankingVendor?: string;
  /** The current route. After the session's end: the route that gave the outcome, or the last route. */
  readonly route: Route;
  /** Whether this session records the erasure. The erasure of a screening's person is recorded with that person. */
  readonly erased: boolean;
}

/** CREATED until the vendor has started the first inquiry. */
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

/** The value that the vault stores for an open session. `attempt` names the route to which the inquiry belongs. */
export interface InquiryContent {
  readonly attemptId: string;
  readonly inquiry: string;
  /** How the vendor is opened in the person's current round, or was opened in the last round. */
  readonly open?: UserActionOpening;
}

/** The name of the inquiry's vault entry under the session's subject. */
export function inquiryEntry(incomeSessionId: string): string {
  return `income:${incomeSessionId}`;
}

/** The name of the report's vault entry. */
export function reportEntry(incomeSessionId: string): string {
  return `income-report:${incomeSessionId}`;
}
