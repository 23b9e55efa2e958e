import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext, Owner } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { KnownPersons } from '../../../published/known-persons.js';
import { Screenings } from '../../../published/screenings.js';
import { screenedPerson, sessionsIn } from '../domain/screened-person.js';
import { screeningSession } from '../domain/screening-session.js';
import type { Session } from '../domain/session.js';
import { PersonAnswers, streamsOf } from './person-answers.js';

export interface Unblocked {
  /** False if the person was not locked and had no counted wrong answers. */
  readonly changed: boolean;
  /** Parties whose own lock may come from this person (see published/parties.ts). Some of the ids may not belong to a party. */
  readonly partyIds: readonly string[];
}

/** Ends the lock of a session's person before its time, under all names of the person. Safe to repeat. */
@UseCase()
export class UnblockPerson extends Command<Unblocked> {
  constructor(
    readonly sessionId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(UnblockPerson)
export class UnblockPersonHandler implements ICommandHandler<UnblockPerson> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly answers: PersonAnswers,
    private readonly persons: KnownPersons,
    private readonly screenings: Screenings,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, context: asked }: UnblockPerson): Promise<Unblocked> {
    const { session, owner } = await this.find(sessionId);
    const context = { ...asked, ...owner };
    const sessionIds = sessionsIn(await this.answers.load(streamsOf(session)));
    const now = await this.clock.of(context);
    const names = new Set<string>();
    const partyIds = new Set<string>();
    let changed = false;
    for (const id of new Set([sessionId, ...sessionIds])) {
      const { state, events } = await this.aggregates.execute(
        screeningSession,
        id,
        { kind: 'lift-block', now },
        context,
      );
      if (state.status === 'NONE') continue;
      changed ||= events.length > 0;
      for (const name of await this.namesOf(id, streamsOf(state), context)) names.add(name);
      if (state.partyId !== undefined) partyIds.add(state.partyId);
    }
    for (const name of names) {
      const command = { kind: 'unlock', now, sessionId } as const;
      const { state, events } = await this.aggregates.execute(screenedPerson, name, command, context);
      changed ||= events.length > 0;
      if (state.lockedBy !== null) partyIds.add(state.lockedBy);
    }
    return { changed, partyIds: [...partyIds] };
  }

  private async find(sessionId: string): Promise<{ readonly session: Session; readonly owner: Owner }> {
    const loaded = isId(sessionId) ? await this.aggregates.load(screeningSession, sessionId) : null;
    if (!loaded?.owner || loaded.state.status === 'NONE')
      throw new DomainError('screening.not_found', { field: 'session' });
    return { session: loaded.state, owner: loaded.owner };
  }

  /** The person's names, including the name from the vendor's token while the vault keeps the token. */
  private async namesOf(id: string, streams: readonly string[], context: ActionContext): Promise<readonly string[]> {
    const token = await this.screenings.identityToken(id);
    return token === null ? streams : this.persons.idsOf(id, token, context);
  }
}
