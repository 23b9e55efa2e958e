// What an integrator hears of a step: the vendor's answer as it came, or a refusal that may carry it.
import { lockAt } from '../../../challenges/domain/answer-limit.js';
import { DomainError } from '../../../kernel/domain-error.js';
import type { VendorReply, VendorStep } from '../../../kernel/vendor-reply.js';
import type { VerificationStep } from '../../../published/verifications.js';

export interface PartyAnswer {
  /** The vendor's JSON text; `null` of a vendor whose answers are not passed on. */
  readonly json: string;
  /** False: the answer that was given is wrong, and another may follow. */
  readonly accepted: boolean;
  /** Whom it tells of: a vault subject. */
  readonly subjectId: string;
}

export function accepted(reply: VendorReply | null, subjectId: string): PartyAnswer {
  return { json: reply?.body ?? 'null', accepted: true, subjectId };
}

/** Throws where the vendor has a number for it: that goes before. */
export function wrong(reply: VendorReply | null, step: VendorStep, subjectId: string): PartyAnswer {
  if (reply !== null && reply.code !== null) throw refusalBy(reply, step, subjectId);
  return { json: reply?.body ?? 'null', accepted: false, subjectId };
}

export function refusalBy(reply: VendorReply | null, step: VendorStep, subject: string): DomainError {
  return reply === null
    ? new DomainError('vendor.unreachable')
    : new DomainError('vendor.refused', { vendor: { reply, step, subject } });
}

/** Where the vendor had no verdict: its own number or refusal goes before ours. */
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

/** What became of a step of a registration, `asked` for just now. Throws what is neither success nor a wrong answer. */
export function answerOf({ session, end, reply }: VerificationStep, asked: VendorStep, now: Date): PartyAnswer {
  if (end === 'timed-out') throw new DomainError('service.upstream_timeout');
  const { status, block, subjectId } = session;
  const lockedUntil = lockAt({ lockedUntil: block?.until ?? null }, now);
  if (lockedUntil !== null) throw lockedBy(reply, asked, subjectId, lockedUntil);
  if (end === 'not-asked') throw new DomainError('party.no_challenge');
  if (end !== 'answered') throw failureBy(reply, asked, subjectId);
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
