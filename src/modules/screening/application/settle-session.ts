import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { systemContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { vendorCall } from '../../../ports/vendor-call.js';
import { attemptOf, isOverdue, screeningSession } from '../domain/screening-session.js';
import type { Attempt, Session, SessionState } from '../domain/session.js';
import { existing, VendorResultRecorder } from './vendor-result-recorder.js';

/**
 * Looks after a session whose time has come: expires an unanswered step-up, or settles a vendor call that nobody recorded
 * a verdict of (its process died, or the vendor was late) by asking the vendor what came of it. Safe to repeat.
 */
@UseCase()
export class SettleSession extends Command<SessionState> {
  constructor(readonly sessionId: string) {
    super();
  }
}

@Handles(SettleSession)
export class SettleSessionHandler implements ICommandHandler<SettleSession> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly vendor: IdentityVendor,
    private readonly recorder: VendorResultRecorder,
    private readonly clock: Clock,
  ) {}

  async execute({ sessionId }: SettleSession): Promise<SessionState> {
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    const now = this.clock.now();
    const context = systemContext('screening-sweep', loaded.owner);
    if (isOverdue(loaded.state, now))
      return (
        await this.aggregates
          .execute(screeningSession, sessionId, { kind: 'expire', now }, context, loaded)
          .catch((error: unknown) => unlessReadOnly(error, loaded))
      ).state;
    const attempt = attemptOf(loaded.state);
    if (!attempt || now < new Date(attempt.settleAfter)) return loaded.state;
    return this.settle(sessionId, loaded, existing(loaded.state), attempt, context);
  }

  private async settle(
    sessionId: string,
    known: LoadedAggregate<SessionState>,
    session: Session,
    attempt: Attempt,
    context: ReturnType<typeof systemContext>,
  ): Promise<SessionState> {
    const { attemptId } = attempt;
    const attempted = { sessionId, attemptId, context, known };
    const outcome = await this.vendor.outcomeOf(vendorCall(attemptId, session.subjectId, context));
    const undecided = async (): Promise<SessionState> =>
      (
        await this.aggregates.execute(
          screeningSession,
          sessionId,
          { kind: 'give-up', now: this.clock.now(), attemptId },
          context,
        )
      ).state;
    switch (outcome.kind) {
      case 'registration':
        return outcome.verdict.kind === 'timed-out'
          ? undecided()
          : this.recorder.registration(attempted, session.subjectId, outcome.verdict);
      case 'answer':
        return outcome.verdict.kind === 'timed-out' ? undecided() : this.recorder.answer(attempted, outcome.verdict);
      case 'resend':
        return outcome.verdict.kind === 'timed-out' ? undecided() : this.recorder.resend(attempted, outcome.verdict);
      case 'not-executed':
        return this.recorder.notExecuted(attempted);
      case 'unavailable':
      case 'timed-out':
      case 'unintelligible':
        return undecided();
      default:
        return outcome satisfies never;
    }
  }
}

/** A copy that can only be read goes on showing what was recorded. */
function unlessReadOnly(error: unknown, loaded: LoadedAggregate<SessionState>): LoadedAggregate<SessionState> {
  if (error instanceof DomainError && error.code === 'service.read_only') return loaded;
  throw error;
}
