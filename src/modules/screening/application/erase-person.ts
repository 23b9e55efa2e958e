import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Vault } from '../../../ports/vault.js';
import { Holds } from '../../../published/holds.js';
import { screenedPerson } from '../domain/screened-person.js';
import { screeningSession } from '../domain/screening-session.js';

/**
 * Destroys the data key of a session's person. The person's data in the vault can never be read again. The events stay, and the log still passes
 * verification. Safe to repeat: a second run finishes a run that died. Throws while a legal hold covers the person, and the erasure is remembered.
 */
@UseCase()
export class ErasePerson extends Command<{ readonly subjectId: string }> {
  constructor(
    readonly sessionId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(ErasePerson)
export class ErasePersonHandler implements ICommandHandler<ErasePerson> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vault: Vault,
    private readonly holds: Holds,
  ) {}

  async execute({ sessionId, context: asked }: ErasePerson): Promise<{ readonly subjectId: string }> {
    const loaded = isId(sessionId) ? await this.aggregates.load(screeningSession, sessionId) : null;
    if (!loaded?.owner || loaded.state.status === 'NONE')
      throw new DomainError('screening.not_found', { field: 'session' });
    const { state, owner } = loaded;
    const context = { ...asked, ...owner };
    const covered = { accountId: owner.accountId, subjectIds: [state.subjectId], sessionIds: 'all' } as const;
    const erasure = { kind: 'screening', id: sessionId, ...covered } as const;
    await this.holds.refuseIfHeld(erasure, context);
    await this.vault.erase(state.subjectId);
    // The event is recorded only now, because it must not report an erasure that has not happened.
    const person = await this.aggregates.execute(
      screenedPerson,
      state.personId,
      { kind: 'record-erasure', subjectId: state.subjectId },
      context,
    );
    for (const id of new Set([sessionId, ...person.state.sessionIds]))
      await this.aggregates.execute(screeningSession, id, { kind: 'end-erased', subjectId: state.subjectId }, context);
    await this.holds.erased(erasure, context);
    return { subjectId: state.subjectId };
  }
}
