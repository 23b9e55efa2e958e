import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { Attempted } from '../../../challenges/application/challenge-recorder.js';
import { ChallengeService } from '../../../challenges/application/challenge-service.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { vendorCall, type VendorCall } from '../../../ports/vendor-call.js';
import { attemptOf, existing, isOver, isUnderReview, screeningSession } from '../domain/screening-session.js';
import type { SessionState, UnderReview } from '../domain/session.js';
import { RegistrationRecorder } from './registration-recorder.js';
import { Registration } from './registration.js';
import { SessionChallenges } from './session-challenges.js';
import { SessionSecrets } from './session-secrets.js';

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
    /** Whether the vendor has sent a notice. A review is then due. */
    readonly noticed = false,
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
    private readonly vendor: IdentityVendor,
    private readonly secrets: SessionSecrets,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId, signal, noticed }: SettleVerification): Promise<void> {
    const known = await this.aggregates.load(screeningSession, sessionId);
    const { state } = known;
    const attempt = attemptOf(state);
    const context = systemContext('screening-sweep', known.owner);
    // The terms of a review go by the account's clock, and the vendor's time limit by the machine's time.
    const now = isUnderReview(state) ? await this.clock.of(context) : this.clock.now();
    if (!attempt || (now < new Date(attempt.settleAfter) && !(noticed && isUnderReview(state)))) return;
    const { attemptId, operation } = attempt;
    const { subjectId, vendors } = existing(state);
    const reserved = { id: sessionId, attemptId, subject: subjectId, context, vendor: vendors.identity };
    const attempted = { id: sessionId, attemptId, context, known };
    if (isUnderReview(state)) return this.lookAgain(attempted, state, { ...vendorCall(reserved), signal });
    // This step is first, because a vendor may refuse an attempt after a request for the attempt's result.
    if (operation === 'registration' && (await this.calls.makeAgain(this.registration, reserved, signal))) return;
    await this.challenges.settle(this.sessions, attempted, signal, (verdict) =>
      this.recorder.record(attempted, verdict),
    );
  }

  /** Asks the vendor whether its people have decided. Without a decision, the next query follows later, or the session expires. */
  private async lookAgain(
    attempted: Attempted<SessionState>,
    { subjectId }: UnderReview,
    call: VendorCall,
  ): Promise<void> {
    const { id, attemptId, context } = attempted;
    const kept = await this.secrets.find(subjectId, id);
    const outcome = await this.vendor.outcomeOf(call, kept === 'erased' ? undefined : kept.vendorSession);
    if (outcome.kind === 'registration') await this.recorder.record(attempted, outcome.verdict);
    const later = { kind: 'look-later', now: await this.clock.of(context), attemptId } as const;
    const { state } = await this.aggregates.execute(screeningSession, id, later, context);
    if (isOver(state)) await this.secrets.keepLess(id, state);
  }
}
