import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ChallengeService } from '../../../challenges/application/challenge-service.js';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { party } from '../domain/party-decider.js';
import { PartyChallenges } from './party-challenges.js';

/**
 * Settles a call of a re-authentication that has no recorded verdict. The process of the call died or the vendor was late, so the use case asks the
 * vendor for the result. Safe to repeat.
 */
@UseCase()
export class SettleReauthentication extends Command<void> {
  constructor(
    readonly partyId: string,
    /** Aborted when the time limit for the vendor's answer has passed. */
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

@Handles(SettleReauthentication)
export class SettleReauthenticationHandler implements ICommandHandler<SettleReauthentication> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly challenges: ChallengeService,
    private readonly parties: PartyChallenges,
    private readonly clock: Clock,
  ) {}

  async execute({ partyId: id, signal }: SettleReauthentication): Promise<void> {
    const known = await this.aggregates.load(party, id);
    const { attempt } = known.state;
    if (!attempt || this.clock.now() < new Date(attempt.settleAfter)) return;
    const context = systemContext('party-sweep', known.owner);
    await this.challenges.settle(this.parties, { id, attemptId: attempt.attemptId, context, known }, signal);
  }
}
