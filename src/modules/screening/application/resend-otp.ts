import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { Environment } from '../../../kernel/environment.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { VendorCall } from '../../../ports/identity-vendor.js';
import { pending } from '../domain/screening-session.js';
import type { Session } from '../domain/session.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';
import { StepUpCall } from './step-up-call.js';
import { StepUpService, toldToPage, type StepTaken } from './step-up-service.js';
import { SubmissionLimits } from './submission-limits.js';
import { existing, mayHaveSentSms } from './vendor-result-recorder.js';

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

@Injectable()
export class SendOtpAgain extends StepUpCall<null> {
  override readonly operation = 'resendOtp';

  override async askAndRecord(call: VendorCall, attempt: Attempt): Promise<void> {
    const open = await this.load(attempt);
    if (open === null) return;
    const { attempted, secrets } = open;
    await this.recorder.resend(attempted, await this.identityVendor.resendOtp(call, secrets.vendorSession));
  }

  override async recordNotAsked(attempt: Attempt): Promise<void> {
    const attempted = await this.stillOpen(attempt);
    if (attempted) await this.recorder.resend(attempted, { kind: 'unavailable' });
  }
}

@Handles(ResendOtp)
export class ResendOtpHandler implements ICommandHandler<ResendOtp> {
  constructor(
    private readonly stepUp: StepUpService,
    private readonly calls: ExternalCalls,
    private readonly sendOtpAgain: SendOtpAgain,
    private readonly secrets: SessionSecrets,
    private readonly limits: SubmissionLimits,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: ResendOtp): Promise<Session> {
    return toldToPage(await this.take(command));
  }

  /** The session afterwards, whatever the vendor said. Throws what the session itself and the limits refuse. */
  async take({ sessionId, attemptId, context }: ResendOtp): Promise<StepTaken> {
    const loaded = await this.stepUp.load(sessionId, context);
    const command = {
      kind: 'resend-otp',
      ...this.policy.attempt(attemptId, this.clock.now()),
      intervalSeconds: this.policy.limits.otpResendIntervalSeconds,
    } as const;
    if (!this.stepUp.isToBeAsked(loaded, command)) return { session: existing(loaded.state), attemptId: null };
    const { phoneId } = await this.secrets.of(existing(loaded.state).subjectId, sessionId);
    const sms = phoneId === undefined ? [] : this.limits.smsTo(context, phoneId);
    await this.limits.admit(sms);
    let asked = false;
    try {
      const attempt = await this.stepUp.reserve(this.sendOtpAgain, sessionId, loaded, command, context);
      if (attempt === null) return { session: await this.stepUp.session(sessionId), attemptId: null };
      asked = true;
      await this.limits.setAside(attemptId, sms);
      await this.calls.make(this.sendOtpAgain, attempt, null);
      const session = await this.stepUp.session(sessionId);
      if (!pending(session, attemptId))
        await this.limits.settle(attemptId, mayHaveSentSms(session, attemptId) ? [] : sms);
      return { session, attemptId };
    } finally {
      if (!asked) await this.limits.giveBack(sms);
    }
  }
}
