import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { derivedId } from '../../../kernel/ids.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { TestTraffic } from '../../../platform/aggregates/test-traffic.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { party } from '../domain/party-decider.js';
import { PartyAccess, type NamedParty } from './party-access.js';
import { PartySecrets } from './party-secrets.js';

/** Stores a token that the integrator got from the vendor. The party is then known, but not confirmed. */
@UseCase()
export class StoreVendorToken extends Command<void> {
  constructor(
    readonly named: NamedParty,
    /** Never in logs or events. */
    readonly token: string,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(StoreVendorToken)
export class StoreVendorTokenHandler implements ICommandHandler<StoreVendorToken> {
  constructor(
    private readonly access: PartyAccess,
    private readonly aggregates: AggregateStore,
    private readonly testTraffic: TestTraffic,
    private readonly secrets: PartySecrets,
    private readonly clock: Clock,
  ) {}

  async execute({ named, token, context }: StoreVendorToken): Promise<void> {
    const { partyId } = await this.access.look(await this.access.idOf(named, context), context);
    this.testTraffic.admit(context);
    // The token verifies no person, so it gets a subject of its own.
    let subjectId = derivedId('party-token', partyId);
    // Each erasure gives the party another subject.
    while ((await this.secrets.keepToken(subjectId, partyId, token)) === 'erased')
      subjectId = derivedId('party-token', subjectId);
    const storedAt = (await this.clock.of(context)).toISOString();
    await this.aggregates.execute(
      party,
      partyId,
      { kind: 'store-token', of: named.kind, subjectId, storedAt },
      context,
    );
  }
}
