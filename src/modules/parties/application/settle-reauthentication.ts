import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { party } from '../domain/party-decider.js';
import { ReauthenticationRecorder } from './reauthentication-recorder.js';

/**
 * Settles a call of a re-authentication without a recorded verdict (its process died, or the vendor was late) by asking the
 * vendor what came of it. Safe to repeat.
 */
@UseCase()
export class SettleReauthentication extends Command<void> {
  constructor(
    readonly partyId: string,
    /** Aborted when the time for the vendor's answer is over. */
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

@Handles(SettleReauthentication)
export class SettleReauthenticationHandler implements ICommandHandler<SettleReauthentication> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vendor: IdentityVendor,
    private readonly recorder: ReauthenticationRecorder,
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  async execute({ partyId, signal }: SettleReauthentication): Promise<void> {
    const { state, owner } = await this.aggregates.load(party, partyId);
    const { attempt } = state;
    if (!attempt || this.clock.now() < new Date(attempt.settleAfter)) return;
    const { attemptId, subjectId, vendor } = attempt;
    const context = systemContext('party-sweep', owner);
    const outcome = await this.vendor.outcomeOf({
      ...vendorCall(attemptId, subjectId, context, vendor, partyId),
      signal,
    });
    if ('verdict' in outcome && outcome.kind !== 'registration' && outcome.verdict.kind !== 'timed-out') {
      await this.recorder.record(partyId, attempt, outcome.verdict, context);
      return;
    }
    const giveUp = { kind: 'give-up', now: this.clock.now(), attemptId } as const;
    const settled =
      outcome.kind === 'not-executed'
        ? await this.recorder.notExecuted(partyId, attempt, context)
        : (await this.aggregates.execute(party, partyId, giveUp, context)).state;
    if (outcome.kind === 'not-executed') await this.limiter.giveBackSetAside(attemptId);
    await this.recorder.forgetIfOver(partyId, subjectId, settled);
  }
}
