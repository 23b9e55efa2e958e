// The credit report of one screening session: requested from the bureau, released, or not to be had for now.
// Source: docs/contract/platform.md#reports, #checks-before-a-report.
import { assertNever, type Decider } from '../../../kernel/decider.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { derivedId } from '../../../kernel/ids.js';
import type { RefundReason } from '../../../kernel/refund-reason.js';

/** Why the bureau has nothing to give: facts about the consumer's file. */
export type PullRefusal = 'FILE_FROZEN' | 'FILE_BLOCKED' | 'NO_RECORD' | 'MINOR' | 'FILE_CONDITION';
/** Why no later pull will bring a report either. */
export type FinalFailure =
  /** The vendor's session does not entitle to a report: not any more, or not at this bureau. Or the service has lost what names it. */
  'VENDOR_SESSION_OVER' | 'PERSON_ERASED';
/** Why a pull came to nothing. */
export type PullFailure =
  | FinalFailure
  | 'VENDOR_UNAVAILABLE'
  /** The account had no credit left when it was to be set aside. */
  | 'CREDIT_EXHAUSTED'
  /** Its end is not known. */
  | 'NO_VERDICT';

/** The permissible purpose under which the service pulls and shows reports: the only one that it has. */
export type PermissiblePurpose = 'TENANT_SCREENING';

export type ReportEvent =
  | DomainEvent<
      'ReportRequested',
      {
        readonly reportId: string;
        /** The name of the credit reservation, and the bureau's idempotency key unless `inquiryId` is. */
        readonly attemptId: string;
        /** The key of an earlier attempt that was given up without a verdict: the bureau may have billed it, and does so only once. */
        readonly inquiryId?: string;
        /** Absent in what was stored before it was recorded. */
        readonly purpose?: PermissiblePurpose;
        /** Under which the vault keeps the report. */
        readonly subjectId: string;
        /** ISO 8601 UTC. From then on the recovery job asks the bureau again. */
        readonly settleAfter: string;
        /** ISO 8601 UTC. From then on the attempt is given up. */
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
        /** False for a file that is too thin for a score. */
        readonly scored: boolean;
      }
    >
  | DomainEvent<
      'ReportPullRefused',
      {
        readonly attemptId: string;
        readonly reason: PullRefusal;
        readonly upstreamCode: number | null;
        /** ISO 8601 UTC. Absent in what was stored before it was recorded. */
        readonly refusedAt?: string;
      }
    >
  | DomainEvent<
      'ReportPullFailed',
      {
        readonly attemptId: string;
        readonly cause: PullFailure;
        /** ISO 8601 UTC, of a final failure. Absent in what was stored before it was recorded. */
        readonly failedAt?: string;
      }
    >
  /** The bureau gave an answer that cannot be classified. The attempt stays open: only its own key is never billed twice. */
  | DomainEvent<'ReportPullAwaited', { readonly attemptId: string; readonly cause: 'VENDOR_UNINTELLIGIBLE' }>
  /** This payment is to be given back: no pull for it begins any more. The payment hears of it after this is recorded. */
  | DomainEvent<'ReportPullsEnded', PullsEnded>
  /** This payment is to count for a newer session: no pull for it begins here any more. The payment hears of it after this is recorded. */
  | DomainEvent<'ReportPaymentCarriedOver', { readonly transactionId: string }>;

export interface PullsEnded {
  readonly transactionId: string;
  readonly reasonCode: RefundReason;
  /** The report was released before, and stays what it is. */
  readonly released?: true;
}

export interface PullAttempt {
  readonly attemptId: string;
  /** The bureau's idempotency key. */
  readonly inquiryId: string;
  readonly settleAfter: string;
  readonly giveUpAfter: string;
  /** Whether the bureau gave an answer that cannot be classified. */
  readonly unintelligible?: true;
}

/** How an attempt ended without a report. */
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
  /** Payments that are given back: nothing is pulled for them. */
  readonly endedFor: readonly PullsEnded[];
  /** Transactions that count for newer sessions: nothing is pulled for them here. */
  readonly carriedOver: readonly string[];
}

interface Known extends BeforePulls {
  /** Named with the first attempt, the same for all of them. */
  readonly reportId: string;
  readonly subjectId: string;
  /** How often a pull was begun. */
  readonly attempts: number;
  /** The bureau's key of an attempt whose end is not known; null when the bureau has told the end of all of them. */
  readonly unresolved: string | null;
  /** ISO 8601 UTC: when the bureau refused first; null when it has not, or nobody recorded the time. */
  readonly firstRefusedAt: string | null;
}

export type RequestedReport = Known & { readonly status: 'REQUESTED'; readonly attempt: PullAttempt };
export type ReleasedReport = Known & {
  readonly status: 'RELEASED';
  readonly attemptId: string;
  readonly generatedAt: string;
  readonly expiresAt: string;
  readonly scored: boolean;
};

export type ReportState =
  | (BeforePulls & { readonly status: 'NONE' })
  | RequestedReport
  | (Known & { readonly status: 'NOT_TO_BE_HAD'; readonly end: PullEnd })
  | ReleasedReport;

export type ReportCommand =
  /**
   * `reportId` counts only the first time. Decides nothing unless `attemptId` is the next one, so that an attempt that ended never begins
   * again, nor when it ended with the same `lost` before.
   */
  | {
      readonly kind: 'request';
      readonly sessionId: string;
      readonly reportId: string;
      readonly attemptId: string;
      readonly purpose: PermissiblePurpose;
      readonly subjectId: string;
      /** The transaction that it is pulled for; null where nobody has to pay first. */
      readonly paidBy: string | null;
      readonly settleAfter: Date;
      readonly giveUpAfter: Date;
      /** Why the bureau cannot even be asked, since `now`. Absent: it can. */
      readonly lost?: { readonly cause: FinalFailure; readonly now: Date };
    }
  /** Throws while a pull is under way, and when the report is released unless `evenIfReleased`. */
  | {
      readonly kind: 'end-pulls';
      readonly transactionId: string;
      readonly reasonCode: RefundReason;
      readonly evenIfReleased: boolean;
    }
  /** Decides nothing while a pull is under way, and when the report is released. */
  | { readonly kind: 'carry-over'; readonly transactionId: string }
  | {
      readonly kind: 'release';
      readonly now: Date;
      readonly attemptId: string;
      readonly scored: boolean;
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
  /** The bureau could not say it or was not asked. */
  | {
      readonly kind: 'no-verdict';
      readonly now: Date;
      readonly attemptId: string;
      readonly reason: 'unavailable' | 'timed-out' | 'unintelligible';
    };

/** One stream a screening session, named after it. */
export const report: Decider<ReportState, ReportCommand, ReportEvent> = {
  category: 'report',
  initial: { status: 'NONE', endedFor: [], carriedOver: [] },
  decide,
  evolve,
};

/** The name of the pull that would come next. Derived, so that every process that makes it sets aside the same credit. */
export function nextAttemptId(sessionId: string, state: ReportState): string {
  return derivedId('report-pull', sessionId, String(state.status === 'NONE' ? 1 : state.attempts + 1));
}

function decide(command: ReportCommand, state: ReportState): readonly ReportEvent[] {
  switch (command.kind) {
    case 'request': {
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
    case 'no-verdict':
      return isPending(state, command.attemptId) ? withoutVerdict(command, state.attempt) : [];
    default:
      return command satisfies never;
  }
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

function withoutVerdict(
  { now, reason }: Extract<ReportCommand, { kind: 'no-verdict' }>,
  { attemptId, settleAfter, giveUpAfter, unintelligible }: PullAttempt,
): readonly ReportEvent[] {
  if (now >= new Date(giveUpAfter)) return [{ type: 'ReportPullFailed', data: { attemptId, cause: 'NO_VERDICT' } }];
  // From then on the bureau is asked again; that it cannot say it now says nothing about the first time.
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

/** Whether the end of this attempt is not known yet. */
export function isPending(state: ReportState, attemptId: string): state is RequestedReport {
  return state.status === 'REQUESTED' && state.attempt.attemptId === attemptId;
}

/** Whole seconds until the bureau is asked again after it refused; 0: a request asks it at once. */
export function secondsToNextPull(state: ReportState, now: Date, intervalSeconds: number): number {
  if (state.status !== 'NOT_TO_BE_HAD' || state.end.kind !== 'refused' || state.end.refusedAt === undefined) return 0;
  const waitMs = Date.parse(state.end.refusedAt) + intervalSeconds * 1_000 - now.getTime();
  return Math.max(0, Math.ceil(waitMs / 1_000));
}

/** The owner's window; a recipient's is the share's. */
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
      ? { ...state, attempt: { ...state.attempt, unintelligible: true } }
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
      const { attemptId, generatedAt, expiresAt, scored } = event.data;
      return { ...known, status: 'RELEASED', attemptId, generatedAt, expiresAt, scored };
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

/** That the bureau could not be asked, or was not, says nothing of an earlier time under the same key. */
function unresolvedAfter(cause: PullFailure, state: Known & { readonly attempt?: PullAttempt }): string | null {
  if (cause === 'NO_VERDICT' || cause === 'CREDIT_EXHAUSTED') return state.attempt?.inquiryId ?? state.unresolved;
  return state.unresolved;
}
