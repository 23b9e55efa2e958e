import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Verifications, type GivenToParty } from '../../../published/verifications.js';
import { PartyAccess, type NamedParty } from './party-access.js';
import { answerOf, type PartyAnswer } from './party-answer.js';

/** Answers the challenge of the party's registration, or has another code sent. */
@UseCase()
export class AnswerRegistration extends Command<PartyAnswer> {
  constructor(
    readonly request: {
      readonly named: NamedParty;
      /** The id of the answer. An answer with a known id is not judged again. */
      readonly attemptId: string;
      readonly given: GivenToParty;
    },
    readonly context: CallerContext,
  ) {
    super();
  }
}

@Handles(AnswerRegistration)
export class AnswerRegistrationHandler implements ICommandHandler<AnswerRegistration> {
  constructor(
    private readonly access: PartyAccess,
    private readonly verifications: Verifications,
    private readonly clock: Clock,
  ) {}

  async execute({ request: { named, attemptId, given }, context }: AnswerRegistration): Promise<PartyAnswer> {
    const { newest } = await this.access.find(named, context);
    if (newest === null) throw new DomainError('party.no_challenge');
    const step = await this.verifications.answer(newest.sessionId, attemptId, given, context);
    return answerOf(step, given.method === 'resend' ? 'resend' : 'answers', await this.clock.of(context));
  }
}
