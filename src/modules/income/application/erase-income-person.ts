import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Vault } from '../../../ports/vault.js';
import { Holds } from '../../../published/holds.js';
import { incomeSession } from '../domain/income-session.js';

/**
 * Destroys the data key of a session that has no screening. The session's report can never be read again, while the events stay and still pass
 * verification. Safe to repeat: a second run finishes an interrupted run. The person of a screening is erased with the screening's person.
 */
@UseCase()
export class EraseIncomePerson extends Command<{ readonly subjectId: string }> {
  constructor(
    readonly incomeSessionId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(EraseIncomePerson)
export class EraseIncomePersonHandler implements ICommandHandler<EraseIncomePerson> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vault: Vault,
    private readonly holds: Holds,
  ) {}

  async execute({ incomeSessionId, context: asked }: EraseIncomePerson): Promise<{ readonly subjectId: string }> {
    const field = 'session';
    const loaded = isId(incomeSessionId) ? await this.aggregates.load(incomeSession, incomeSessionId) : null;
    if (!loaded?.owner || loaded.state.status === 'NONE') throw new DomainError('request.not_found', { field });
    const { subjectId, screeningSessionId } = loaded.state;
    if (screeningSessionId !== null) {
      const message = `This income session belongs to the screening session ${screeningSessionId}; erase the person behind that one instead.`;
      throw new DomainError('request.invalid', { field, details: [{ field, message }] });
    }
    const context = { ...asked, ...loaded.owner };
    const covered = { accountId: loaded.owner.accountId, subjectIds: [subjectId], sessionIds: 'all' } as const;
    const erasure = { kind: 'income-session', id: incomeSessionId, ...covered } as const;
    await this.holds.refuseIfHeld(erasure, context);
    await this.vault.erase(subjectId);
    // The event is recorded only now, because it must not report an erasure that has not happened.
    await this.aggregates.execute(
      incomeSession,
      { id: incomeSessionId, known: loaded },
      { kind: 'record-erasure' },
      context,
    );
    await this.holds.erased(erasure, context);
    return { subjectId };
  }
}
