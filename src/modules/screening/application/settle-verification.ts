import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { ChallengeService } from '../../../challenges/application/challenge-service.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { attemptOf, existing, screeningSession } from '../domain/screening-session.js';
import { RegistrationRecorder } from './registration-recorder.js';
import { SessionChallenges } from './session-challenges.js';
import { Registration } from './registration.js';

/**
 * Settles a vendor call that has no recorded verdict. The process of the call died or the vendor was late, so the use case asks the vendor for the
 * result. A registration that never reached the vendor is made once more while its input is kept. Safe to repeat.
 */
@UseCase()
export class SettleVerification extends Command<void> {
  constructor(
    readonly sessionId: string,
    /** Aborted when the time limit for the vendor's answer has passed. */
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
    private readonly challenges: ChallengeService,
    private readonly sessions: SessionChallenges,
    private readonly recorder: RegistrationRecorder,
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
    // This step is first, because a vendor may refuse an attempt after a request for the attempt's result.
    if (operation === 'registration' && (await this.calls.makeAgain(this.registration, reserved, signal))) return;
    const attempted = { id: sessionId, attemptId, context, known };
    await this.challenges.settle(this.sessions, attempted, signal, (verdict) =>
      this.recorder.record(attempted, verdict),
    );
  }
}
