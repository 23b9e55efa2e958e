import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext, CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Vault } from '../../../ports/vault.js';
import { Holds } from '../../../published/holds.js';
import { Screenings } from '../../../published/screenings.js';
import type { PartyState } from '../domain/party.js';
import { party } from '../domain/party-decider.js';
import type { NamedParty } from './party-access.js';
import { PartyIds } from './party-ids.js';

/** Names a party, either by the integrator's id in the context's account or by the id that the party's sessions contain. */
export type PartyToErase =
  | { readonly named: NamedParty; readonly context: CallerContext }
  /** `person`: the vault subject of the person whose erasure includes the token. */
  | { readonly partyId: string; readonly context: ActionContext; readonly person?: string };

/** Destroys the data key of a party's stored token, if the party has one. Safe to repeat. The party may store another token afterwards. */
@UseCase()
export class EraseVendorToken extends Command<{ readonly subjectId: string | null }> {
  constructor(readonly party: PartyToErase) {
    super();
  }
}

@Handles(EraseVendorToken)
export class EraseVendorTokenHandler implements ICommandHandler<EraseVendorToken> {
  constructor(
    private readonly ids: PartyIds,
    private readonly aggregates: AggregateStore,
    private readonly vault: Vault,
    private readonly holds: Holds,
    private readonly screenings: Screenings,
  ) {}

  async execute({ party: asked }: EraseVendorToken): Promise<{ readonly subjectId: string | null }> {
    const partyId =
      'named' in asked ? await this.ids.of(asked.named.kind, asked.named.id, asked.context) : asked.partyId;
    const loaded = partyId === null ? null : await this.aggregates.load(party, partyId);
    if (partyId === null || !loaded?.state.kind) throw new DomainError('request.not_found', { field: 'party' });
    const { state, owner } = loaded;
    const subjectId = state.token?.subjectId ?? null;
    if (subjectId === null) return { subjectId };
    const context = { ...asked.context, ...owner };
    const accountId = context.accountId;
    const subjectIds = [subjectId, ...(await this.personsOf(state)), ...('person' in asked ? [asked.person] : [])];
    const erasure = { kind: 'party', id: partyId, accountId, subjectIds, sessionIds: 'all' } as const;
    await this.holds.refuseIfHeld(erasure, context);
    await this.vault.erase(subjectId);
    // The event is recorded only now, because it must not report an erasure that has not happened.
    const command = { kind: 'record-token-erasure', subjectId } as const;
    await this.aggregates.execute(party, partyId, command, context);
    await this.holds.erased(erasure, context);
    return { subjectId };
  }

  /** The vault subjects of the persons who registered under the party's id. A hold on such a person also covers the token. */
  private async personsOf({ registrations }: PartyState): Promise<readonly string[]> {
    const sessions = await Promise.all(registrations.map(({ sessionId }) => this.screenings.find(sessionId)));
    return sessions.flatMap((session) => (session === null ? [] : [session.subjectId]));
  }
}
