import { Query, type IQueryHandler } from '@nestjs/cqrs';
import { isId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { screenedPerson } from '../domain/screened-person.js';
import { screeningSession } from '../domain/screening-session.js';

export interface PartiesBehind {
  readonly subjectId: string | null;
  readonly partyIds: readonly string[];
}

const NONE: PartiesBehind = { subjectId: null, partyIds: [] };

/**
 * Finds the parties under which a session's person was registered, by their `PartyFacts.partyId`, and the person's vault subject. When the erasure of
 * the person is recorded, it finds none, because a party may have stored another token since.
 */
@UseCase()
export class FindPartiesBehind extends Query<PartiesBehind> {
  constructor(readonly sessionId: string) {
    super();
  }
}

@Handles(FindPartiesBehind)
export class FindPartiesBehindHandler implements IQueryHandler<FindPartiesBehind> {
  constructor(private readonly aggregates: AggregateStore) {}

  async execute({ sessionId }: FindPartiesBehind): Promise<PartiesBehind> {
    const loaded = isId(sessionId) ? await this.aggregates.load(screeningSession, sessionId) : null;
    if (loaded === null || loaded.state.status === 'NONE') return NONE;
    const { subjectId, personId } = loaded.state;
    const { state: person } = await this.aggregates.load(screenedPerson, personId);
    if (person.erasedSubjects.includes(subjectId)) return NONE;
    const partyIds = new Set<string>();
    for (const id of new Set([sessionId, ...person.sessionIds])) {
      const { state } = await this.aggregates.load(screeningSession, id);
      if (state.status !== 'NONE' && state.subjectId === subjectId && state.partyId !== undefined)
        partyIds.add(state.partyId);
    }
    return { subjectId, partyIds: [...partyIds] };
  }
}
