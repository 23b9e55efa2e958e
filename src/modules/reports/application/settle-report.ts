import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { CreditBureau } from '../../../ports/credit-bureau.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { Screenings } from '../../../published/screenings.js';
import { report, type ReportState } from '../domain/report.js';
import { ReportPullOutcome } from './report-pull-outcome.js';

/**
 * Looks after a pull that nobody recorded a verdict of (its process died, or the bureau was late): sees to it that its credit is
 * set aside, and asks again under the same attempt, which is billed once. Safe to repeat.
 */
@UseCase()
export class SettleReport extends Command<ReportState> {
  constructor(readonly sessionId: string) {
    super();
  }
}

@Handles(SettleReport)
export class SettleReportHandler implements ICommandHandler<SettleReport> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly screenings: Screenings,
    private readonly bureau: CreditBureau,
    private readonly settling: ReportPullOutcome,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId }: SettleReport): Promise<ReportState> {
    const known = await this.aggregates.load(report, sessionId);
    const { state: requested, owner } = known;
    if (requested.status !== 'REQUESTED' || this.clock.now() < new Date(requested.attempt.settleAfter))
      return requested;
    const accountId = owner?.accountId;
    if (!accountId) throw new Error(`The report of session ${sessionId} belongs to no account`);
    const context = systemContext('report-sweep', owner);
    const pull = { sessionId, accountId, requested, context, known };
    const { attemptId, inquiryId } = requested.attempt;
    const ended = await this.settling.endedForCredit(pull);
    if (ended !== null) return ended;
    const vendorSession = await this.screenings.vendorSession(sessionId);
    if (vendorSession === null) return this.settling.record(pull, { kind: 'fail', attemptId, cause: 'PERSON_ERASED' });
    const verdict = await this.bureau.pullReport(vendorCall(inquiryId, requested.subjectId, context), vendorSession);
    switch (verdict.kind) {
      case 'report':
      case 'refused':
      case 'session-over':
        return this.settling.settle(pull, verdict);
      // That it cannot be asked now says nothing about the first time.
      case 'unavailable':
      case 'timed-out':
      case 'unintelligible':
        return this.settling.record(pull, { kind: 'give-up', now: this.clock.now(), attemptId });
      default:
        return verdict satisfies never;
    }
  }
}
