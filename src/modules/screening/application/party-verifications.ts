import { Injectable } from '@nestjs/common';
import { answerBy } from '../../../challenges/domain/challenge.js';
import type { CallerContext } from '../../../kernel/context.js';
import { phoneDigits } from '../../../published/folded-text.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { EventStore } from '../../../ports/event-store.js';
import type { Applicant } from '../../../ports/identity-vendor.js';
import {
  Verifications,
  type Decision,
  type GivenToParty,
  type VerificationStep,
} from '../../../published/verifications.js';
import { isOpen, isUnderReview, screeningSession } from '../domain/screening-session.js';
import type { ErrorCause, Session, UnderReview } from '../domain/session.js';
import { AnswerStepUp, AnswerStepUpHandler } from './answer-step-up.js';
import { isOverAtVendor, vendorRefusalIn } from './refusals.js';
import { datedSession, factsOf } from './session-facts.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmitScreening, SubmitScreeningHandler, type AdmittedScreening } from './submit-screening.js';

/** The use cases of the platform, for sessions of parties. When a page would get a domain error, the step of a party returns a result. */
@Injectable()
export class PartyVerifications extends Verifications {
  constructor(
    private readonly submitting: SubmitScreeningHandler,
    private readonly answering: AnswerStepUpHandler,
    private readonly aggregates: AggregateStore,
    private readonly log: EventStore,
    private readonly secrets: SessionSecrets,
  ) {
    super();
  }

  override admit(
    sessionId: string,
    partyId: string,
    applicant: Applicant,
    context: CallerContext,
  ): Promise<AdmittedScreening> {
    const { phoneNumber } = applicant;
    // A person without an SSN is identified by the phone number, so each spelling of a number must give the same text.
    const given = phoneNumber === undefined ? applicant : { ...applicant, phoneNumber: phoneDigits(phoneNumber) };
    return this.submitting.admit(
      new SubmitScreening(
        { sessionId, applicant: given, grantId: null, clientAddress: null, partyId, said: {} },
        context,
      ),
    );
  }

  override async open(admitted: AdmittedScreening, within: AbortSignal): Promise<VerificationStep> {
    const { sessionId } = admitted;
    const { attemptId } = await this.submitting.open(admitted);
    const registration: AttemptChoice = ([first]) => first;
    return existingIn(sessionId, await this.step(sessionId, registration, attemptId === null ? within : undefined));
  }

  override withdraw(admitted: AdmittedScreening): Promise<void> {
    return this.submitting.withdraw(admitted);
  }

  override async answer(
    sessionId: string,
    attemptId: string,
    given: GivenToParty,
    context: CallerContext,
  ): Promise<VerificationStep> {
    const { state } = await this.aggregates.load(screeningSession, sessionId);
    const answer = answerBy(given, isOpen(state) ? state.stepUp.questions : []);
    await this.answering.take(new AnswerStepUp({ sessionId, attemptId, given: answer, clientAddress: null }, context));
    return this.standing(sessionId, () => attemptId);
  }

  override latest(sessionId: string, within?: AbortSignal): Promise<VerificationStep | null> {
    return this.step(sessionId, (attemptIds) => attemptIds.at(-1), within);
  }

  private async standing(sessionId: string, attemptOf: AttemptChoice): Promise<VerificationStep> {
    return existingIn(sessionId, await this.step(sessionId, attemptOf));
  }

  /** With a signal, the function waits for events of the session while the session's call is under way. */
  private async step(
    sessionId: string,
    attemptOf: AttemptChoice,
    within?: AbortSignal,
  ): Promise<VerificationStep | null> {
    const { category } = screeningSession;
    const after = within ? await this.log.head() : null;
    let step = await this.stepNow(sessionId, attemptOf);
    if (step?.end !== 'timed-out' || within === undefined) return step;
    for await (const { events } of this.log.subscribe({ after, categories: [category], signal: within })) {
      if (events.some(({ stream }) => stream === `${category}-${sessionId}`))
        step = await this.stepNow(sessionId, attemptOf);
      if (step?.end !== 'timed-out') break;
    }
    return step;
  }

  private async stepNow(sessionId: string, attemptOf: AttemptChoice): Promise<VerificationStep | null> {
    const { state: dated, owner } = await this.aggregates.load(datedSession, sessionId);
    const facts = factsOf(sessionId, dated, owner);
    const state = dated.session;
    if (facts === null || state.status === 'NONE') return null;
    const attemptId = attemptOf(state.attemptIds);
    const kept = await this.secrets.replyOf(state.subjectId, sessionId);
    const said = kept !== null && kept.attemptId === attemptId ? kept : null;
    const end = attemptId === state.attemptIds.at(-1) ? endOf(state, said !== null) : 'not-asked';
    // The vault stores the reply shortly before the session records the verdict.
    const { reviewed = false } = state;
    if (said !== null && end !== 'timed-out') {
      const { reply, step } = said;
      return { session: facts, end, reply, decision: null, reviewed, step };
    }
    const decision = end === 'answered' ? await this.decisionIn(sessionId, state) : null;
    const step = attemptId === state.attemptIds[0] ? 'registration' : 'answers';
    return { session: facts, end, reply: null, decision, reviewed, step: decision && step };
  }

  private async reviewIn(sessionId: string, { subjectId, review }: UnderReview): Promise<Decision | null> {
    if (!review.userActs) return { kind: 'under-review', until: review.until };
    const kept = await this.secrets.find(subjectId, sessionId);
    return kept === 'erased' || kept.open === undefined
      ? null
      : { kind: 'needs-user', open: kept.open, until: review.until };
  }

  private async decisionIn(sessionId: string, session: Session): Promise<Decision | null> {
    if (session.status === 'VERIFIED') return { kind: 'confirmed' };
    if (isUnderReview(session)) return this.reviewIn(sessionId, session);
    const refused = vendorRefusalIn(session);
    if (refused !== null) return { kind: 'refused', ...refused };
    if (!isOpen(session)) return null;
    const { otp, kba, answeredWrong, attemptsRemaining } = session.stepUp;
    const questions = kba ? await this.secrets.questionsOf(session.subjectId, sessionId) : null;
    return { kind: 'challenge', otp, questions, attemptsRemaining: answeredWrong ? attemptsRemaining : null };
  }
}

function existingIn(sessionId: string, step: VerificationStep | null): VerificationStep {
  if (step === null) throw new Error(`Session ${sessionId} of a party does not exist`);
  return step;
}

/** Picks one of the session's attempts, which are sorted with the newest last. */
type AttemptChoice = (attemptIds: readonly string[]) => string | undefined;

const UNDECIDED: ReadonlySet<ErrorCause> = new Set(['VENDOR_UNAVAILABLE', 'NO_VERDICT']);

/** How the newest attempt of the session ended. */
function endOf(session: Session, hasReply: boolean): VerificationStep['end'] {
  switch (session.status) {
    case 'SUBMITTED':
      return isUnderReview(session) ? 'answered' : 'timed-out';
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      if (session.attempt !== null) return 'timed-out';
      return session.abandoned === null ? 'answered' : 'unavailable';
    case 'VERIFIED':
      return 'answered';
    case 'BLOCKED':
      // The vendor replies to an answer that locks the person. If no reply arrived, an answer in another session locked the person, or this answer
      // came too late.
      return hasReply || session.reasonCode !== 'TOO_MANY_ATTEMPTS' ? 'answered' : 'not-asked';
    case 'EXPIRED':
      if (session.cause === 'NOT_EXECUTED') return 'unavailable';
      return hasReply || isOverAtVendor(session.cause) ? 'answered' : 'not-asked';
    case 'ERROR':
      if (session.cause === 'VENDOR_UNINTELLIGIBLE') return 'unintelligible';
      return UNDECIDED.has(session.cause) ? 'unavailable' : 'answered';
    default:
      return session satisfies never;
  }
}
