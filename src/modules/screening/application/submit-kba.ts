import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { VendorCall } from '../../../ports/identity-vendor.js';
import type { Session } from '../domain/session.js';
import type { KbaAnswer } from '../../../challenges/domain/challenge.js';
import { ScreeningPolicy } from './screening-policy.js';
import { AnswerCall } from './step-up-call.js';
import { StepUpService, toldToPage, type StepTaken } from './step-up-service.js';

/** The person's answers to the questions, as they came; the domain judges their form. They never reach the log. */
@UseCase()
export class SubmitKba extends Command<Session> {
  constructor(
    readonly sessionId: string,
    readonly attemptId: string,
    readonly answers: unknown,
    readonly context: ActionContext,
    /** Of the browser that sent it; null when a server did. */
    readonly clientAddress: string | null = null,
  ) {
    super();
  }
}

@Injectable()
export class VerifyKba extends AnswerCall<readonly KbaAnswer[]> {
  override readonly operation = 'verifyKba';

  override async askAndRecord(call: VendorCall, attempt: Attempt, answers: readonly KbaAnswer[]): Promise<void> {
    const open = await this.load(attempt);
    if (open === null) return;
    const { attempted, secrets } = open;
    await this.recorder.answer(
      attempted,
      await this.identityVendor.verifyKba(call, secrets.vendorSession, answers),
      secrets,
    );
  }
}

@Handles(SubmitKba)
export class SubmitKbaHandler implements ICommandHandler<SubmitKba> {
  constructor(
    private readonly stepUp: StepUpService,
    private readonly verifyKba: VerifyKba,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: SubmitKba): Promise<Session> {
    return toldToPage(await this.take(command));
  }

  /** The session afterwards, whatever the vendor said. Throws what the session itself and the limits refuse. */
  async take(given: SubmitKba): Promise<StepTaken> {
    const { sessionId, attemptId, answers, context } = given;
    const loaded = await this.stepUp.load(sessionId, context);
    const command = { kind: 'answer-kba', ...this.policy.attempt(attemptId, this.clock.now()), answers } as const;
    return this.stepUp.answer(this.verifyKba, given, loaded, command, () =>
      // The domain has accepted them as answers by now.
      (answers as readonly KbaAnswer[]).map(({ questionId, answerId }) => ({ questionId, answerId })),
    );
  }
}
