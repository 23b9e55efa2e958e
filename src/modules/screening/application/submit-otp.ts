import { Injectable } from '@nestjs/common';
import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempt } from '../../../external-calls/external-call.js';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import type { VendorCall } from '../../../ports/identity-vendor.js';
import type { Session } from '../domain/session.js';
import { ScreeningPolicy } from './screening-policy.js';
import { AnswerCall } from './step-up-call.js';
import { StepUpService, toldToPage, type StepTaken } from './step-up-service.js';

/** The one-time code the person typed, as it came; the domain judges its form. The code never reaches the log. */
@UseCase()
export class SubmitOtp extends Command<Session> {
  constructor(
    readonly sessionId: string,
    readonly attemptId: string,
    readonly code: unknown,
    readonly context: ActionContext,
    /** Of the browser that sent it; null when a server did. */
    readonly clientAddress: string | null = null,
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
    private readonly verifyOtp: VerifyOtp,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async execute(command: SubmitOtp): Promise<Session> {
    return toldToPage(await this.take(command));
  }

  /** The session afterwards, whatever the vendor said. Throws what the session itself and the limits refuse. */
  async take(given: SubmitOtp): Promise<StepTaken> {
    const { sessionId, attemptId, code, context } = given;
    const loaded = await this.stepUp.load(sessionId, context);
    const command = { kind: 'answer-otp', ...this.policy.attempt(attemptId, this.clock.now()), code } as const;
    return this.stepUp.answer(this.verifyOtp, given, loaded, command, () => ({ code: String(code) }));
  }
}
