import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { expiresAt, isOverdue, screeningSession } from '../domain/screening-session.js';

/** Ends a session whose step-up was not answered in time. Safe to repeat. */
@UseCase()
export class ExpireSession extends Command<void> {
  constructor(readonly sessionId: string) {
    super();
  }
}

@Handles(ExpireSession)
export class ExpireSessionHandler implements ICommandHandler<ExpireSession> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId }: ExpireSession): Promise<void> {
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (loaded.owner === null) return;
    const now = await this.clock.of(loaded.owner, expiresAt(loaded.state));
    if (!isOverdue(loaded.state, now)) return;
    try {
      const context = { ...systemContext('screening-sweep', loaded.owner), at: now };
      await this.aggregates.execute(
        screeningSession,
        { id: sessionId, known: loaded },
        { kind: 'expire', now },
        context,
      );
    } catch (error) {
      // On a read-only copy, the session keeps its recorded state.
      if (!(error instanceof DomainError && error.code === 'service.read_only')) throw error;
    }
  }
}
