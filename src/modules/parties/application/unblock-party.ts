import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { party } from '../domain/party-decider.js';

/** Ends the lock of the party itself before its time. Returns false if the party is not locked, or if no party has the id. Safe to repeat. */
@UseCase()
export class UnblockParty extends Command<boolean> {
  constructor(
    readonly partyId: string,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(UnblockParty)
export class UnblockPartyHandler implements ICommandHandler<UnblockParty> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly clock: Clock,
  ) {}

  async execute({ partyId, context }: UnblockParty): Promise<boolean> {
    const loaded = await this.aggregates.load(party, partyId);
    const owned = { ...context, ...loaded.owner };
    const command = { kind: 'unlock', now: await this.clock.of(owned) } as const;
    const { events } = await this.aggregates.execute(party, partyId, command, owned);
    return events.length > 0;
  }
}
