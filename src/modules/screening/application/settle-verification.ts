import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { attemptOf, screeningSession } from '../domain/screening-session.js';
import { Registration } from './submit-screening.js';
import { existing, VendorResultRecorder } from './vendor-result-recorder.js';

/**
 * Settles a vendor call without a recorded verdict (its process died, or the vendor was late) by asking the vendor what
 * came of it. A registration that never reached the vendor is made once more while its input is there. Safe to repeat.
 */
@UseCase()
export class SettleVerification extends Command<void> {
  constructor(
    readonly sessionId: string,
    /** Aborted when the time for the vendor's answer is over. */
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

@Handles(SettleVerification)
export class SettleVerificationHandler implements ICommandHandler<SettleVerification> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly registration: Registration,
    private readonly vendor: IdentityVendor,
    private readonly recorder: VendorResultRecorder,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, signal }: SettleVerification): Promise<void> {
    const known = await this.aggregates.load(screeningSession, sessionId);
    const attempt = attemptOf(known.state);
    if (!attempt || this.clock.now() < new Date(attempt.settleAfter)) return;
    const { attemptId, operation } = attempt;
    const { subjectId, vendors } = existing(known.state);
    const context = systemContext('screening-sweep', known.owner);
    const reserved = { id: sessionId, attemptId, subject: subjectId, context, vendor: vendors.identity };
    // First: a vendor that was asked what came of the attempt may refuse to execute it from then on.
    if (operation === 'registration' && (await this.calls.makeAgain(this.registration, reserved, signal))) return;
    const attempted = { sessionId, attemptId, context, known };
    const outcome = await this.vendor.outcomeOf({
      ...vendorCall(attemptId, subjectId, context, vendors.identity, sessionId),
      signal,
    });
    if (outcome.kind === 'not-executed') {
      await this.recorder.notExecuted(attempted);
    } else if (!('verdict' in outcome) || outcome.verdict.kind === 'timed-out') {
      const giveUp = { kind: 'give-up', now: this.clock.now(), attemptId } as const;
      await this.aggregates.execute(screeningSession, sessionId, giveUp, context);
    } else if (outcome.kind === 'registration') {
      await this.recorder.registration(attempted, subjectId, outcome.verdict);
    } else if (outcome.kind === 'answer') {
      await this.recorder.answer(attempted, outcome.verdict);
    } else if (outcome.kind === 'resend') {
      await this.recorder.resend(attempted, outcome.verdict);
    }
  }
}
