import type { Applicant } from '../kernel/applicant.js';
import type { CallerContext } from '../kernel/context.js';
import type { VendorReply, VendorStep } from '../kernel/vendor-reply.js';
import type { ScreeningFacts } from './screenings.js';

/**
 * What became of one step of a verification. The state of the session says what the vendor decided: after an answer, VERIFIED is
 * right and an open session is wrong; BLOCKED by TOO_MANY_ATTEMPTS is locked; BLOCKED for another reason, ERROR and EXPIRED are
 * refusals, which `reply` words.
 */
export interface VerificationStep {
  /** As it is now. */
  readonly session: ScreeningFacts;
  /**
   * How the vendor's call ended. `answered`: with a verdict. `not-asked`: the session did not let it come to a call (it is over or
   * blocked), or the attempt is an older one. `timed-out`: the call is open, and the recovery job goes on asking what came of it.
   * `unavailable`: the vendor had no verdict or nobody could learn it; an open session is as before, a registration is over and may be
   * made anew. `unintelligible`: the vendor said what is no verdict, and the session is over.
   */
  readonly end: 'answered' | 'not-asked' | 'unavailable' | 'timed-out' | 'unintelligible';
  /**
   * What the vendor said, refusals and failures in words of its own included. After a repeated step, what was said the first time. Null
   * where it said nothing that could be passed on, and when the reply is not kept any more.
   */
  readonly reply: VendorReply | null;
  /** What `reply` replies to; null without one. */
  readonly step: VendorStep | null;
}

/** An answer as it came in, or the wish for another code. */
export type GivenToParty =
  /** Four to eight digits, as text. */
  | { readonly method: 'otp'; readonly code: unknown }
  /** One 1-based position a question, in the order presented. */
  | { readonly method: 'kba'; readonly positions: readonly unknown[] }
  | { readonly method: 'resend' };

/** A registration that the limits have let in, and what the screening module knows of it; nothing of it is stored yet. */
export interface AdmittedSubmission {
  readonly sessionId: string;
}

/**
 * Screening sessions as modules use them that verify parties of the direct API. The newest reply of the vendor in each session is kept
 * in the vault, under the session's subject. Throws what the session and the limits refuse (`screening.*`, `account.not_live`,
 * `request.rate_limited`); what the vendor says or fails to say is in the result. Contexts are those of callers with an API key.
 */
export abstract class Verifications {
  /**
   * Lets a registration in, or throws what refuses it. What is admitted is to be opened or withdrawn; in between, the party takes the
   * session for its own. That the person has a completed session of the same party does not refuse another: whether it may register
   * again is the party's to say.
   */
  abstract admit(
    sessionId: string,
    partyId: string,
    applicant: Applicant,
    context: CallerContext,
  ): Promise<AdmittedSubmission>;

  /**
   * Opens the session and has the vendor asked. For a session that was opened before, nothing changes: then it waits, within the signal,
   * until that call is over.
   */
  abstract open(admitted: AdmittedSubmission, within: AbortSignal): Promise<VerificationStep>;

  /** It counts against no limit. */
  abstract withdraw(admitted: AdmittedSubmission): Promise<void>;

  /** `attemptId` names the answer: the same again is not judged again. */
  abstract answer(
    sessionId: string,
    attemptId: string,
    given: GivenToParty,
    context: CallerContext,
  ): Promise<VerificationStep>;

  /**
   * Where the newest step of the session stands; null for a session that does not exist. With a signal it waits until the call is over or the
   * signal is aborted: for a caller that asks again while another request waits for the same.
   */
  abstract latest(sessionId: string, within?: AbortSignal): Promise<VerificationStep | null>;
}
