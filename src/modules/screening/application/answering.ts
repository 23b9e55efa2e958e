// What submitting a code, submitting answers and asking for another code have in common: load what is the caller's own,
// expire it if its time is over, ask the vendor once, record what it said.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isOpenTo, type ActionContext } from '../../../kernel/context.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import type { AnswerVerdict, ResendVerdict } from '../../../ports/identity-vendor.js';
import {
  isOpen,
  isOverdue,
  screeningSession,
  type NewAttempt,
  type SessionCommand,
} from '../domain/screening-session.js';
import type { Session, SessionState } from '../domain/session.js';
import { PersonAnswers } from './person-answers.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';
import { existing, refusalOf, type Attempted, VerdictRecording } from './verdict-recording.js';

interface Exchange<Verdict> {
  readonly sessionId: string;
  /** An attempt that the session knows already is not made again: its caller died, and this one is told how things are. */
  readonly attemptId: string;
  readonly context: ActionContext;
  /** The command that reserves the attempt; decides nothing when the session is blocked. */
  readonly reserve: (attempt: NewAttempt) => SessionCommand;
  /** Whether a wrong one counts against the person (docs/contract/platform.md#wrong-answers-of-a-person). */
  readonly isAnswer: boolean;
  readonly ask: (vendorSession: string, subjectId: string) => Promise<Verdict>;
  /** Counts what is asked for against the limits of the phone, and runs it if any is left. Absent where no code is sent. */
  readonly counted?: (phoneId: string, run: () => Promise<Session>) => Promise<Session>;
  readonly record: (attempted: Attempted, verdict: Verdict) => Promise<Session>;
}

@Injectable()
export class Answering {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly answers: PersonAnswers,
    private readonly recording: VerdictRecording,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  async exchange<Verdict extends AnswerVerdict | ResendVerdict>({
    sessionId,
    attemptId,
    context,
    reserve,
    isAnswer,
    ask,
    counted,
    record,
  }: Exchange<Verdict>): Promise<Session> {
    const loaded = await this.current(sessionId, context);
    if (loaded.history.some(({ data }) => (data as { readonly attemptId?: unknown }).attemptId === attemptId))
      return existing(loaded.state);
    // Before anything is reserved: a session whose person was erased cannot go on.
    const secrets = isOpen(loaded.state) ? await this.secrets.of(loaded.state.subjectId, sessionId) : null;
    const attempt = this.policy.attempt(attemptId, this.clock.now());
    const command = reserve(attempt);
    const exchanged = async (): Promise<Session> => {
      const reserved = await this.aggregates.execute(screeningSession, sessionId, command, context, loaded);
      const session = existing(reserved.state);
      if (reserved.events.length === 0 || !secrets) return session;
      const attempted = { sessionId, attemptId, context, known: reserved };
      if (isAnswer) {
        const admission = await this.answers.admit(session, attempted, attempt.giveUpAfter);
        if (admission.kind === 'locked') return this.answers.block(attempted, admission.lockedUntil);
        if (admission.kind === 'others-first') {
          await this.recording.notExecuted(attempted);
          throw new DomainError('screening.attempt_in_progress');
        }
      }
      const verdict = await ask(secrets.vendorSession, session.subjectId);
      const after = await record(attempted, verdict);
      if (!isOpen(after)) await this.secrets.keepLess(after.subjectId, sessionId, after, secrets);
      const refusal = refusalOf(verdict);
      if (refusal) throw refusal;
      return after;
    };
    // What the session itself refuses or answers goes before the limits, and is not counted.
    const phoneId = counted && screeningSession.decide(command, loaded.state).length > 0 ? secrets?.phoneId : undefined;
    return counted && phoneId !== undefined ? counted(phoneId, exchanged) : exchanged();
  }

  /** The caller's own session, expired first when nobody answered in time. Unknown and foreign are the same refusal. */
  private async current(sessionId: string, context: ActionContext): Promise<LoadedAggregate<SessionState>> {
    if (!isId(sessionId)) throw new DomainError('request.not_found');
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (loaded.state.status === 'NONE' || !isOpenTo(loaded.owner, loaded.state, context))
      throw new DomainError('request.not_found');
    const now = this.clock.now();
    return isOverdue(loaded.state, now)
      ? this.aggregates.execute(screeningSession, sessionId, { kind: 'expire', now }, context, loaded)
      : loaded;
  }
}
