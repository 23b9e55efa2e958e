// What submitting a code, submitting answers and asking for another code have in common: load what is the caller's own, expire
// it if its time is over, reserve the attempt, and answer from the session once the vendor was asked.
import { Injectable } from '@nestjs/common';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import type { Attempt, ExternalCall } from '../../../external-calls/external-call.js';
import type { Change } from '../../../kernel/change.js';
import { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isOpenTo, type ActionContext } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { attemptOf, isOverdue, pending, screeningSession, type SessionCommand } from '../domain/screening-session.js';
import type { PersonState } from '../domain/screened-person.js';
import type { Session, SessionEvent, SessionState } from '../domain/session.js';
import { PersonAnswers, streamsOf } from './person-answers.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmissionLimits } from './submission-limits.js';
import { existing, mayBeWrong, refusalOf, VendorResultRecorder } from './vendor-result-recorder.js';

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

/** An answer as it came in. */
interface GivenAnswer {
  readonly sessionId: string;
  readonly context: ActionContext;
  /** Of the browser that sent it; null when a server did. */
  readonly clientAddress: string | null;
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
    private readonly limits: SubmissionLimits,
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

  /** Asks the vendor whether the answer is right. `input` is what it judges; not called for what the session refuses. */
  async answer<Input>(
    call: ExternalCall<Input>,
    { sessionId, context, clientAddress }: GivenAnswer,
    loaded: LoadedAggregate<SessionState>,
    command: Extract<StepUpCommand, { kind: 'answer-otp' | 'answer-kba' }>,
    input: () => Input,
  ): Promise<StepTaken> {
    const { attemptId } = command;
    if (!this.isToBeAsked(loaded, command)) return { session: existing(loaded.state), attemptId: null };
    const wrongAnswer = this.limits.wrongAnswer(context.environment, clientAddress);
    await this.limits.admit(wrongAnswer);
    let asked = false;
    try {
      const attempt = await this.reserve(call, sessionId, loaded, command, context);
      if (attempt === null) return { session: await this.session(sessionId), attemptId: null };
      asked = true;
      await this.limits.setAside(attemptId, wrongAnswer);
      await this.calls.make(call, attempt, input());
      const session = await this.session(sessionId);
      if (!pending(session, attemptId))
        await this.limits.settle(attemptId, mayBeWrong(session, attemptId) ? [] : wrongAnswer);
      return { session, attemptId };
    } finally {
      if (!asked) await this.limits.giveBack(wrongAnswer);
    }
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
    if (await this.secrets.isErased(subjectId)) throw new DomainError('screening.session_spent');
    const { attemptId, settleAfter } = command;
    const attempt = { id: sessionId, attemptId, subject: subjectId, context, vendor: vendors.identity, settleAfter };
    await this.calls.admit(call, attempt);
    let reserved = false;
    try {
      reserved =
        command.kind === 'resend-otp'
          ? await this.requestResend(attempt, loaded, command)
          : await this.requestAnswer(attempt, loaded, command);
    } finally {
      if (!reserved) await this.calls.withdraw(call, attempt);
    }
    return reserved ? attempt : null;
  }

  /** The session as it is; its readers see an attempt of which the end is not known. */
  async session(sessionId: string): Promise<Session> {
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (attemptOf(loaded.state) !== null) await this.aggregates.show(loaded);
    return existing(loaded.state);
  }

  private async requestResend(
    { id, context }: Attempt,
    loaded: LoadedAggregate<SessionState>,
    command: StepUpCommand,
  ): Promise<boolean> {
    const unseen = { ...context, skipReadYourWrites: true } as const;
    return (await this.aggregates.execute(screeningSession, id, command, unseen, loaded)).events.length > 0;
  }

  /**
   * The session's attempt and the person's admission, which says whether the person may still be wrong, over all sessions
   * (docs/contract/platform.md#wrong-answers-of-a-person). The session comes first: the recovery job ends an attempt that was
   * stored without its admission.
   */
  private async requestAnswer(
    { id: sessionId, attemptId, context }: Attempt,
    loaded: LoadedAggregate<SessionState>,
    command: StepUpCommand,
  ): Promise<boolean> {
    let requested = false;
    const request: Change<SessionState, SessionEvent> = {
      decider: screeningSession,
      id: sessionId,
      known: loaded,
      decide: (state) => {
        const events = screeningSession.decide(command, state);
        requested = events.length > 0;
        return events;
      },
    };
    const asked = { sessionId, attemptId, context };
    const names = streamsOf(existing(loaded.state));
    const { changes, outcome } = this.answers.admitting(names, asked, command.giveUpAfter);
    const admitting = changes.map((change) => ({
      ...change,
      decide: (person: PersonState) => (requested ? change.decide(person) : []),
    }));
    await this.answers.together([request, ...admitting], { ...context, skipReadYourWrites: true });
    if (!requested) return false;
    const admission = outcome();
    if (admission.kind === 'admitted') return true;
    if (admission.kind === 'locked') {
      await this.answers.block(asked, admission.lockedUntil);
      await this.answers.clear(names, asked);
      return false;
    }
    const known = await this.aggregates.load(screeningSession, sessionId);
    await this.recorder.notExecuted({ ...asked, known });
    throw new DomainError('screening.attempt_in_progress');
  }
}
