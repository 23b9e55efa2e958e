// The screening session, from a submitted person to VERIFIED, BLOCKED, EXPIRED or ERROR. Source: docs/contract/platform.md#screening-session and the
// sections after it.
import {
  request,
  requested,
  type AskCommand,
  type NewAttempt,
  type Requested,
} from '../../../challenges/domain/challenge.js';
import type { RecordVerdict } from '../../../challenges/domain/verdict.js';
import { assertNever, type Decider } from '../../../kernel/decider.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { FIRST_CHOICE, type VendorChoice } from '../../../kernel/vendor-choice.js';
import { overallStatusOf } from './overall-status.js';
import type {
  Attempt,
  OpenStepUp,
  PaymentUpdate,
  Referring,
  Review,
  Session,
  SessionEvent,
  SessionState,
  Submitted,
  UnderReview,
} from './session.js';
import {
  lookLater,
  recordRegistration,
  recordVerdict,
  type RecordRegistration,
  type VerdictPolicy,
} from './verdicts.js';

/** The facts that a submission gives in addition to the person's details. */
type SaidWithSubmission = Pick<
  Extract<SessionEvent, { type: 'ScreeningSubmitted' }>['data'],
  'termsAcceptedAt' | 'termsVersion' | 'endUserType' | 'purpose' | 'productId' | 'unitAddressKept' | 'externalIdHash'
>;

export type SessionCommand =
  | (NewAttempt &
      Omit<Submitted, 'duplicateGuard' | 'payment' | 'spent' | 'completed' | 'attemptIds' | 'fellBack' | 'reviewed'> &
      SaidWithSubmission & { readonly kind: 'submit' })
  | AskCommand
  | RecordVerdict<VerdictPolicy>
  | RecordRegistration
  /** The vendor is known not to have executed the registration, and the route names another vendor. */
  | { readonly kind: 'fall-back'; readonly now: Date; readonly attemptId: string; readonly vendors: VendorChoice }
  | { readonly kind: 'record-payment'; readonly payment: PaymentUpdate }
  /** The vendor has not executed the call, and will never execute it. */
  | { readonly kind: 'record-not-executed'; readonly attemptId: string }
  /** The vendor has given no verdict on a person under review. The review ends when its time is over. */
  | { readonly kind: 'look-later'; readonly now: Date; readonly attemptId: string }
  /** The result of the call is unknown. The session ends with an error when the call is old enough. */
  | { readonly kind: 'give-up'; readonly now: Date; readonly attemptId: string }
  | { readonly kind: 'expire'; readonly now: Date }
  /** An answer in this session or another has locked the person (docs/contract/platform.md#wrong-answers-of-a-person). */
  | { readonly kind: 'block'; readonly attemptId: string; readonly lockedUntil: string }
  /** An operator ends a block that would end later by itself. */
  | { readonly kind: 'lift-block'; readonly now: Date }
  /** The person has opened too many newer sessions. */
  | { readonly kind: 'supersede' }
  | { readonly kind: 'record-applicant-sealed'; readonly neededBy: readonly Referring[] }
  | { readonly kind: 'record-applicant-discarded' }
  /** The vendor's reply was removed from the vault. */
  | { readonly kind: 'record-reply-discarded' }
  /** The person was erased. An open session of the subject cannot continue without the person's data. */
  | { readonly kind: 'end-erased'; readonly subjectId: string };

const ASKED = {
  'answer-otp': 'OtpAnswerReceived',
  'answer-kba': 'KbaAnswersReceived',
  'resend-otp': 'OtpResendRequested',
} as const satisfies Record<AskCommand['kind'], SessionEvent['type']>;

export const screeningSession: Decider<SessionState, SessionCommand, SessionEvent> = {
  category: 'screening',
  initial: { status: 'NONE' },
  decide: (command, state) => withCompletion(decide(command, state), state),
  evolve,
};

function decide(command: SessionCommand, state: SessionState): readonly SessionEvent[] {
  switch (command.kind) {
    case 'submit':
      if (state.status === 'NONE') return submit(command);
      if (state.personId !== command.personId) throw new DomainError('request.idempotency_key_reused');
      return [];
    case 'answer-otp':
    case 'answer-kba':
    case 'resend-otp':
      return knowsAttempt(state, command.attemptId) ? [] : ask(command, state);
    case 'record-registration': {
      const attempt = pending(state, command.attemptId);
      return attempt?.operation === 'registration' ? recordRegistration(command, attempt, reviewOf(state)) : [];
    }
    case 'fall-back':
      return fallBack(command, state);
    case 'record-verdict': {
      const attempt = pending(state, command.attemptId);
      return attempt && isOpen(state) ? recordVerdict(command, attempt, state.stepUp) : [];
    }
    case 'record-payment':
      return state.status !== 'NONE' && isNewer(command.payment, state)
        ? [{ type: 'PaymentProgressed', data: command.payment }]
        : [];
    case 'record-not-executed': {
      const attempt = pending(state, command.attemptId);
      return attempt ? [recordNotExecuted(attempt)] : [];
    }
    case 'look-later': {
      const { now, attemptId } = command;
      const isDue = isUnderReview(state) && pending(state, attemptId) && now >= new Date(state.attempt.settleAfter);
      return isDue ? [lookLater(now, state.attempt, state.review, 0)] : [];
    }
    case 'give-up': {
      const attempt = isUnderReview(state) ? null : pending(state, command.attemptId);
      return attempt ? giveUp(attempt, command.now) : [];
    }
    case 'expire':
      return isOverdue(state, command.now) ? [{ type: 'SessionExpired', data: { cause: 'NO_ANSWER' } }] : [];
    default:
      return decideWithoutVendor(command, state);
  }
}

type WithoutVendor =
  | 'block'
  | 'lift-block'
  | 'supersede'
  | 'record-applicant-sealed'
  | 'record-applicant-discarded'
  | 'record-reply-discarded'
  | 'end-erased';

/** Decides commands that follow from no call to the vendor. */
function decideWithoutVendor(
  command: Extract<SessionCommand, { readonly kind: WithoutVendor }>,
  state: SessionState,
): readonly SessionEvent[] {
  switch (command.kind) {
    case 'block':
      return isOpen(state)
        ? [
            {
              type: 'SessionBlocked',
              data: {
                attemptId: command.attemptId,
                reasonCode: 'TOO_MANY_ATTEMPTS',
                blockedUntil: command.lockedUntil,
              },
            },
          ]
        : [];
    case 'lift-block':
      return liftBlock(state, command.now);
    case 'supersede':
      return isOpen(state) ? [{ type: 'SessionExpired', data: { cause: 'SUPERSEDED' } }] : [];
    case 'record-applicant-sealed': {
      const { neededBy } = command;
      const isNew = state.status === 'SUBMITTED' && neededBy.join() !== state.applicantFor?.join();
      return isNew ? [{ type: 'ApplicantSealed', data: { neededBy } }] : [];
    }
    case 'record-applicant-discarded':
      return holdsApplicant(state) ? [{ type: 'ApplicantDiscarded', data: {} }] : [];
    case 'record-reply-discarded':
      return holdsReply(state) ? [{ type: 'VendorReplyDiscarded', data: {} }] : [];
    case 'end-erased':
      return (isOpen(state) || state.status === 'SUBMITTED') && state.subjectId === command.subjectId
        ? [{ type: 'SessionExpired', data: { cause: 'PERSON_ERASED' } }]
        : [];
    default:
      return command satisfies never;
  }
}

/** At most one other vendor is asked. After `settleAfter` the first vendor may have executed an earlier try (see `recordRegistration`). */
function fallBack(
  { now, attemptId, vendors }: Extract<SessionCommand, { kind: 'fall-back' }>,
  state: SessionState,
): readonly SessionEvent[] {
  const attempt = pending(state, attemptId);
  if (attempt?.operation !== 'registration' || now >= new Date(attempt.settleAfter)) return [];
  if (state.status === 'NONE' || state.fellBack || state.vendors.identity === vendors.identity) return [];
  return [{ type: 'VendorFellBack', data: { attemptId, vendors } }];
}

function recordNotExecuted({ operation, attemptId }: Attempt): SessionEvent {
  return operation === 'registration'
    ? { type: 'SessionExpired', data: { cause: 'NOT_EXECUTED' } }
    : { type: 'AttemptAbandoned', data: { attemptId, cause: 'NOT_EXECUTED' } };
}

function giveUp({ giveUpAfter, attemptId }: Attempt, now: Date): readonly SessionEvent[] {
  return now < new Date(giveUpAfter) ? [] : [{ type: 'SessionErrored', data: { attemptId, cause: 'NO_VERDICT' } }];
}

function liftBlock(state: SessionState, now: Date): readonly SessionEvent[] {
  return state.status === 'BLOCKED' && state.blockedUntil !== null && now < new Date(state.blockedUntil)
    ? [{ type: 'BlockLifted', data: { liftedAt: now.toISOString() } }]
    : [];
}

/** Adds `ScreeningCompleted` when these events complete the session (docs/contract/platform.md#overall-status). */
function withCompletion(events: readonly SessionEvent[], state: SessionState): readonly SessionEvent[] {
  if (events.length === 0) return events;
  const after = events.reduce(evolve, state);
  if (after.status === 'NONE' || overallStatusOf(after) !== 'COMPLETED' || after.completed) return events;
  return [
    ...events,
    {
      type: 'ScreeningCompleted',
      data: { userType: after.userType, transactionId: after.payment?.transactionId ?? null },
    },
  ];
}

/**
 * Whether the update changes the payment. A transaction stays SUCCEEDED until it is refunded or moves to another session. Without a SUCCEEDED
 * transaction, the latest transaction counts, with its newest observed state. A transaction that was refunded or moved no longer counts. A payment
 * from another session keeps its ordinal. After its refund, the next payment may therefore have the same ordinal.
 */
function isNewer(payment: PaymentUpdate, { payment: known, spent = [] }: Submitted): boolean {
  if (spent.includes(payment.transactionId)) return false;
  if (known === undefined) return true;
  if (payment.status === 'CARRIED_OVER') return payment.transactionId === known.transactionId;
  if (known.status === 'SUCCEEDED')
    return payment.status === 'REFUNDED' && payment.transactionId === known.transactionId;
  if (payment.status === 'SUCCEEDED') return true;
  if (known.status === 'REFUNDED') return payment.status !== 'FAILED' || payment.ordinal > known.ordinal;
  return payment.transactionId === known.transactionId
    ? payment.observation > known.observation && payment.status !== known.status
    : payment.ordinal > known.ordinal;
}

function submit(command: Extract<SessionCommand, { kind: 'submit' }>): readonly SessionEvent[] {
  const { subjectId, personId, userType, paymentRequired, vendors } = command;
  const { termsAcceptedAt, termsVersion, endUserType, purpose, productId, unitAddressKept } = command;
  const { grantId, intendedRecipientId, partyId, countedAs, registeredAs, externalIdHash } = command;
  const given = {
    ...(termsAcceptedAt !== undefined && { termsAcceptedAt }),
    ...(termsVersion !== undefined && { termsVersion }),
    ...(endUserType !== undefined && { endUserType }),
    ...(purpose !== undefined && { purpose }),
    ...(productId !== undefined && { productId }),
    ...(unitAddressKept && { unitAddressKept }),
    ...(grantId !== undefined && { grantId }),
    ...(intendedRecipientId !== undefined && { intendedRecipientId }),
    ...(partyId !== undefined && { partyId }),
    ...(countedAs !== undefined && { countedAs }),
    ...(registeredAs !== undefined && { registeredAs }),
    ...(externalIdHash !== undefined && { externalIdHash }),
  };
  return [
    {
      type: 'ScreeningSubmitted',
      data: { subjectId, personId, userType, paymentRequired, ...given, vendors },
    },
    { type: 'VerificationRequested', data: requested(command) },
  ];
}

function ask(command: AskCommand, state: SessionState): readonly SessionEvent[] {
  // The caller that gave an answer learns from the session that it is blocked.
  if (state.status === 'BLOCKED' && command.kind !== 'resend-otp') return [];
  const { stepUp, attempt } = openForAnswer(state);
  return [{ type: ASKED[command.kind], data: request(command, stepUp, attempt && {}) }];
}

/** The open step-up. A session in any other state refuses an answer (docs/contract/platform.md#codes-and-answers). */
function openForAnswer(state: SessionState): OpenStepUp {
  switch (state.status) {
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      return state;
    case 'SUBMITTED':
      throw new DomainError('screening.attempt_in_progress');
    case 'BLOCKED':
      throw personBlocked(state.blockedUntil);
    case 'VERIFIED':
    case 'EXPIRED':
    case 'ERROR':
      throw new DomainError('screening.session_spent');
    case 'NONE':
      throw new DomainError('screening.not_found');
    default:
      return state satisfies never;
  }
}

/** `until` is ISO 8601 UTC; null for a block that does not end by itself. */
export function personBlocked(until: string | null): DomainError {
  return new DomainError('screening.person_blocked', until === null ? {} : { blockedUntil: until });
}

export function isOpen(state: SessionState): state is OpenStepUp {
  return state.status === 'STEP_UP_REQUIRED' || state.status === 'OTP_PENDING' || state.status === 'KBA_PENDING';
}

export function isOver(state: SessionState): state is Exclude<Session, { status: 'SUBMITTED' } | OpenStepUp> {
  return state.status !== 'NONE' && state.status !== 'SUBMITTED' && !isOpen(state);
}

/** Whether the session has ended and may still keep the vendor's last reply. */
export function holdsReply(state: SessionState): boolean {
  return isOver(state) && state.partyId !== undefined && state.replyDiscarded === undefined;
}

/** Whether the vault keeps the person's own data. */
export function holdsApplicant(state: SessionState): state is Session & Required<Pick<Session, 'applicantFor'>> {
  return state.status !== 'NONE' && state.applicantFor !== undefined;
}

/** A session that was stored without `registeredAs` can be compared only by its person. */
export function isOfPerson(
  session: Session,
  { personId, registeredAs }: Pick<Session, 'personId' | 'registeredAs'>,
): boolean {
  return session.registeredAs === undefined ? session.personId === personId : session.registeredAs === registeredAs;
}

/** The call at the vendor, if the call has this attempt id. */
export function pending(state: SessionState, attemptId: string): Attempt | null {
  const attempt = attemptOf(state);
  return attempt?.attemptId === attemptId ? attempt : null;
}

/** Whether the session has reserved this attempt before. A reserved attempt is never reserved again, even after its end. */
function knowsAttempt(state: SessionState, attemptId: string): boolean {
  return state.status !== 'NONE' && state.attemptIds.includes(attemptId);
}

export function existing(state: SessionState): Session {
  if (state.status === 'NONE') throw new DomainError('screening.not_found');
  return state;
}

export function attemptOf(state: SessionState): Attempt | null {
  return state.status === 'SUBMITTED' || isOpen(state) ? state.attempt : null;
}

export function isUnderReview(state: SessionState): state is UnderReview {
  return state.status === 'SUBMITTED' && state.review !== null;
}

export function reviewOf(state: SessionState): Review | null {
  return state.status === 'SUBMITTED' ? state.review : null;
}

/** The end of the time for an answer (ISO 8601 UTC); null unless the session waits for an answer. */
export function expiresAt(state: SessionState): string | null {
  return isOpen(state) && state.attempt === null ? state.stepUp.expiresAt : null;
}

/** The end of the time for an answer, or the time of the next query about a review (ISO 8601 UTC). */
export function waitsUntil(state: SessionState): string | null {
  return isUnderReview(state) ? state.attempt.settleAfter : expiresAt(state);
}

/** True if the time for an answer has ended and no answer is at the vendor. */
export function isOverdue(state: SessionState, now: Date): boolean {
  const over = expiresAt(state);
  return over !== null && now >= new Date(over);
}

type SubmittedData = Extract<SessionEvent, { type: 'ScreeningSubmitted' }>['data'];

function submittedWith(data: SubmittedData): Session {
  const { subjectId, personId, userType, paymentRequired, vendors } = data;
  const { intendedRecipientId, grantId, partyId, unitAddressKept, countedAs, registeredAs } = data;
  return {
    status: 'SUBMITTED',
    subjectId,
    personId,
    userType,
    paymentRequired,
    vendors: vendors ?? FIRST_CHOICE,
    duplicateGuard: false,
    ...(intendedRecipientId && { intendedRecipientId }),
    ...(grantId && { grantId }),
    ...(partyId && { partyId }),
    ...(unitAddressKept && { unitAddressKept }),
    ...(countedAs && { countedAs }),
    ...(registeredAs && { registeredAs }),
    attemptIds: [],
    attempt: null,
    review: null,
  };
}

/** The part of a session that every status has. */
function submittedOf(state: Session): Submitted {
  return {
    subjectId: state.subjectId,
    personId: state.personId,
    userType: state.userType,
    paymentRequired: state.paymentRequired,
    vendors: state.vendors,
    ...(state.fellBack && { fellBack: state.fellBack }),
    ...(state.reviewed && { reviewed: state.reviewed }),
    duplicateGuard: state.duplicateGuard,
    ...(state.payment && { payment: state.payment }),
    ...(state.spent && { spent: state.spent }),
    ...(state.completed && { completed: state.completed }),
    ...(state.intendedRecipientId && { intendedRecipientId: state.intendedRecipientId }),
    ...(state.grantId && { grantId: state.grantId }),
    ...(state.partyId && { partyId: state.partyId }),
    ...(state.unitAddressKept && { unitAddressKept: state.unitAddressKept }),
    ...(state.countedAs && { countedAs: state.countedAs }),
    ...(state.registeredAs && { registeredAs: state.registeredAs }),
    ...(state.applicantFor && { applicantFor: state.applicantFor }),
    attemptIds: state.attemptIds,
  };
}

function evolve(state: SessionState, event: SessionEvent): SessionState {
  if (event.type === 'ScreeningSubmitted') return submittedWith(event.data);
  if (state.status === 'NONE') return state;
  const submitted = submittedOf(state);
  const { applicantFor: _discarded, ...ended } = submitted;
  switch (event.type) {
    case 'VerificationRequested':
      return {
        ...submitted,
        attemptIds: [event.data.attemptId],
        status: 'SUBMITTED',
        attempt: { ...event.data, operation: 'registration' },
        review: null,
      };
    case 'VendorFellBack':
      return { ...state, vendors: event.data.vendors, fellBack: true };
    case 'ApplicantSealed':
      return { ...state, applicantFor: event.data.neededBy };
    case 'ApplicantDiscarded': {
      const { applicantFor: _, ...without } = state;
      return without;
    }
    case 'ReviewStarted': {
      if (state.status !== 'SUBMITTED' || state.attempt === null) return state;
      const { startedAt, reviewUntil: until, lookAgainAt: settleAfter } = event.data;
      const attempt = { ...state.attempt, settleAfter, giveUpAfter: until };
      return { ...state, attempt, review: { startedAt, until }, reviewed: true };
    }
    case 'PersonSentToVendor': {
      if (state.status !== 'SUBMITTED' || state.attempt === null) return state;
      const { startedAt, until, lookAgainAt: settleAfter } = event.data;
      const attempt = { ...state.attempt, settleAfter, giveUpAfter: until };
      return { ...state, attempt, review: { startedAt, until, userActs: true } };
    }
    case 'ReviewContinued':
      return isUnderReview(state)
        ? { ...state, attempt: { ...state.attempt, settleAfter: event.data.lookAgainAt } }
        : state;
    case 'StepUpRequired':
      return {
        ...submitted,
        duplicateGuard: event.data.duplicateGuard,
        status: 'STEP_UP_REQUIRED',
        attempt: null,
        abandoned: null,
        stepUp: {
          otp: event.data.methods.includes('OTP'),
          kba: event.data.methods.includes('KBA'),
          questions: event.data.questions,
          attemptsRemaining: event.data.attemptsAllowed,
          answeredWrong: false,
          expiresAt: event.data.expiresAt,
          smsSentAt: event.data.smsSentAt,
          resends: 0,
        },
      };
    case 'IdentityVerified':
      return {
        ...submitted,
        duplicateGuard: submitted.duplicateGuard || event.data.duplicateGuard,
        status: 'VERIFIED',
        verifiedAt: event.data.verifiedAt,
      };
    case 'OtpAnswerReceived':
      return calling(state, event.data, 'otp');
    case 'OtpResendRequested':
      return calling(state, event.data, 'otp-resend');
    case 'KbaAnswersReceived':
      return calling(state, event.data, 'kba');
    case 'OtpRejected':
    case 'KbaRejected': {
      if (!isOpen(state)) return state;
      const { attemptsRemaining, expiresAt } = event.data;
      return {
        ...state,
        attempt: null,
        stepUp: { ...state.stepUp, attemptsRemaining, answeredWrong: true, expiresAt },
      };
    }
    case 'OtpResent':
      if (!isOpen(state)) return state;
      return {
        ...state,
        attempt: null,
        stepUp: { ...state.stepUp, smsSentAt: event.data.smsSentAt, resends: state.stepUp.resends + 1 },
      };
    case 'AttemptAbandoned':
      if (!isOpen(state) || !state.attempt) return state;
      return {
        ...state,
        status: state.attempt.before,
        attempt: null,
        abandoned: event.data,
        stepUp: { ...state.stepUp, otp: state.attempt.otpBefore },
      };
    case 'SessionBlocked':
      return {
        ...ended,
        status: 'BLOCKED',
        reasonCode: event.data.reasonCode,
        blockedUntil: event.data.blockedUntil,
      };
    case 'BlockLifted':
      return state.status === 'BLOCKED' ? { ...state, blockedUntil: event.data.liftedAt } : state;
    case 'SessionExpired':
      return { ...ended, status: 'EXPIRED', cause: event.data.cause };
    case 'SessionErrored': {
      const { cause, refusedInput } = event.data;
      return { ...ended, status: 'ERROR', cause, ...(refusedInput && { refusedInput }) };
    }
    case 'PaymentProgressed': {
      const { status, ...news } = event.data;
      const spent = [...(state.spent ?? []), news.transactionId];
      if (status === 'CARRIED_OVER') {
        const { payment: _, ...unpaid } = state;
        return { ...unpaid, spent };
      }
      return { ...state, payment: { ...news, status }, ...(status === 'REFUNDED' && { spent }) };
    }
    case 'VendorReplyDiscarded':
      return { ...state, replyDiscarded: true };
    case 'ScreeningCompleted':
      return { ...state, completed: true };
    default:
      return assertNever(event, state);
  }
}

/**
 * An answer or a request for another code is at the vendor. The first answer or request decides between the code and the questions. A person who has
 * chosen the questions cannot return to codes (docs/contract/platform.md#screening-session).
 */
function calling(state: Session, request: Requested, operation: 'otp' | 'otp-resend' | 'kba'): SessionState {
  if (!isOpen(state)) return state;
  const asking = {
    ...state,
    attemptIds: [...state.attemptIds, request.attemptId],
    abandoned: null,
    attempt: { ...request, operation, before: state.status, otpBefore: state.stepUp.otp },
  };
  return operation === 'kba'
    ? { ...asking, status: 'KBA_PENDING', stepUp: { ...state.stepUp, otp: false } }
    : { ...asking, status: 'OTP_PENDING' };
}
