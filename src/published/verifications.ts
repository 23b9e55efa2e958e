import type { Applicant } from '../kernel/applicant.js';
import type { CallerContext } from '../kernel/context.js';
import type { VendorReply } from '../kernel/vendor-reply.js';
import type { ScreeningFacts } from './screenings.js';

/** What became of one step of a verification. */
export interface VerificationStep {
  /** As it is now. */
  readonly session: ScreeningFacts;
  /**
   * How the vendor's call ended. `answered`: `reply` is what it said. `not-asked`: the session did not let it come to a call (it is
   * over or blocked), or the attempt was made before and is over. The others are trouble: see `NoVerdict`.
   */
  readonly end: 'answered' | 'not-asked' | 'unavailable' | 'timed-out' | 'unintelligible';
  /** Null unless `answered`. After a repeated step, what was said the first time. */
  readonly reply: VendorReply | null;
}

/**
 * Screening sessions as modules use them that verify parties of the direct API. Vendors' answers are kept in the vault, under the
 * session's subject, for sessions that belong to a party, the newest of each session. Throws what the session and the limits refuse
 * (`screening.*`, `account.not_live`, `request.rate_limited`); what the vendor says or fails to say is in the result.
 */
export abstract class Verifications {
  /**
   * Opens the session of a party. Submitting again under the same session id changes nothing. `begin` is called when the limits have
   * let the submission in, before anything is stored: the party names the session as its own there. What it throws is thrown, and
   * no session is opened. That the person has a completed session of the same party is nothing in the way of another: whether it
   * may register again is the party's to say.
   */
  abstract submit(
    sessionId: string,
    partyId: string,
    applicant: Applicant,
    context: CallerContext,
    begin: () => Promise<void>,
  ): Promise<VerificationStep>;

  /** `attemptId` names the answer: the same again is not judged again. */
  abstract answerOtp(
    sessionId: string,
    attemptId: string,
    code: unknown,
    context: CallerContext,
  ): Promise<VerificationStep>;

  /** One 1-based position a question, in the order presented. */
  abstract answerKba(
    sessionId: string,
    attemptId: string,
    positions: readonly unknown[],
    context: CallerContext,
  ): Promise<VerificationStep>;

  abstract resendOtp(sessionId: string, attemptId: string, context: CallerContext): Promise<VerificationStep>;

  /** Where the newest step of the session stands: `timed-out` while its call is open. */
  abstract latest(sessionId: string): Promise<VerificationStep | null>;
}
