import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { report } from '../domain/report.js';
import { ReportPull } from './report-pull.js';

/** Repeats a pull that has no recorded verdict, under the same attempt. The process of the pull died, or the bureau was late. Safe to repeat. */
@UseCase()
export class SettleReport extends Command<void> {
  constructor(
    readonly sessionId: string,
    /** Aborted when the time limit for the bureau's answer has passed. */
    readonly signal: AbortSignal,
  ) {
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

  async execute({ sessionId, signal }: SettleReport): Promise<void> {
    const { state, owner } = await this.aggregates.load(report, sessionId);
    if (state.status !== 'REQUESTED' || this.clock.now() < new Date(state.attempt.settleAfter)) return;
    const { attemptId } = state.attempt;
    const { subjectId: subject } = state;
    const attempt = { id: sessionId, attemptId, subject, context: systemContext('report-sweep', owner) };
    await this.pull.askAndRecord({ ...vendorCall(attempt), signal }, attempt);
  }
}
