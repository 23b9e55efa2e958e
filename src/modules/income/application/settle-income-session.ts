import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { dueAt, incomeSession, isOpen } from '../domain/income-session.js';
import { IncomeProgress } from './income-progress.js';

/** Advances an income session that is due: starts an inquiry, asks for its outcome, or ends the session. Safe to repeat. */
@UseCase()
export class SettleIncomeSession extends Command<void> {
  constructor(
    readonly incomeSessionId: string,
    /** Aborted when the time limit for the vendor's answer has passed. */
    readonly signal: AbortSignal,
    /** Whether the vendor has sent a notice. An inquiry that the vendor has accepted is then due. */
    readonly noticed = false,
  ) {
    super();
  }
}

@Handles(SettleIncomeSession)
export class SettleIncomeSessionHandler implements ICommandHandler<SettleIncomeSession> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly progress: IncomeProgress,
    private readonly clock: Clock,
  ) {}

  async execute({ incomeSessionId, signal, noticed }: SettleIncomeSession): Promise<void> {
    const loaded = await this.aggregates.load(incomeSession, incomeSessionId);
    const { state } = loaded;
    const due = dueAt(state);
    if (due === null || (this.clock.now() < new Date(due) && !(noticed && isOpen(state) && state.attempt?.started)))
      return;
    const context = systemContext('income-sweep', loaded.owner);
    await this.progress.advance({ incomeSessionId, context, loaded }, { signal });
  }
}
