import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { report, type ReportState } from '../domain/report.js';
import { ReportPull } from './report-pull.js';

/**
 * Looks after a pull that nobody recorded a verdict of (its process died, or the bureau was late): makes it again under the same
 * attempt. Safe to repeat.
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
    private readonly pull: ReportPull,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId }: SettleReport): Promise<ReportState> {
    const { state, owner } = await this.aggregates.load(report, sessionId);
    if (state.status !== 'REQUESTED' || this.clock.now() < new Date(state.attempt.settleAfter)) return state;
    const { attemptId } = state.attempt;
    const context = systemContext('report-sweep', owner);
    await this.pull.askAndRecord(vendorCall(attemptId, state.subjectId, context), {
      id: sessionId,
      attemptId,
      subject: state.subjectId,
      context,
    });
    return (await this.aggregates.load(report, sessionId)).state;
  }
}
