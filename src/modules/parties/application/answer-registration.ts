import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { CallerContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { Verifications, type VerificationStep } from '../../../published/verifications.js';
import { PartyAccess, type NamedParty } from './party-access.js';
import { answerOf, type PartyAnswer } from './party-answer.js';

/** As it came; the session judges its form. None of it reaches the log. */
export type GivenAnswer =
  | { readonly method: 'otp'; readonly code: unknown }
  /** One 1-based position a question, in the order presented. */
  | { readonly method: 'kba'; readonly positions: readonly unknown[] }
  /** No answer: another code is asked for. */
  | { readonly method: 'resend' };

/** Answers the challenge of the party's registration, or has another code sent. */
@UseCase()
export class AnswerRegistration extends Command<PartyAnswer> {
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

@Handles(AnswerRegistration)
export class AnswerRegistrationHandler implements ICommandHandler<AnswerRegistration> {
  constructor(
    private readonly access: PartyAccess,
    private readonly verifications: Verifications,
    private readonly clock: Clock,
  ) {}

  async execute(command: AnswerRegistration): Promise<PartyAnswer> {
    const { newest } = await this.access.find(command.named, command.context);
    if (newest === null) throw new DomainError('party.no_challenge');
    const step = await this.take(newest.sessionId, command);
    return answerOf(step, command.given.method === 'resend' ? 'resend' : 'answers', this.clock.now());
  }

  private take(sessionId: string, { attemptId, given, context }: AnswerRegistration): Promise<VerificationStep> {
    switch (given.method) {
      case 'otp':
        return this.verifications.answerOtp(sessionId, attemptId, given.code, context);
      case 'kba':
        return this.verifications.answerKba(sessionId, attemptId, given.positions, context);
      case 'resend':
        return this.verifications.resendOtp(sessionId, attemptId, context);
      default:
        return given satisfies never;
    }
  }
}
