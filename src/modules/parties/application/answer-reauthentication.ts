import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { inputOf } from '../../../challenges/application/challenge-call.js';
import { answerBy, askCommand } from '../../../challenges/domain/challenge.js';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { GivenToParty } from '../../../published/verifications.js';
import { PartyAccess, type NamedParty } from './party-access.js';
import type { PartyAnswer } from './party-answer.js';
import { PartyPolicy } from './party-policy.js';
import { PartyReferences } from './party-references.js';
import { ReauthenticationService } from './reauthentication-service.js';

/** Answers the party's open challenge, or has another code sent. Only one call of a party is with the vendor at a time. */
@UseCase()
export class AnswerReauthentication extends Command<PartyAnswer> {
  constructor(
    readonly request: {
      readonly named: NamedParty;
      /** Names the answer. An answer with a known id is not judged again. */
      readonly attemptId: string;
      readonly given: GivenToParty;
    },
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
    private readonly policy: PartyPolicy,
    private readonly clock: Clock,
  ) {}

  async execute({ request: { named, attemptId, given }, context }: AnswerReauthentication): Promise<PartyAnswer> {
    const found = await this.access.find(named, context);
    const { challenge } = found.loaded.state;
    const reference = challenge ?? (await this.references.find(found.partyId, found.loaded.state, context));
    if (reference === null)
      throw new DomainError(given.method === 'resend' ? 'party.token_missing' : 'party.no_challenge');
    const command = askCommand(
      answerBy(given, challenge?.questions ?? []),
      this.policy.attempt(attemptId, this.clock.now()),
      this.policy.limits.otpResendIntervalSeconds,
    );
    return this.reauthentication.take(found, { command, input: inputOf(command) }, reference, context);
  }
}
