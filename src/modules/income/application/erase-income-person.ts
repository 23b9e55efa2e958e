import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Vault } from '../../../ports/vault.js';
import { incomeSession } from '../domain/income-session.js';

/**
 * Destroys the data key of a session that belongs to no screening: its report can never be read again, while the events
 * stay and verify. Repeatable; a run that died half-way is finished by the next. A person behind a screening is erased there.
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
  ) {}

  async execute({ incomeSessionId, context }: EraseIncomePerson): Promise<{ readonly subjectId: string }> {
    const field = 'session';
    const loaded = isId(incomeSessionId) ? await this.aggregates.load(incomeSession, incomeSessionId) : null;
    if (!loaded?.owner || loaded.state.status === 'NONE') throw new DomainError('request.not_found', { field });
    const { subjectId, screeningSessionId } = loaded.state;
    if (screeningSessionId !== null) {
      const message = `This income session belongs to the screening session ${screeningSessionId}; erase the person behind that one instead.`;
      throw new DomainError('request.invalid', { field, details: [{ field, message }] });
    }
    await this.vault.erase(subjectId);
    // The evidence comes after the deed: an event that says so must be true.
    await this.aggregates.execute(
      incomeSession,
      incomeSessionId,
      { kind: 'record-erasure' },
      { ...context, ...loaded.owner },
      loaded,
    );
    return { subjectId };
  }
}
