import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { repliesUntil } from '../domain/party.js';
import { party } from '../domain/party-decider.js';
import { PartySecrets } from './party-secrets.js';

/** A caller can get the vendor's reply again within this time, as in screening sessions. */
const REPLY_KEPT_MS = 3_600_000;

/** Replies from before this time are destroyed. */
export function keptSince(now: Date): Date {
  return new Date(now.getTime() - REPLY_KEPT_MS);
}

/** Destroys the vendor's old replies to calls of a party. Safe to repeat. */
@UseCase()
export class DiscardPartyReplies extends Command<void> {
  constructor(readonly partyId: string) {
    super();
  }
}

@Handles(DiscardPartyReplies)
export class DiscardPartyRepliesHandler implements ICommandHandler<DiscardPartyReplies> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: PartySecrets,
    private readonly clock: Clock,
  ) {}

  async execute({ partyId }: DiscardPartyReplies): Promise<void> {
    const until = keptSince(this.clock.now());
    const loaded = await this.aggregates.load(party, partyId);
    for (const { attemptId, subjectId } of repliesUntil(loaded.state, until))
      await this.secrets.forgetAnswer(subjectId, partyId, attemptId);
    const context = systemContext('party-sweep', loaded.owner);
    await this.aggregates.execute(
      party,
      { id: partyId, known: loaded },
      { kind: 'record-replies-discarded', until },
      context,
    );
  }
}
