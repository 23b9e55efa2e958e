import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { VendorCall } from '../../../ports/identity-vendor.js';
import type { Session } from '../domain/session.js';
import { ScreeningPolicy } from './screening-policy.js';
import { AnswerCall } from './step-up-call.js';
import { StepUpService, toldToPage, type StepTaken } from './step-up-service.js';
import { existing } from './vendor-result-recorder.js';

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

@Injectable()
export class VerifyOtp extends AnswerCall<{ readonly code: string }> {
  override readonly operation = 'verifyOtp';

  override async askAndRecord(call: VendorCall, attempt: Attempt, { code }: { readonly code: string }): Promise<void> {
    const open = await this.load(attempt);
    if (open === null) return;
    const { attempted, secrets } = open;
    await this.recorder.answer(
      attempted,
      await this.identityVendor.verifyOtp(call, secrets.vendorSession, code),
      secrets,
    );
  }
}

@Handles(SubmitOtp)
export class SubmitOtpHandler implements ICommandHandler<SubmitOtp> {
  constructor(
    private readonly stepUp: StepUpService,
    private readonly calls: ExternalCalls,
    private readonly verifyOtp: VerifyOtp,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: SubmitOtp): Promise<Session> {
    return toldToPage(await this.take(command));
  }

  /** The session afterwards, whatever the vendor said. Throws what the session itself refuses. */
  async take({ sessionId, attemptId, code, context }: SubmitOtp): Promise<StepTaken> {
    const loaded = await this.stepUp.load(sessionId, context);
    const command = { kind: 'answer-otp', ...this.policy.attempt(attemptId, this.clock.now()), code } as const;
    if (!this.stepUp.isToBeAsked(loaded, command)) return { session: existing(loaded.state), attemptId: null };
    const attempt = await this.stepUp.reserve(this.verifyOtp, sessionId, loaded, command, context);
    if (attempt === null) return { session: await this.stepUp.session(sessionId), attemptId: null };
    await this.calls.make(this.verifyOtp, attempt, { code: String(code) });
    return { session: await this.stepUp.session(sessionId), attemptId };
  }
}
