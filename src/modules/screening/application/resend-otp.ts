import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { ActionContext } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import type { Session } from '../domain/session.js';
import { Answering } from './answering.js';
import { ScreeningPolicy } from './screening-policy.js';
import { mayHaveSentSms, SubmissionLimits } from './submission-limits.js';
import { VerdictRecording } from './verdict-recording.js';

/** Asks the vendor for another SMS code. */
@UseCase()
export class ResendOtp extends Command<Session> {
  constructor(
    readonly sessionId: string,
    readonly attemptId: string,
    readonly context: ActionContext & { readonly environment: Environment },
  ) {
    super();
  }
}

@Handles(ResendOtp)
export class ResendOtpHandler implements ICommandHandler<ResendOtp> {
  constructor(
    private readonly answering: Answering,
    private readonly vendor: IdentityVendor,
    private readonly recording: VerdictRecording,
    private readonly limits: SubmissionLimits,
    private readonly policy: ScreeningPolicy,
  ) {}

  execute({ sessionId, attemptId, context }: ResendOtp): Promise<Session> {
    let smsSent = false;
    return this.answering.exchange({
      sessionId,
      attemptId,
      context,
      reserve: (attempt) => ({
        kind: 'resend-otp',
        ...attempt,
        intervalSeconds: this.policy.limits.otpResendIntervalSeconds,
      }),
      isAnswer: false,
      ask: async (vendorSession, subjectId) => {
        const verdict = await this.vendor.resendOtp(vendorCall(attemptId, subjectId, context), vendorSession);
        smsSent = mayHaveSentSms(verdict);
        return verdict;
      },
      counted: (phoneId, run) => this.limits.resend(context.environment, phoneId, run, () => smsSent),
      record: (attempted, verdict) => this.recording.resend(attempted, verdict),
    });
  }
}
