import type { Applicant } from '../kernel/applicant.js';
import type { Change } from '../kernel/change.js';
import type { CallerContext } from '../kernel/context.js';
import type { DomainEvent } from '../kernel/domain-event.js';
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

/** The party names the session as its own: just before the session is opened, in one with it where the log can. What it throws refuses both. */
export type PartyRegistration = Change<unknown, DomainEvent>;

/**
 * Screening sessions as modules use them that verify parties of the direct API. The newest reply of the vendor in each session is kept
 * in the vault, under the session's subject. Throws what the session and the limits refuse (`screening.*`, `account.not_live`,
 * `request.rate_limited`); what the vendor says or fails to say is in the result. Contexts are those of callers with an API key.
 */
export abstract class Verifications {
  /**
   * Opens the session of a party, when the limits have let the submission in. Submitting again under the same session id changes nothing
   * of the session. What the party's registration throws is thrown, and no session is opened. That the person has a completed
   * session of the same party is nothing in the way of another: whether it may register again is the party's to say.
   */
  abstract submit(
    sessionId: string,
    partyId: string,
    applicant: Applicant,
    context: CallerContext,
    registration: PartyRegistration,
  ): Promise<VerificationStep>;

  /** `attemptId` names the answer: the same again is not judged again. */
  abstract answer(
    sessionId: string,
    attemptId: string,
    given: GivenToParty,
    context: CallerContext,
  ): Promise<VerificationStep>;

  /** Where the newest step of the session stands; null for a session that does not exist. For a caller that asks again after a timeout. */
  abstract latest(sessionId: string): Promise<VerificationStep | null>;
}
