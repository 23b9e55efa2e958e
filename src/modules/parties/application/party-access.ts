import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Accounts } from '../../../published/accounts.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import type { PartyKind, PartyState } from '../domain/party.js';
import { party } from '../domain/party-decider.js';
import { lockOf, PartyDirectory } from './party-directory.js';
import { PartyIds } from './party-ids.js';

/** The party that a request names. `id` is the integrator's id, decoded from the path. */
export interface NamedParty {
  readonly kind: PartyKind;
  readonly id: string;
}

export interface FoundParty {
  readonly partyId: string;
  readonly loaded: LoadedAggregate<PartyState>;
  /** The session of the party's newest registration; null without a session. */
  readonly newest: ScreeningFacts | null;
}

/** Finds parties for the integrator that owns them. */
@Injectable()
export class PartyAccess {
  constructor(
    private readonly ids: PartyIds,
    private readonly aggregates: AggregateStore,
    private readonly directory: PartyDirectory,
    private readonly accounts: Accounts,
    private readonly clock: Clock,
  ) {}

  /** The service's own id for the party, even if the party does not exist. An impossible id of the integrator is refused like an unknown id. */
  async idOf({ kind, id }: NamedParty, context: CallerContext): Promise<string> {
    const partyId = await this.ids.of(kind, id, context);
    if (partyId === null) throw unknownParty(kind);
    return partyId;
  }

  /** Throws for an unknown party, and for a party that is locked after wrong answers. A locked party gets this refusal for every call. */
  async find(named: NamedParty, context: CallerContext): Promise<FoundParty> {
    const found = await this.look(await this.idOf(named, context), context);
    if (found.loaded.state.kind === null) throw unknownParty(named.kind);
    return found;
  }

  /** Like `find`, for a party that may not exist yet. */
  async look(partyId: string, context: CallerContext): Promise<FoundParty> {
    const loaded = await this.aggregates.load(party, partyId);
    const newest = await this.directory.newestSession(loaded.state);
    const blockedUntil = lockOf(loaded.state, newest, await this.clock.of(context));
    if (blockedUntil !== null) throw new DomainError('party.locked', { blockedUntil });
    return { partyId, loaded, newest };
  }

  /** Throws for live traffic of an account that is not provisioned for live traffic, because this traffic must not reach a vendor. */
  async admitAccount({ accountId, environment }: CallerContext): Promise<void> {
    const account = await this.accounts.find(accountId);
    if (!account) throw new DomainError('request.unauthenticated');
    if (!this.accounts.mayReachVendors(account, environment)) throw new DomainError('account.not_live');
  }
}

function unknownParty(kind: PartyKind): DomainError {
  return new DomainError(kind === 'renter' ? 'party.renter_unknown' : 'party.recipient_unknown');
}
