import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { inputOf } from '../../../challenges/application/challenge-call.js';
import { ChallengeService } from '../../../challenges/application/challenge-service.js';
import { askCommand, type GivenAnswer } from '../../../challenges/domain/challenge.js';
import { Clock } from '../../../kernel/clock.js';
import { isOpenTo, type ActionContext } from '../../../kernel/context.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { isId } from '../../../kernel/ids.js';
import type { RateUse } from '../../../kernel/rate-use.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { ReadModels } from '../../../ports/read-models.js';
import { attemptOf, existing, isOverdue, screeningSession } from '../domain/screening-session.js';
import type { Session, SessionState } from '../domain/session.js';
import { PersonAnswers, streamsOf } from './person-answers.js';
import { refusalOf, type StepTaken } from './refusals.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionChallenges, StepUpCall } from './session-challenges.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmissionLimits } from './submission-limits.js';

/**
 * Answers the step-up with a one-time code or with answers to the questions, or has another code sent. The domain checks the form of the answer. The
 * log never contains the answer.
 */
@UseCase()
export class AnswerStepUp extends Command<Session> {
  constructor(
    readonly request: {
      readonly sessionId: string;
      readonly attemptId: string;
      readonly given: GivenAnswer;
      /** The address of the browser that sent the answer; null if a server sent it. */
      readonly clientAddress: string | null;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

@Handles(AnswerStepUp)
export class AnswerStepUpHandler implements ICommandHandler<AnswerStepUp> {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly readModels: ReadModels,
    private readonly challenges: ChallengeService,
    private readonly sessions: SessionChallenges,
    private readonly call: StepUpCall,
    private readonly secrets: SessionSecrets,
    private readonly answers: PersonAnswers,
    private readonly limits: SubmissionLimits,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
  ) {}

  /** Returns the session, or throws the domain error that a page gets instead. */
  async execute(command: AnswerStepUp): Promise<Session> {
    const { session, attemptId } = await this.take(command);
    const refusal = attemptId === null ? null : refusalOf(session, attemptId);
    if (refusal) throw refusal;
    return session;
  }

  /** Returns the session after the call, whatever the vendor answers. Throws if the session itself or a limit refuses. */
  async take(answer: AnswerStepUp): Promise<StepTaken> {
    const {
      request: { sessionId: id, attemptId, given },
      context,
    } = answer;
    const loaded = await this.load(id, context);
    const session = existing(loaded.state);
    const { otpResendIntervalSeconds } = this.policy.limits;
    const attempt = { ...this.policy.attempt(attemptId, this.clock.now()), now: await this.clock.of(context) };
    const command = askCommand(given, attempt, otpResendIntervalSeconds);
    // The session is blocked, or the session already knows the attempt because an earlier process of this request died. A refusal is thrown before a
    // limit counts the request.
    if (screeningSession.decide(command, loaded.state).length === 0) return { session, attemptId: null };
    // A session whose person was erased cannot continue.
    if (await this.secrets.isErased(session.subjectId)) throw new DomainError('screening.session_spent');
    const about = { subjectId: session.subjectId, vendor: session.vendors.identity, personIds: streamsOf(session) };
    const asked = { id, loaded, command, about, uses: await this.usesOf(answer, session), context };
    const asking = await this.challenges.ask(this.sessions, this.call, asked, inputOf(command));
    switch (asking.kind) {
      case 'asked':
        return { session: await this.shown(id), attemptId };
      case 'known':
        return { session: await this.shown(id), attemptId: null };
      case 'locked': {
        const { lockedUntil } = asking;
        return {
          session: await this.answers.block({ holderId: id, attemptId, context }, lockedUntil),
          attemptId: null,
        };
      }
      case 'others-first':
        throw new DomainError('screening.attempt_in_progress');
      default:
        return asking satisfies never;
    }
  }

  /** Loads the caller's own session, and expires the session when no answer came in time. Unknown and foreign sessions get the same refusal. */
  private async load(sessionId: string, context: ActionContext): Promise<LoadedAggregate<SessionState>> {
    if (!isId(sessionId)) throw new DomainError('screening.not_found');
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (loaded.state.status === 'NONE' || !isOpenTo(loaded.owner, loaded.state, context))
      throw new DomainError('screening.not_found');
    const now = await this.clock.of(context);
    return isOverdue(loaded.state, now)
      ? this.aggregates.execute(screeningSession, { id: sessionId, known: loaded }, { kind: 'expire', now }, context)
      : loaded;
  }

  private async usesOf(
    { request: { sessionId, given, clientAddress }, context }: AnswerStepUp,
    { subjectId }: Session,
  ): Promise<readonly RateUse[]> {
    if (given.method !== 'resend') return this.limits.wrongAnswer(context.environment, clientAddress);
    const { phoneId } = await this.secrets.of(subjectId, sessionId);
    return phoneId === undefined ? [] : this.limits.smsTo(context, phoneId);
  }

  /** Returns the present session. When the end of its attempt is unknown, the session's status must show the attempt at once. */
  private async shown(sessionId: string): Promise<Session> {
    const loaded = await this.aggregates.load(screeningSession, sessionId);
    if (attemptOf(loaded.state) !== null) await this.readModels.applyNow(loaded.history);
    return existing(loaded.state);
  }
}
