// The credit report of one screening session: requested from the bureau, released, or not available at present. Source:
// docs/contract/platform.md#reports, #checks-before-a-report.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { nextQuery } from '../../../kernel/growing-pause.js';
import { derivedId } from '../../../kernel/ids.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import type { RefundReason } from '../../../kernel/refund-reason.js';

/** The bureau's reason for giving no report: a fact about the consumer's file. */
export type PullRefusal = 'FILE_FROZEN' | 'FILE_BLOCKED' | 'NO_RECORD' | 'MINOR' | 'FILE_CONDITION';
/** The reason why later pulls can bring no report either. */
export type FinalFailure =
  /** The vendor's session gives no right to a report any more, or none at this bureau. Or the service has lost the reference of the person. */
  'VENDOR_SESSION_OVER' | 'PERSON_ERASED';
/** The reason why a pull brought no report. */
export type PullFailure =
  | FinalFailure
  | 'VENDOR_UNAVAILABLE'
  /** The account had no credit to reserve. */
  | 'CREDIT_EXHAUSTED'
  /** The pull's end is not known. */
  | 'NO_VERDICT';

export type ReportEvent =
  | DomainEvent<
      'ReportRequested',
      {
        readonly reportId: string;
        /** The id of the credit reservation. The id is also the bureau's idempotency key, unless `inquiryId` is present. */
        readonly attemptId: string;
        /**
         * The key of an earlier attempt that ended without a verdict. The bureau may have billed the inquiry under that key, and bills a key only
         * once.
         */
        readonly inquiryId?: string;
        /** Absent in older events. */
        readonly purpose?: PermissiblePurpose;
        /** The vault subject of the report. */
        readonly subjectId: string;
        /** ISO 8601 UTC. After this time the recovery job asks the bureau again. */
        readonly settleAfter: string;
        /** ISO 8601 UTC. After this time the attempt is given up. */
        readonly giveUpAfter: string;
      }
    >
  | DomainEvent<
      'ReportReleased',
      {
        readonly reportId: string;
        readonly attemptId: string;
        readonly generatedAt: string;
        readonly expiresAt: string;
        /** False if the file is too thin for a score. */
        readonly scored: boolean;
        /** The digest of the body, keyed with a salt beside the body in the vault (`application/report-bodies.ts`). Absent in older events. */
        readonly bodyDigest?: string;
      }
    >
  | DomainEvent<
      'ReportPullRefused',
      {
        readonly attemptId: string;
        readonly reason: PullRefusal;
        readonly upstreamCode: number | null;
        /** ISO 8601 UTC. Absent in older events. */
        readonly refusedAt?: string;
      }
    >
  | DomainEvent<
      'ReportPullFailed',
      {
        readonly attemptId: string;
        readonly cause: PullFailure;
        /** ISO 8601 UTC, for a final failure. Absent in older events. */
        readonly failedAt?: string;
      }
    >
  /** The bureau is still at work, or its answer cannot be classified. The attempt stays open, because only its own key causes no second bill. */
  | DomainEvent<
      'ReportPullAwaited',
      {
        readonly attemptId: string;
        readonly cause: 'VENDOR_UNINTELLIGIBLE' | 'PENDING';
        /** Present while the bureau is at work. Times are ISO 8601 UTC. */
        readonly pending?: { readonly since: string; readonly lookAgainAt: string; readonly giveUpAfter: string };
      }
    >
  /** This payment will be refunded, so no further pull for it begins. The payment is notified after this event is recorded. */
  | DomainEvent<'ReportPullsEnded', PullsEnded>
  /**
   * This payment will count for a newer session, so no further pull for it begins in this session. The payment is notified after this event is
   * recorded.
   */
  | DomainEvent<'ReportPaymentCarriedOver', { readonly transactionId: string }>;

export interface PullsEnded {
  readonly transactionId: string;
  readonly reasonCode: RefundReason;
  /** The report was already released, and stays valid. */
  readonly released?: true;
}

export interface PullAttempt {
  readonly attemptId: string;
  /** The bureau's idempotency key. */
  readonly inquiryId: string;
  readonly settleAfter: string;
  readonly giveUpAfter: string;
  /** The time when the bureau first said that it was at work (ISO 8601 UTC). Absent before. */
  readonly pendingSince?: string;
  /** Whether the bureau's answer could not be classified. */
  readonly unintelligible?: true;
}

/** The end of an attempt that brought no report. */
export type PullEnd =
  | {
      readonly kind: 'refused';
      readonly attemptId: string;
      readonly reason: PullRefusal;
      readonly upstreamCode: number | null;
      readonly refusedAt?: string;
    }
  | { readonly kind: 'failed'; readonly attemptId: string; readonly cause: PullFailure; readonly failedAt?: string };

interface BeforePulls {
  /** Refunded payments, for which no report is pulled. */
  readonly endedFor: readonly PullsEnded[];
  /** Transactions that count for newer sessions. This session pulls no report for these transactions. */
  readonly carriedOver: readonly string[];
}

interface Known extends BeforePulls {
  /** Chosen with the first attempt, and the same for all attempts. */
  readonly reportId: string;
  readonly subjectId: string;
  /** The number of pulls that were begun. */
  readonly attempts: number;
  /** The bureau's key of the attempt whose end is unknown; null if the ends of all attempts are known. */
  readonly unresolved: string | null;
  /** The time of the bureau's first refusal, ISO 8601 UTC; null before a refusal, or when its time was not recorded. */
  readonly firstRefusedAt: string | null;
}

export type RequestedReport = Known & { readonly status: 'REQUESTED'; readonly attempt: PullAttempt };
export type ReleasedReport = Known & {
  readonly status: 'RELEASED';
  readonly attemptId: string;
  readonly generatedAt: string;
  readonly expiresAt: string;
  readonly scored: boolean;
  readonly bodyDigest?: string;
};

export type ReportState =
  | (BeforePulls & { readonly status: 'NONE' })
  | RequestedReport
  | (Known & { readonly status: 'NOT_TO_BE_HAD'; readonly end: PullEnd })
  | ReleasedReport;

export type ReportCommand =
  /**
   * `reportId` has its effect only the first time. Does nothing unless `attemptId` is the next one, so that an ended attempt never restarts. The
   * command also does nothing when the last attempt ended with the same `lost`.
   */
  | {
      readonly kind: 'request';
      readonly sessionId: string;
      readonly reportId: string;
      readonly attemptId: string;
      readonly purpose: PermissiblePurpose;
      readonly subjectId: string;
      /** The transaction that pays for the pull; null if no payment is needed. */
      readonly paidBy: string | null;
      readonly settleAfter: Date;
      readonly giveUpAfter: Date;
      /** The reason why the bureau cannot be asked at all, since `now`. Absent when the bureau can be asked. */
      readonly lost?: { readonly cause: FinalFailure; readonly now: Date };
    }
  /** Throws while a pull is in progress, and when the report is released unless `evenIfReleased`. */
  | {
      readonly kind: 'end-pulls';
      readonly transactionId: string;
      readonly reasonCode: RefundReason;
      readonly evenIfReleased: boolean;
    }
  /** Does nothing while a pull is in progress, and when the report is released. */
  | { readonly kind: 'carry-over'; readonly transactionId: string }
  | {
      readonly kind: 'release';
      readonly now: Date;
      readonly attemptId: string;
      readonly scored: boolean;
      readonly bodyDigest?: string;
      readonly validitySeconds: number;
    }
  | {
      readonly kind: 'refuse';
      readonly now: Date;
      readonly attemptId: string;
      readonly reason: PullRefusal;
      readonly upstreamCode: number | null;
    }
  | {
      readonly kind: 'fail';
      readonly now: Date;
      readonly attemptId: string;
      readonly cause: Exclude<PullFailure, 'NO_VERDICT' | 'VENDOR_UNAVAILABLE'>;
    }
  /** The bureau is still at work. */
  | { readonly kind: 'await'; readonly now: Date; readonly attemptId: string; readonly lookAgainAfter: number }
  /** The bureau gave no verdict, or was not asked. */
  | {
      readonly kind: 'no-verdict';
      readonly now: Date;
      readonly attemptId: string;
      readonly reason: 'unavailable' | 'timed-out' | 'unintelligible';
    };

/** Each screening session has one report stream, with the session's id. */
export const report: Decider<ReportState, ReportCommand, ReportEvent> = {
  category: 'report',
  initial: { status: 'NONE', endedFor: [], carriedOver: [] },
  decide,
  evolve,
};

/** The id of the next pull. The id is derived, so that every process that makes this pull reserves the same credit. */
export function nextAttemptId(sessionId: string, state: ReportState): string {
  return derivedId('report-pull', sessionId, String(state.status === 'NONE' ? 1 : state.attempts + 1));
}

function decide(command: ReportCommand, state: ReportState): readonly ReportEvent[] {
  switch (command.kind) {
    case 'request':
      return request(command, state);
    case 'end-pulls': {
      const { transactionId, reasonCode, evenIfReleased } = command;
      if (endFor(state, transactionId)) return [];
      if (state.status === 'REQUESTED') throw new DomainError('payment.report_under_way');
      const released = state.status === 'RELEASED';
      if (released && !evenIfReleased) throw new DomainError('payment.report_released');
      return [{ type: 'ReportPullsEnded', data: { transactionId, reasonCode, ...(released && { released }) } }];
    }
    case 'carry-over': {
      const { transactionId } = command;
      const isBusy = state.status === 'REQUESTED' || state.status === 'RELEASED';
      return isBusy || state.carriedOver.includes(transactionId)
        ? []
        : [{ type: 'ReportPaymentCarriedOver', data: { transactionId } }];
    }
    case 'release': {
      if (!isPending(state, command.attemptId)) return [];
      const generatedAt = command.now.toISOString();
      const expiresAt = new Date(command.now.getTime() + command.validitySeconds * 1_000).toISOString();
      return [
        {
          type: 'ReportReleased',
          data: {
            reportId: state.reportId,
            attemptId: command.attemptId,
            generatedAt,
            expiresAt,
            scored: command.scored,
            ...(command.bodyDigest !== undefined && { bodyDigest: command.bodyDigest }),
          },
        },
      ];
    }
    case 'refuse': {
      const { now, attemptId, reason, upstreamCode } = command;
      const refusedAt = now.toISOString();
      return isPending(state, attemptId)
        ? [{ type: 'ReportPullRefused', data: { attemptId, reason, upstreamCode, refusedAt } }]
        : [];
    }
    case 'fail':
      return isPending(state, command.attemptId) ? [failed(command)] : [];
    case 'await':
      return isPending(state, command.attemptId) ? awaited(command, state.attempt) : [];
    case 'no-verdict':
      return isPending(state, command.attemptId) ? withoutVerdict(command, state.attempt) : [];
    default:
      return command satisfies never;
  }
}

function request(command: Extract<ReportCommand, { kind: 'request' }>, state: ReportState): readonly ReportEvent[] {
  const { sessionId, attemptId, purpose, paidBy, settleAfter, giveUpAfter, lost } = command;
  if (state.status === 'REQUESTED' || state.status === 'RELEASED' || attemptId !== nextAttemptId(sessionId, state))
    return [];
  if (paidBy !== null && (endFor(state, paidBy) || state.carriedOver.includes(paidBy)))
    throw new DomainError('report.consumer_has_not_paid');
  if (state.status === 'NOT_TO_BE_HAD' && state.end.kind === 'failed' && state.end.cause === lost?.cause) return [];
  const { reportId, subjectId } = state.status === 'NONE' ? command : state;
  const inquiry = state.status === 'NONE' || state.unresolved === null ? {} : { inquiryId: state.unresolved };
  return [
    {
      type: 'ReportRequested',
      data: {
        reportId,
        attemptId,
        ...inquiry,
        purpose,
        subjectId,
        settleAfter: settleAfter.toISOString(),
        giveUpAfter: giveUpAfter.toISOString(),
      },
    },
    ...(lost ? [failed({ attemptId, ...lost })] : []),
  ];
}

const FINAL: ReadonlySet<PullFailure> = new Set<FinalFailure>(['VENDOR_SESSION_OVER', 'PERSON_ERASED']);

function failed({
  attemptId,
  cause,
  now,
}: Pick<Extract<ReportCommand, { kind: 'fail' }>, 'attemptId' | 'cause' | 'now'>): ReportEvent {
  const failedAt = now.toISOString();
  return { type: 'ReportPullFailed', data: { attemptId, cause, ...(FINAL.has(cause) && { failedAt }) } };
}

/** A bureau that is at work for longer has lost the order. */
const LONGEST_WORK_MS = 86_400_000;

function awaited(
  { now, lookAgainAfter }: Pick<Extract<ReportCommand, { kind: 'await' }>, 'now' | 'lookAgainAfter'>,
  { attemptId, giveUpAfter, pendingSince }: PullAttempt,
): readonly ReportEvent[] {
  const since = pendingSince ?? now.toISOString();
  const until = pendingSince === undefined ? new Date(now.getTime() + LONGEST_WORK_MS).toISOString() : giveUpAfter;
  if (now >= new Date(until)) return [{ type: 'ReportPullFailed', data: { attemptId, cause: 'NO_VERDICT' } }];
  const lookAgainAt = nextQuery(now, { since, until }, lookAgainAfter);
  const pending = { since, lookAgainAt, giveUpAfter: until };
  return [{ type: 'ReportPullAwaited', data: { attemptId, cause: 'PENDING', pending } }];
}

function withoutVerdict(
  { now, reason }: Extract<ReportCommand, { kind: 'no-verdict' }>,
  attempt: PullAttempt,
): readonly ReportEvent[] {
  const { attemptId, settleAfter, giveUpAfter, unintelligible, pendingSince } = attempt;
  if (pendingSince !== undefined) return awaited({ now, lookAgainAfter: 0 }, attempt);
  if (now >= new Date(giveUpAfter)) return [{ type: 'ReportPullFailed', data: { attemptId, cause: 'NO_VERDICT' } }];
  // After this time the bureau is asked again. An answer without a verdict now does not show what happened to the first request.
  if (now >= new Date(settleAfter)) return [];
  if (reason === 'unavailable') return [{ type: 'ReportPullFailed', data: { attemptId, cause: 'VENDOR_UNAVAILABLE' } }];
  return reason === 'unintelligible' && !unintelligible
    ? [{ type: 'ReportPullAwaited', data: { attemptId, cause: 'VENDOR_UNINTELLIGIBLE' } }]
    : [];
}

/** Undefined while pulls for that payment may begin. */
export function endFor({ endedFor }: ReportState, transactionId: string): PullsEnded | undefined {
  return endedFor.find((ended) => ended.transactionId === transactionId);
}

/** Whether the end of this attempt is still unknown. */
export function isPending(state: ReportState, attemptId: string): state is RequestedReport {
  return state.status === 'REQUESTED' && state.attempt.attemptId === attemptId;
}

/** The whole seconds until a refused pull may be repeated. With 0, the next request asks the bureau at once. */
export function secondsToNextPull(state: ReportState, now: Date, intervalSeconds: number): number {
  if (state.status !== 'NOT_TO_BE_HAD' || state.end.kind !== 'refused' || state.end.refusedAt === undefined) return 0;
  const waitMs = Date.parse(state.end.refusedAt) + intervalSeconds * 1_000 - now.getTime();
  return Math.max(0, Math.ceil(waitMs / 1_000));
}

/** Whether the report has expired for its owner. A recipient's time belongs to the share. */
export function isExpired(released: ReleasedReport, now: Date): boolean {
  return now >= new Date(released.expiresAt);
}

function evolve(state: ReportState, event: ReportEvent): ReportState {
  if (event.type === 'ReportPullsEnded') return { ...state, endedFor: [...state.endedFor, event.data] };
  if (event.type === 'ReportPaymentCarriedOver')
    return { ...state, carriedOver: [...state.carriedOver, event.data.transactionId] };
  if (event.type === 'ReportRequested') {
    const { reportId, subjectId, attemptId, inquiryId = attemptId, settleAfter, giveUpAfter } = event.data;
    const { attempts, unresolved, firstRefusedAt } =
      state.status === 'NONE' ? { attempts: 0, unresolved: null, firstRefusedAt: null } : state;
    return {
      status: 'REQUESTED',
      reportId,
      subjectId,
      endedFor: state.endedFor,
      carriedOver: state.carriedOver,
      attempts: attempts + 1,
      unresolved,
      firstRefusedAt,
      attempt: { attemptId, inquiryId, settleAfter, giveUpAfter },
    };
  }
  if (state.status === 'NONE') return state;
  if (event.type === 'ReportPullAwaited')
    return isPending(state, event.data.attemptId)
      ? { ...state, attempt: { ...state.attempt, ...waiting(event.data) } }
      : state;
  const known: Known = {
    reportId: state.reportId,
    subjectId: state.subjectId,
    endedFor: state.endedFor,
    carriedOver: state.carriedOver,
    attempts: state.attempts,
    unresolved: null,
    firstRefusedAt: state.firstRefusedAt,
  };
  switch (event.type) {
    case 'ReportReleased': {
      const { attemptId, generatedAt, expiresAt, scored, bodyDigest } = event.data;
      const digest = bodyDigest === undefined ? {} : { bodyDigest };
      return { ...known, status: 'RELEASED', attemptId, generatedAt, expiresAt, scored, ...digest };
    }
    case 'ReportPullRefused':
      return {
        ...known,
        status: 'NOT_TO_BE_HAD',
        firstRefusedAt: state.firstRefusedAt ?? event.data.refusedAt ?? null,
        end: { kind: 'refused', ...event.data },
      };
    case 'ReportPullFailed':
      return {
        ...known,
        status: 'NOT_TO_BE_HAD',
        unresolved: unresolvedAfter(event.data.cause, state),
        end: { kind: 'failed', ...event.data },
      };
    default:
      return assertNever(event, state);
  }
}

function waiting({ pending }: Extract<ReportEvent, { type: 'ReportPullAwaited' }>['data']): Partial<PullAttempt> {
  if (pending === undefined) return { unintelligible: true };
  const { since: pendingSince, lookAgainAt: settleAfter, giveUpAfter } = pending;
  return { pendingSince, settleAfter, giveUpAfter };
}

/** The seconds until the bureau that is at work is asked again; null if it has not said that it is at work. */
export function secondsToNextQuery({ pendingSince, settleAfter }: PullAttempt, now: Date): number | null {
  return pendingSince === undefined ? null : Math.max(1, Math.ceil((Date.parse(settleAfter) - now.getTime()) / 1_000));
}

/** If this attempt failed before the bureau was asked, the end of an earlier request under the same key is still unknown. */
function unresolvedAfter(cause: PullFailure, state: Known & { readonly attempt?: PullAttempt }): string | null {
  if (cause === 'NO_VERDICT' || cause === 'CREDIT_EXHAUSTED') return state.attempt?.inquiryId ?? state.unresolved;
  return state.unresolved;
}
