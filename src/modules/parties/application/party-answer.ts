// The answer to an integrator after a step: the vendor's answer unchanged, an answer written from the vendor's decision, or a domain error.
import { lockAt } from '../../../challenges/domain/answer-limit.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { VendorReply, VendorStep } from '../../../kernel/vendor-reply.js';
import type { Decision, VerificationStep } from '../../../published/verifications.js';
import { writtenAnswer } from './written-answer.js';

export interface PartyAnswer {
  /** The JSON text of the payload. */
  readonly json: string;
  /** False if the party's answer is wrong and another answer is allowed. */
  readonly accepted: boolean;
  /** The vault subject of the person in the answer. */
  readonly subjectId: string;
}

export function accepted(reply: VendorReply | null, subjectId: string): PartyAnswer {
  return { json: reply?.body ?? 'null', accepted: true, subjectId };
}

/** Throws if the vendor gave an error number, because the service passes that number on instead. */
export function wrong(reply: VendorReply | null, step: VendorStep, subjectId: string): PartyAnswer {
  if (reply !== null && reply.code !== null) throw refusalBy(reply, step, subjectId);
  return { json: reply?.body ?? 'null', accepted: false, subjectId };
}

export function refusalBy(reply: VendorReply | null, step: VendorStep, subject: string): DomainError {
  return reply === null
    ? new DomainError('vendor.unreachable')
    : new DomainError('vendor.refused', { vendor: { reply, step, subject } });
}

/** The error for a step without a verdict. The vendor's own number or refusal has priority over the service's error. */
export function failureBy(reply: VendorReply | null, step: VendorStep, subject: string): DomainError {
  return refusalBy(reply !== null && (reply.code !== null || reply.status >= 400) ? reply : null, step, subject);
}

export function lockedBy(
  reply: VendorReply | null,
  step: VendorStep,
  subject: string,
  blockedUntil: string,
): DomainError {
  return new DomainError('party.locked', { blockedUntil, ...(reply && { vendor: { reply, step, subject } }) });
}

/** The answer for a decision whose vendor gave no answer to pass on. Throws if the decision is a refusal. `reference` names the session or challenge. */
export function decided(decision: Decision, step: VendorStep, reference: string, subjectId: string): PartyAnswer {
  if (decision.kind === 'refused') {
    const { refusal, field } = decision;
    const vendor = { reply: null, refusal, step, subject: subjectId };
    throw new DomainError('vendor.refused', { vendor, ...(field !== null && { field }) });
  }
  const isWrong = decision.kind === 'challenge' && decision.attemptsRemaining !== null;
  return { json: writtenAnswer(decision, reference, subjectId), accepted: !isWrong, subjectId };
}

/** The answer after a step of a registration. `asked` is the requested step. Throws unless the step ended with success or a wrong answer. */
export function answerOf(
  { session, end, reply, decision }: VerificationStep,
  asked: VendorStep,
  now: Date,
): PartyAnswer {
  if (end === 'timed-out') throw new DomainError('service.upstream_timeout');
  const { sessionId, status, block, subjectId } = session;
  const lockedUntil = lockAt({ lockedUntil: block?.until ?? null }, now);
  if (lockedUntil !== null) throw lockedBy(reply, asked, subjectId, lockedUntil);
  if (end === 'not-asked') throw new DomainError('party.no_challenge');
  if (end !== 'answered') throw failureBy(reply, asked, subjectId);
  if (decision !== null) {
    // Only the reply to a wrong answer counts the attempts.
    const uncounted = decision.kind === 'challenge' && asked !== 'answers' && { attemptsRemaining: null };
    return decided({ ...decision, ...uncounted }, asked, sessionId, subjectId);
  }
  switch (status) {
    case 'VERIFIED':
      return accepted(reply, subjectId);
    case 'STEP_UP_REQUIRED':
    case 'OTP_PENDING':
    case 'KBA_PENDING':
      return asked === 'answers' ? wrong(reply, asked, subjectId) : accepted(reply, subjectId);
    case 'SUBMITTED':
    case 'BLOCKED':
    case 'EXPIRED':
    case 'ERROR':
      throw refusalBy(reply, asked, subjectId);
    default:
      return status satisfies never;
  }
}
