import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { answersAt, type KbaAnswer } from '../../../challenges/domain/challenge.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { GivenAnswer } from './answer-registration.js';
import { PartyAccess, type NamedParty } from './party-access.js';
import type { PartyAnswer } from './party-answer.js';
import { PartyPolicy } from './party-policy.js';
import { PartyReferences } from './party-references.js';
import { ResendChallengeOtp, VerifyChallengeKba, VerifyChallengeOtp } from './reauthentication-calls.js';
import { ReauthenticationService } from './reauthentication-service.js';

/** Answers the challenge that the party was given, or has another code sent. One at a time is with the vendor. */
@UseCase()
export class AnswerReauthentication extends Command<PartyAnswer> {
  constructor(
    readonly named: NamedParty,
    /** Names the answer: the same again is not judged again. */
    readonly attemptId: string,
    readonly given: GivenAnswer,
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(AnswerReauthentication)
export class AnswerReauthenticationHandler implements ICommandHandler<AnswerReauthentication> {
  constructor(
    private readonly access: PartyAccess,
    private readonly references: PartyReferences,
    private readonly reauthentication: ReauthenticationService,
    private readonly verifyOtp: VerifyChallengeOtp,
    private readonly verifyKba: VerifyChallengeKba,
    private readonly resendOtp: ResendChallengeOtp,
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ named, attemptId, given, context }: AnswerReauthentication): Promise<PartyAnswer> {
    const found = await this.access.find(named, context);
    const { challenge } = found.loaded.state;
    const reference = challenge ?? (await this.references.find(found.partyId, found.loaded.state, context));
    if (reference === null)
      throw new DomainError(given.method === 'resend' ? 'party.token_missing' : 'party.no_challenge');
    const times = this.policy.attempt(attemptId, this.clock.now());
    switch (given.method) {
      case 'otp': {
        const { code } = given;
        const command = { kind: 'answer-otp', ...times, code } as const;
        const call = [this.verifyOtp, { code: String(code) }] as const;
        return this.reauthentication.take(found, command, reference, call, context);
      }
      case 'kba': {
        const answers = answersAt(challenge?.questions ?? [], given.positions);
        const command = { kind: 'answer-kba', ...times, answers } as const;
        // The domain accepts them as answers before they are made.
        const call = [this.verifyKba, answers as readonly KbaAnswer[]] as const;
        return this.reauthentication.take(found, command, reference, call, context);
      }
      case 'resend': {
        const { otpResendIntervalSeconds: intervalSeconds } = this.policy.limits;
        const command = { kind: 'resend-otp', ...times, intervalSeconds } as const;
        return this.reauthentication.take(found, command, reference, [this.resendOtp, null], context);
      }
      default:
        return given satisfies never;
    }
  }
}
