// What submitting a code, submitting answers and asking for another code have in common: load what is the caller's own, expire
// it if its time is over, reserve the attempt, and answer from the session once the vendor was asked.
import { Injectable } from '@nestjs/common';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import type { Attempt, ExternalCall } from '../../../external-calls/external-call.js';
import { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isOpenTo, type ActionContext } from '../../../kernel/context.js';
import {
  AggregateStore,
  type CommandResult,
  type LoadedAggregate,
} from '../../../platform/aggregates/aggregate-store.js';
import { isOverdue, screeningSession, type SessionCommand } from '../domain/screening-session.js';
import type { Session, SessionEvent, SessionState } from '../domain/session.js';
import { PersonAnswers } from './person-answers.js';
import { SessionSecrets } from './session-secrets.js';
import { existing, refusalOf, VendorResultRecorder } from './vendor-result-recorder.js';

/** A session after one of its steps. */
export interface StepTaken {
  readonly session: Session;
  /** The attempt that was made; null when the vendor was not to be asked. */
  readonly attemptId: string | null;
}

/** The session as a page is told, or the refusal that it hears instead. */
export function toldToPage({ session, attemptId }: StepTaken): Session {
  const refusal = attemptId === null ? null : refusalOf(session, attemptId);
  if (refusal) throw refusal;
  return session;
}

type StepUpCommand = Extract<SessionCommand, { kind: 'answer-otp' | 'answer-kba' | 'resend-otp' }>;

@Injectable()
export class StepUpService {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly calls: ExternalCalls,
    private readonly secrets: SessionSecrets,
    private readonly answers: PersonAnswers,
    private readonly recorder: VendorResultRecorder,
    private readonly clock: Clock,
  ) {}

  /** The caller's own session, expired first when no answer came in time. Unknown and foreign are the same refusal. */
  async load(sessionId: string, context: ActionContext): Promise<LoadedAggregate<SessionState>> {
    if (!isId(sessionId)) throw new DomainError('screening.not_found');
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (loaded.state.status === 'NONE' || !isOpenTo(loaded.owner, loaded.state, context))
      throw new DomainError('screening.not_found');
    const now = this.clock.now();
    return isOverdue(loaded.state, now)
      ? this.aggregates.execute(screeningSession, sessionId, { kind: 'expire', now }, context, loaded)
      : loaded;
  }

  /**
   * False when the vendor is not to be asked: the session is blocked, or it knows the attempt, whose caller died. Throws what
   * the session refuses, which no limit counts.
   */
  isToBeAsked(loaded: LoadedAggregate<SessionState>, command: StepUpCommand): boolean {
    return screeningSession.decide(command, loaded.state).length > 0;
  }

  /**
   * The attempt to make; null when the person turned out to be locked, and the session with it, or when another process has
   * reserved the attempt meanwhile.
   */
  async reserve(
    call: ExternalCall<never>,
    sessionId: string,
    loaded: LoadedAggregate<SessionState>,
    command: StepUpCommand,
    context: ActionContext,
  ): Promise<Attempt | null> {
    const { subjectId, vendors } = existing(loaded.state);
    // A session whose person was erased cannot go on.
    await this.secrets.of(subjectId, sessionId);
    const { attemptId, settleAfter } = command;
    const attempt = { id: sessionId, attemptId, subject: subjectId, context, vendor: vendors.identity, settleAfter };
    await this.calls.admit(call, attempt);
    let reserved = false;
    try {
      const known = await this.aggregates.execute(screeningSession, sessionId, command, context, loaded);
      reserved =
        known.events.length > 0 && (command.kind === 'resend-otp' || (await this.admitAnswer(attempt, known, command)));
    } finally {
      if (!reserved) await this.calls.withdraw(call, attempt);
    }
    return reserved ? attempt : null;
  }

  /** The session as it is. */
  async session(sessionId: string): Promise<Session> {
    return existing((await this.aggregates.load(screeningSession, sessionId)).state);
  }

  /** Whether the person may still be wrong, over all sessions (docs/contract/platform.md#wrong-answers-of-a-person). */
  private async admitAnswer(
    { id: sessionId, attemptId, context }: Attempt,
    known: CommandResult<SessionState, SessionEvent>,
    { giveUpAfter }: StepUpCommand,
  ): Promise<boolean> {
    const attempted = { sessionId, attemptId, context, known };
    const admission = await this.answers.admit(existing(known.state), attempted, giveUpAfter);
    if (admission.kind === 'locked') await this.answers.block(attempted, admission.lockedUntil);
    if (admission.kind === 'others-first') {
      await this.recorder.notExecuted(attempted);
      throw new DomainError('screening.attempt_in_progress');
    }
    return admission.kind === 'admitted';
  }
}
