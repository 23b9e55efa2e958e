// Turns a vendor's verdict into the session's facts, and the session's facts into the refusal the caller hears. Used by the
// calls themselves and by the recovery job, so that both say the same.
import { Injectable } from '@nestjs/common';
import { lockBy, type RecordVerdict, type Standing } from '../../../challenges/domain/verdict.js';
import type { Change } from '../../../kernel/change.js';
import { Clock } from '../../../kernel/clock.js';
import type { ErrorCode } from '../../../kernel/error-codes.js';
import { DomainError, fieldError } from '../../../kernel/domain-error.js';
import type { FieldName } from '../../../kernel/field-names.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { RefusedInput } from '../../../kernel/refused-input.js';
import type { VendorChoice } from '../../../kernel/vendor-choice.js';
import type { VendorReply, VendorStep } from '../../../kernel/vendor-reply.js';
import { AggregateStore, type LoadedAggregate } from '../../../platform/aggregates/aggregate-store.js';
import type { AnswerVerdict, RegistrationVerdict, ResendVerdict } from '../../../ports/identity-vendor.js';
import { Vendors } from '../../../ports/vendors.js';
import {
  attemptOf,
  isOpen,
  personBlocked,
  screeningSession,
  type SessionCommand,
} from '../domain/screening-session.js';
import type {
  BlockReason,
  ErrorCause,
  OpenStepUp,
  References,
  Session,
  SessionEvent,
  SessionSecretsContent,
  SessionState,
} from '../domain/session.js';
import type { RecordRegistration } from '../domain/verdicts.js';
import { PersonAnswers, streamsOf } from './person-answers.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';
import { SubmissionLimits } from './submission-limits.js';

/** The vendor call a verdict belongs to. */
export interface Attempted {
  readonly sessionId: string;
  readonly attemptId: string;
  readonly context: ActionContext;
  /** The session as it was before the vendor was asked. */
  readonly known: LoadedAggregate<SessionState>;
}

/**
 * What a verdict says of the person is recorded before the session, or together with it. The session's attempt is open until then: the recovery
 * job makes up for what dies in between.
 */
@Injectable()
export class VendorResultRecorder {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly answers: PersonAnswers,
    private readonly vendors: Vendors,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
    private readonly limits: SubmissionLimits,
  ) {}

  /** The vendor's tokens, its questions and its reply are in the vault before the log says what it said. */
  async registration(
    attempted: Attempted,
    subjectId: string,
    verdict: RegistrationVerdict,
    phoneId?: string,
  ): Promise<Session> {
    // At once, so that the vault has to sync its disk once.
    const [kept] = await Promise.all([
      this.keepSecrets(attempted, subjectId, verdict, phoneId),
      this.keepReply(attempted, 'registration', verdict),
    ]);
    const said = kept ? withoutSecrets(verdict) : ({ kind: 'unintelligible' } as const);
    const session = await this.locking(attempted, verdict, { kind: 'record-registration', verdict: said });
    if (isOpen(session)) return this.answers.limitOpen(session, attempted);
    // Where it has ended meanwhile, nothing of what was kept is good for anything.
    const isKept = session.status === 'SUBMITTED' || session.status === 'VERIFIED';
    const wasKept = verdict.kind === 'confirmed' || verdict.kind === 'step-up';
    return isKept || !wasKept ? session : this.pruned(attempted, session);
  }

  /** `known`: what the vault kept of the session when the vendor was asked; read again where it is not given. */
  async answer(attempted: Attempted, verdict: AnswerVerdict, known?: SessionSecretsContent): Promise<Session> {
    const session = existing(attempted.known.state);
    if (!isOpen(session)) return session;
    await this.keepReply(attempted, 'answers', verdict);
    const secrets =
      verdict.kind === 'confirmed' && verdict.personToken !== undefined
        ? await this.keepPerson(attempted.sessionId, session, verdict.personToken, known)
        : undefined;
    const wrong = verdict.kind === 'wrong' || verdict.kind === 'locked';
    const recorded = wrong
      ? await this.wrongAnswer(attempted, session, verdict)
      : await this.otherAnswer(attempted, session, verdict);
    return this.pruned(attempted, recorded, secrets);
  }

  async resend(attempted: Attempted, verdict: ResendVerdict): Promise<Session> {
    await this.keepReply(attempted, 'resend', verdict);
    const recording = { kind: 'record-verdict', verdict, standing: null } as const;
    return this.pruned(attempted, await this.locking(attempted, verdict, recording));
  }

  /** The vendor knows the person by this token from now on. */
  keepPerson(
    sessionId: string,
    { subjectId, vendors }: Session,
    personToken: string,
    known?: SessionSecretsContent,
  ): Promise<SessionSecretsContent | 'erased'> {
    const references = this.references(vendors, personToken);
    return this.secrets.keepPerson(subjectId, sessionId, personToken, references, known);
  }

  /** The call never reached the vendor, and will not. */
  async notExecuted(attempted: Attempted): Promise<Session> {
    await this.answers.clear(streamsOf(existing(attempted.known.state)), attempted);
    return this.record(attempted, { kind: 'record-not-executed', attemptId: attempted.attemptId });
  }

  /** First the person, whose other sessions may end, then the session: its attempt is open until all of that is done. */
  private async wrongAnswer(
    attempted: Attempted,
    session: OpenStepUp,
    verdict: Extract<AnswerVerdict, { kind: 'wrong' | 'locked' }>,
  ): Promise<Session> {
    const standing = await this.answers.judgeWrong(session, attempted, verdict);
    return this.record(attempted, this.recordAnswer(attempted, verdict, standing));
  }

  /** Person and session together: there is nothing to do between the two. */
  private async otherAnswer(attempted: Attempted, session: OpenStepUp, verdict: AnswerVerdict): Promise<Session> {
    const { sessionId, context, known } = attempted;
    const { changes, outcome } = this.answers.clearing(streamsOf(session), attempted, verdict);
    const standing = (): Standing => this.answers.standingOf(outcome());
    const recording: Change<SessionState, SessionEvent> = {
      decider: screeningSession,
      id: sessionId,
      known,
      decide: (state) => screeningSession.decide(this.recordAnswer(attempted, verdict, standing()), state),
    };
    const { state } = await this.aggregates.executeTogether(changes, recording, context);
    await this.answers.endOthersOfLocked(outcome(), attempted, standing());
    return existing(state);
  }

  private recordAnswer({ attemptId }: Attempted, verdict: AnswerVerdict, standing: Standing): SessionCommand {
    return {
      kind: 'record-verdict',
      now: this.clock.now(),
      attemptId,
      verdict,
      policy: this.policy.verdicts,
      standing,
    };
  }

  /** Of a call that is no answer: the vendor may still say that the person is locked. */
  private async locking(
    attempted: Attempted,
    verdict: RegistrationVerdict | ResendVerdict,
    recording: Pick<RecordRegistration, 'kind' | 'verdict'> | Pick<RecordVerdict, 'kind' | 'verdict' | 'standing'>,
  ): Promise<Session> {
    const now = this.clock.now();
    const { verdicts: policy } = this.policy;
    const { attemptId, known } = attempted;
    const lockedUntil = verdict.kind === 'locked' ? lockBy(verdict, now, policy, null) : null;
    if (lockedUntil !== null) await this.answers.lock(existing(known.state), attempted, lockedUntil);
    return this.record(attempted, { ...recording, now, attemptId, policy });
  }

  /** False when the person was erased meanwhile. */
  private async keepSecrets(
    { sessionId, known }: Attempted,
    subjectId: string,
    verdict: RegistrationVerdict,
    phoneId?: string,
  ): Promise<boolean> {
    if (verdict.kind !== 'confirmed' && verdict.kind !== 'step-up') return true;
    const { vendorSession } = verdict;
    return this.secrets.keep(subjectId, sessionId, {
      vendorSession,
      references: this.references(existing(known.state).vendors, vendorSession),
      questions: verdict.kind === 'step-up' ? verdict.kba : null,
      ...(phoneId !== undefined && { phoneId }),
    });
  }

  /** For those who pass it on to the party's server. Callers of the platform never hear it. */
  private async keepReply(
    { sessionId, attemptId, known }: Attempted,
    step: VendorStep,
    { reply }: { readonly reply?: VendorReply },
  ): Promise<void> {
    const { partyId, subjectId } = existing(known.state);
    if (partyId !== undefined && reply !== undefined)
      await this.secrets.keepReply(subjectId, sessionId, { attemptId, step, reply });
  }

  /** A vendor that takes the identity vendor's tokens knows the person by this one. */
  private references(vendors: VendorChoice, token: string): References {
    const taking = (['credit', 'income'] as const).filter((capability) =>
      this.vendors.takesSessionsOf(capability, vendors[capability], vendors.identity),
    );
    return Object.fromEntries(taking.map((capability) => [capability, token]));
  }

  /** The vault keeps no more than what an ended session is still good for. */
  private async pruned(
    { sessionId }: Attempted,
    session: Session,
    known?: SessionSecretsContent | 'erased',
  ): Promise<Session> {
    if (!isOpen(session)) await this.secrets.keepLess(sessionId, session, known);
    return session;
  }

  private async record(attempted: Attempted, command: SessionCommand): Promise<Session> {
    const { sessionId, attemptId, context, known } = attempted;
    const session = existing(
      (await this.aggregates.execute(screeningSession, sessionId, command, context, known)).state,
    );
    // The caller may have been answered before that was known.
    if (wasNotExecuted(session, attemptId)) await this.limits.giveBackSetAside(attemptId);
    return session;
  }
}

export function existing(state: SessionState): Session {
  if (state.status === 'NONE') throw new DomainError('screening.not_found');
  return state;
}

function withoutSecrets(
  verdict: RegistrationVerdict,
): Extract<SessionCommand, { kind: 'record-registration' }>['verdict'] {
  switch (verdict.kind) {
    case 'confirmed':
      return { kind: 'confirmed', duplicateGuard: verdict.duplicateGuard === true };
    case 'step-up':
      return {
        kind: 'step-up',
        otp: verdict.otp,
        questions: (verdict.kba ?? []).map((question) => ({
          questionId: question.id,
          answerCount: question.answers.length,
        })),
        duplicateGuard: verdict.duplicateGuard === true,
      };
    default:
      return verdict;
  }
}

/** What the caller of an attempt hears instead of a session result, if anything (docs/contract/platform.md#ends-of-a-session). */
export function refusalOf(session: Session, attemptId: string): DomainError | null {
  switch (session.status) {
    case 'BLOCKED':
      return session.reasonCode === 'TOO_MANY_ATTEMPTS' ? null : refusalOfBlock(session.reasonCode);
    case 'EXPIRED':
      if (session.cause === 'NOT_EXECUTED') return new DomainError('service.unavailable');
      return session.cause === 'VENDOR_SESSION_OVER' ? new DomainError('screening.session_spent') : null;
    case 'ERROR':
      return refusalOfError(session.cause, session.refusedInput);
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      // A worker or the recovery job records later what came of it.
      if (attemptOf(session)?.attemptId === attemptId) return new DomainError('service.upstream_timeout');
      return session.abandoned?.attemptId === attemptId ? new DomainError('service.unavailable') : null;
    case 'SUBMITTED':
    case 'VERIFIED':
      return null;
    default:
      return session satisfies never;
  }
}

function refusalOfBlock(reason: Exclude<BlockReason, 'TOO_MANY_ATTEMPTS'>): DomainError {
  if (reason === 'IDENTITY_NOT_FOUND') return new DomainError('screening.identity_not_found');
  return reason === 'MINOR_CONSUMER' ? new DomainError('screening.minor') : personBlocked(null);
}

function refusalOfError(cause: ErrorCause, input: RefusedInput = 'unspecified'): DomainError | null {
  switch (cause) {
    case 'INPUT_REFUSED': {
      const objection = REFUSED_INPUTS[input];
      return objection.field === null
        ? new DomainError(objection.code, { rule: objection.rule })
        : fieldError(objection.code, objection.field, objection.message);
    }
    case 'REPORT_EXPIRED':
      return new DomainError('screening.report_expired');
    case 'PRODUCT_NOT_ENABLED':
      return new DomainError('screening.product_not_enabled');
    case 'VENDOR_UNAVAILABLE':
      return new DomainError('service.unavailable');
    case 'VENDOR_UNINTELLIGIBLE':
    case 'NO_VERDICT':
      return null;
    default:
      return cause satisfies never;
  }
}

/** Whether the vendor may have sent a code in this attempt; true also where it is not known. */
export function mayHaveSentSms(session: Session, attemptId: string): boolean {
  switch (session.status) {
    case 'SUBMITTED':
      return true;
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      return session.stepUp.otp && session.abandoned?.attemptId !== attemptId;
    case 'ERROR':
      return session.cause === 'VENDOR_UNINTELLIGIBLE' || session.cause === 'NO_VERDICT';
    case 'EXPIRED':
      return session.cause !== 'VENDOR_SESSION_OVER' && session.cause !== 'NOT_EXECUTED';
    case 'VERIFIED':
    case 'BLOCKED':
      return false;
    default:
      return session satisfies never;
  }
}

/** Whether it is certain that the vendor did nothing for this attempt. */
export function wasNotExecuted(session: Session, attemptId: string): boolean {
  if (isOpen(session)) return session.abandoned?.attemptId === attemptId;
  return session.status === 'ERROR'
    ? session.cause === 'VENDOR_UNAVAILABLE'
    : session.status === 'EXPIRED' && session.cause === 'NOT_EXECUTED';
}

/** Whether the vendor may have taken the answer of this attempt for wrong; true also where it is not known. */
export function mayBeWrong(session: Session, attemptId: string): boolean {
  if (isOpen(session)) return session.abandoned?.attemptId !== attemptId;
  return session.status === 'BLOCKED' && session.reasonCode === 'TOO_MANY_ATTEMPTS';
}

/** Vendor objections to the data. */
const REFUSED_INPUTS: Record<
  RefusedInput,
  | { readonly code: ErrorCode; readonly field: FieldName; readonly message: string }
  | { readonly code: ErrorCode; readonly field: null; readonly rule: string }
> = {
  'first-name': {
    code: 'screening.field_format',
    field: 'person.firstName',
    message: 'must be the name as on official documents',
  },
  'middle-name': {
    code: 'screening.field_format',
    field: 'person.middleName',
    message: 'must be the name as on official documents',
  },
  'last-name': {
    code: 'screening.field_format',
    field: 'person.lastName',
    message: 'must be the name as on official documents',
  },
  'date-of-birth': {
    code: 'screening.birth_date_impossible',
    field: 'person.birthDate',
    message: 'must be the real date of birth as MMDDYYYY',
  },
  ssn: { code: 'screening.ssn_malformed', field: 'person.ssn', message: 'must be a real SSN of nine digits' },
  phone: {
    code: 'screening.field_format',
    field: 'person.phone',
    message: 'must be a number in service, of ten digits',
  },
  email: { code: 'screening.field_format', field: 'person.email', message: 'must be a mail address' },
  'company-name': {
    code: 'screening.field_format',
    field: 'person.companyName',
    message: 'must be the name of a company',
  },
  address: {
    code: 'screening.address_refused',
    field: 'address.street',
    message: 'must be a street address that mail can be delivered to, in the given city, state and zip code',
  },
  city: { code: 'screening.address_refused', field: 'address.city', message: 'must be the city of the address' },
  state: { code: 'screening.address_refused', field: 'address.state', message: 'must be the state of the address' },
  zip: { code: 'screening.field_format', field: 'address.postalCode', message: 'must be the zip code of the address' },
  device: {
    code: 'screening.field_format',
    field: 'device.fingerprint',
    message: 'must be the fingerprint as the collector gave it',
  },
  'ssn-missing': { code: 'screening.ssn_missing', field: 'person.ssn', message: 'is required' },
  'middle-name-missing': {
    code: 'screening.ssn_missing',
    field: 'person.middleName',
    message: 'is required, to tell the person from others of the same name',
  },
  'generation-code-missing': {
    code: 'screening.ssn_missing',
    field: 'person.lastName',
    message: 'must end with the generation, such as Jr or III',
  },
  format: {
    code: 'screening.field_format',
    field: null,
    rule: 'The identity vendor refused the format of a field without naming it.',
  },
  'more-identification': {
    code: 'request.invalid',
    field: null,
    rule: 'The law of the state requires more identification than was given.',
  },
  unspecified: {
    code: 'request.invalid',
    field: null,
    rule: 'The identity vendor refused the data without naming a field.',
  },
};
