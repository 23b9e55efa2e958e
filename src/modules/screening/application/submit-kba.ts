import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import type { KbaAnswer, Session } from '../domain/session.js';
import { Answering } from './answering.js';
import { VerdictRecording } from './verdict-recording.js';

/** The person's answers to the questions, as they came; the domain judges their form. They never reach the log. */
@UseCase()
export class SubmitKba extends Command<Session> {
  constructor(
    readonly sessionId: string,
    readonly attemptId: string,
    readonly answers: unknown,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(SubmitKba)
export class SubmitKbaHandler implements ICommandHandler<SubmitKba> {
  constructor(
    private readonly answering: Answering,
    private readonly vendor: IdentityVendor,
    private readonly recording: VerdictRecording,
  ) {}

  execute({ sessionId, attemptId, answers, context }: SubmitKba): Promise<Session> {
    return this.answering.exchange({
      sessionId,
      attemptId,
      context,
      reserve: (attempt) => ({ kind: 'answer-kba', ...attempt, answers }),
      isAnswer: true,
      // The domain has accepted them as answers by now.
      ask: (vendorSession, subjectId) =>
        this.vendor.verifyKba(
          vendorCall(attemptId, subjectId, context),
          vendorSession,
          (answers as readonly KbaAnswer[]).map(({ questionId, answerId }) => ({ questionId, answerId })),
        ),
      record: (attempted, verdict) => this.recording.answer(attempted, verdict),
    });
  }
}
