import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import type { Session } from '../domain/session.js';
import { Answering } from './answering.js';
import { VerdictRecording } from './verdict-recording.js';

/** The one-time code the person typed, as it came; the domain judges its form. The code never reaches the log. */
@UseCase()
export class SubmitOtp extends Command<Session> {
  constructor(
    readonly sessionId: string,
    readonly attemptId: string,
    readonly code: unknown,
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(SubmitOtp)
export class SubmitOtpHandler implements ICommandHandler<SubmitOtp> {
  constructor(
    private readonly answering: Answering,
    private readonly vendor: IdentityVendor,
    private readonly recording: VerdictRecording,
  ) {}

  execute({ sessionId, attemptId, code, context }: SubmitOtp): Promise<Session> {
    return this.answering.exchange({
      sessionId,
      attemptId,
      context,
      reserve: (attempt) => ({ kind: 'answer-otp', ...attempt, code }),
      isAnswer: true,
      ask: (vendorSession, subjectId) =>
        this.vendor.verifyOtp(vendorCall(attemptId, subjectId, context), vendorSession, String(code)),
      record: (attempted, verdict) => this.recording.answer(attempted, verdict),
    });
  }
}
