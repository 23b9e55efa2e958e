import { Injectable } from '@nestjs/common';
import { type Attempt, ExternalCall } from '../../../external-calls/external-call.js';
import { Clock } from '../../../kernel/clock.js';
import { DomainError, type DomainErrorDetail } from '../../../kernel/domain-error.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import type { VendorReply } from '../../../kernel/vendor-reply.js';
import type { VendorSubject } from '../../../kernel/vendor-subject.js';
import { CreditBureau, type ReportVerdict } from '../../../ports/credit-bureau.js';
import { Vault } from '../../../ports/vault.js';
import type { VendorCall } from '../../../ports/vendor-call.js';
import { Vendors } from '../../../ports/vendors.js';
import { PrepaidCredit } from '../../../published/prepaid-credit.js';
import { Screenings } from '../../../published/screenings.js';
import {
  isPending,
  report,
  secondsToNextQuery,
  type FinalFailure,
  type PullAttempt,
  type PullEnd,
  type PullRefusal,
  type ReportCommand,
  type ReportState,
  type RequestedReport,
} from '../domain/report.js';
import { keepBody, keepRefusal } from './report-bodies.js';
import { ReportPolicy } from './report-policy.js';

/**
 * One pull of a report: it reserves the credit, asks the bureau, records the verdict and settles the credit. A pull without a recorded verdict is
 * repeated, because the bureau bills an inquiry only once. The attempt's context belongs to the account that pays.
 */
@Injectable()
export class ReportPull extends ExternalCall<null> {
  override readonly vendor = 'credit-bureau';
  override readonly operation = 'pullReport';
  override readonly semantics = 'idempotent';

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly bureau: CreditBureau,
    private readonly vendors: Vendors,
    private readonly vault: Vault,
    private readonly credit: PrepaidCredit,
    private readonly policy: ReportPolicy,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, attempt: Attempt): Promise<void> {
    const known = await this.aggregates.load(report, attempt.id);
    if (!isPending(known.state, attempt.attemptId)) return;
    await this.record(attempt, await this.outcomeOf(call, attempt, known.state), known);
  }

  override async recordNotAsked(attempt: Attempt): Promise<void> {
    await this.record(attempt, this.noVerdict(attempt, 'unavailable'));
  }

  /** The person of a verified session as the bureau knows them, or the reason why the bureau can never be asked about the person. */
  async referenceOf(
    sessionId: string,
  ): Promise<{ readonly vendor: string; readonly subject: VendorSubject } | FinalFailure> {
    const { vendor, subject = null } = (await this.screenings.reference(sessionId, 'credit')) ?? {};
    if (vendor !== undefined && subject !== null) return { vendor, subject };
    return (await this.screenings.reportProspect(sessionId)) === 'person-erased'
      ? 'PERSON_ERASED'
      : 'VENDOR_SESSION_OVER';
  }

  private async outcomeOf(
    call: VendorCall,
    attempt: Attempt,
    { attempt: { inquiryId }, subjectId, reportId }: RequestedReport,
  ): Promise<ReportCommand> {
    const { id, attemptId, context } = attempt;
    const now = (): Date | Promise<Date> => this.clock.of(context);
    // The failure is recorded once for all callers that wait for this pull.
    const fail = async (cause: Extract<ReportCommand, { kind: 'fail' }>['cause']): Promise<ReportCommand> => ({
      kind: 'fail',
      now: await now(),
      attemptId,
      cause,
    });
    if (!(await this.credit.reserve(payerOf(attempt), attemptId, context, id))) return fail('CREDIT_EXHAUSTED');
    const reference = await this.referenceOf(id);
    if (typeof reference === 'string') return fail(reference);
    const { vendor, subject } = reference;
    const verdict = await this.bureau.pullReport({ ...call, attemptId: inquiryId, vendor }, subject);
    // The vault stores the reply before the log records the attempt's end.
    const passedOn = await this.passedOn(id, vendor, verdict);
    if (passedOn !== null && verdict.kind !== 'report')
      await keepRefusal(this.vault, { subjectId, reportId }, { attemptId, reply: passedOn });
    switch (verdict.kind) {
      case 'report': {
        // The vault stores the body before the log records it.
        const { score, report } = verdict;
        const body = { score, report, ...(passedOn !== null && { text: passedOn.body }) };
        const bodyDigest = await keepBody(this.vault, { subjectId, reportId }, body);
        if (bodyDigest === 'erased') return fail('PERSON_ERASED');
        return {
          kind: 'release',
          now: await now(),
          attemptId,
          scored: verdict.score !== null,
          bodyDigest,
          validitySeconds: this.policy.limits.reportValiditySeconds,
        };
      }
      case 'refused':
        return {
          kind: 'refuse',
          now: await now(),
          attemptId,
          reason: verdict.reason,
          upstreamCode: verdict.upstreamCode,
        };
      case 'session-over':
        return fail('VENDOR_SESSION_OVER');
      case 'pending':
        return { kind: 'await', now: this.clock.now(), attemptId, lookAgainAfter: verdict.lookAgainAfter };
      case 'unavailable':
      case 'timed-out':
      case 'unintelligible':
        return this.noVerdict(attempt, verdict.kind);
      default:
        return verdict satisfies never;
    }
  }

  /** The bureau's reply, if the direct API will pass it on. Only sessions of a party need the reply. */
  private async passedOn(sessionId: string, vendor: string, { reply }: ReportVerdict): Promise<VendorReply | null> {
    if (reply === undefined || !this.vendors.speaksDirect('credit', vendor)) return null;
    const session = await this.screenings.find(sessionId);
    return session === null || session.partyId === null ? null : reply;
  }

  private noVerdict(
    { attemptId }: Attempt,
    reason: Extract<ReportCommand, { kind: 'no-verdict' }>['reason'],
  ): ReportCommand {
    // The bureau's time limit goes by the machine's time.
    return { kind: 'no-verdict', now: this.clock.now(), attemptId, reason };
  }

  /** Settles the credit according to the recorded end of the attempt, even if another process recorded that end. */
  private async record(attempt: Attempt, command: ReportCommand, known?: LoadedAggregate<ReportState>): Promise<void> {
    const { id, attemptId, context } = attempt;
    const { state } = await this.aggregates.execute(report, { id, known }, command, context);
    if (state.status === 'RELEASED' && state.attemptId === attemptId)
      await this.credit.debit(payerOf(attempt), attemptId, context, id);
    else if (state.status === 'NOT_TO_BE_HAD' && state.end.attemptId === attemptId)
      await this.credit.release(payerOf(attempt), attemptId, context, id);
  }
}

function payerOf({ id, context: { accountId } }: Attempt): string {
  if (accountId === null) throw new Error(`The report of session ${id} belongs to no account`);
  return accountId;
}

/** The caller's error while the end of the attempt is not known. A bureau that is at work is asked again at a time that the caller learns. */
export function notYet(attempt: PullAttempt, now: Date, unintelligible: ErrorCode): DomainError {
  const seconds = secondsToNextQuery(attempt, now);
  if (seconds !== null) return new DomainError('service.unavailable', { retryAfterSeconds: seconds });
  return new DomainError(attempt.unintelligible ? unintelligible : 'service.upstream_timeout');
}

const REFUSED: Readonly<Record<PullRefusal, ErrorCode>> = {
  FILE_FROZEN: 'report.file_frozen',
  FILE_BLOCKED: 'report.file_blocked',
  NO_RECORD: 'report.no_record',
  MINOR: 'report.file_condition',
  FILE_CONDITION: 'report.file_condition',
};

/** The caller's error for an attempt that ended without a report. `again`: the time when a refused pull may be repeated. */
export function refusalOf(end: PullEnd, again: Pick<DomainErrorDetail, 'retryAfterSeconds'>): DomainError {
  if (end.kind === 'refused') return new DomainError(REFUSED[end.reason], { reasonCode: end.reason, ...again });
  switch (end.cause) {
    case 'VENDOR_UNAVAILABLE':
      return new DomainError('service.unavailable');
    case 'VENDOR_SESSION_OVER':
      return outOfReach();
    case 'PERSON_ERASED':
      return new DomainError('report.expired');
    case 'CREDIT_EXHAUSTED':
      return new DomainError('report.credit_exhausted');
    case 'NO_VERDICT':
      return new DomainError('service.upstream_timeout');
    default:
      return end.cause satisfies never;
  }
}

/** The session has no report, and this verification can bring none. The payment counts for the person's next session. */
function outOfReach(): DomainError {
  return new DomainError('report.expired', { reasonCode: 'REPORT_NOT_AVAILABLE' });
}
