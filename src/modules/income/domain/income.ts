// What an income session is: its events and its state. Decisions are made in income-session.ts.
import type { DomainEvent } from '../../../kernel/domain-event.js';

export type Route = 'PAYROLL' | 'BANKING';
export type FailureReason = 'NO_MATCH' | 'VENDOR_ERROR';
/** Why the vendor was asked without learning how the inquiry ends. */
export type NoOutcomeCause = 'IN_PROGRESS' | 'VENDOR_UNAVAILABLE' | 'VENDOR_TIMED_OUT' | 'VENDOR_UNINTELLIGIBLE';

/** Every time is ISO 8601 UTC. */
export type IncomeEvent =
  | DomainEvent<
      'IncomeSessionOpened',
      {
        /** In the order in which they are tried. */
        readonly routes: readonly Route[];
        readonly screeningSessionId: string | null;
        readonly subjectId: string;
        /** The session grant that it was opened under, if any. Absent in what was stored before it was recorded. */
        readonly grantId?: string;
        readonly expiresAt: string;
        /** Where its calls go. Absent in what was stored before it was recorded: the first vendor. */
        readonly vendor?: string;
      }
    >
  /** The vendor is about to be asked to begin; after `settleAfter` the recovery job asks again with the same attempt. */
  | DomainEvent<'RouteRequested', { readonly route: Route; readonly attemptId: string; readonly settleAfter: string }>
  /** The vendor has begun; its name for the inquiry is in the vault. */
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
  /** Evidence that the data key of the session's own subject is gone: what was kept under it can never be read again. */
  | DomainEvent<'IncomePersonErased', { readonly subjectId: string }>;

/** The inquiry that is with the vendor. */
export interface Attempt {
  readonly attemptId: string;
  /** Whether the vendor is known to have begun. */
  readonly started: boolean;
  readonly lookAgainAt: string;
  /** How often the vendor was asked in vain since it was requested or had begun. */
  readonly looks: number;
}

interface Opened {
  readonly routes: readonly Route[];
  readonly screeningSessionId: string | null;
  readonly subjectId: string;
  /** The session grant that it was opened under: pages need a token of that grant (docs/contract/server.md#sessions-of-a-grant). */
  readonly grantId?: string;
  readonly expiresAt: string;
  /** Where its calls go, whatever its account has chosen since. */
  readonly vendor: string;
  /** The one being tried; of a session that is over, the one that decided or was tried last. */
  readonly route: Route;
  /** Whether the erasure is on record here. Of a person behind a screening it is on record there. */
  readonly erased: boolean;
}

/** CREATED until the vendor has begun for the first time. */
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

/** What an open session keeps in the vault; the attempt says which route's inquiry it is. */
export interface InquiryContent {
  readonly attemptId: string;
  readonly inquiry: string;
}

/** Name of that entry under the session's vault subject. */
export function inquiryEntry(incomeSessionId: string): string {
  return `income:${incomeSessionId}`;
}

/** Name of the entry that holds the report. */
export function reportEntry(incomeSessionId: string): string {
  return `income-report:${incomeSessionId}`;
}
