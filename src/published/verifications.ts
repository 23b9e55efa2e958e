import type { Applicant } from '../kernel/applicant.js';
import type { CallerContext } from '../kernel/context.js';
import type { UserAction } from '../kernel/user-action.js';
import type { FieldName } from '../kernel/field-names.js';
import type { VendorRefusal } from '../kernel/refused-input.js';
import type { VendorReply, VendorStep } from '../kernel/vendor-reply.js';
import type { ScreeningFacts } from './screenings.js';

/**
 * The result of one step of a verification. The state of the session shows the vendor's decision. After an answer, VERIFIED means right, and an open
 * session means wrong. BLOCKED by TOO_MANY_ATTEMPTS means locked. BLOCKED for another reason, ERROR and EXPIRED mean refused.
 */
export interface VerificationStep {
  /** The session in its present state. */
  readonly session: ScreeningFacts;
  /**
   * How the vendor's call ended. `answered`: with a verdict. `not-asked`: the session allowed no call (it has ended or is blocked), or the attempt is
   * not the newest. `timed-out`: the call is open, and the recovery job continues to ask for its result. `unavailable`: the vendor gave no verdict,
   * or none arrived. An open session is then as before; a registration has ended and may be repeated. `unintelligible`: the vendor's answer is not a
   * verdict, and the session has ended.
   */
  readonly end: 'answered' | 'not-asked' | 'unavailable' | 'timed-out' | 'unintelligible';
  /**
   * The vendor's answer, even when it is a refusal or a failure with the vendor's text. A repeated step has the answer of the first time. Null when
   * the vendor gave no answer that can be passed on, and when the reply is no longer kept.
   */
  readonly reply: VendorReply | null;
  /** The vendor's decision, from which the answer is written. Null if `reply` is passed on, and unless `end` is `answered`. */
  readonly decision: Decision | null;
  /** Whether people at the vendor have decided or will decide. */
  readonly reviewed: boolean;
  /** The step that `reply` or `decision` answers; null without both. */
  readonly step: VendorStep | null;
}

/** A multiple-choice question with its texts, which are personal data. */
export interface AskedQuestion {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

/** The vendor's decision on a step of a verification or re-authentication. */
export type Decision =
  | { readonly kind: 'confirmed' }
  /** Null questions are not asked. `attemptsRemaining` is null before the first wrong answer. */
  | {
      readonly kind: 'challenge';
      readonly otp: boolean;
      readonly questions: readonly AskedQuestion[] | null;
      readonly attemptsRemaining: number | null;
    }
  /** People at the vendor decide, at the latest at `until` (ISO 8601 UTC). */
  | { readonly kind: 'under-review'; readonly until: string }
  /** The person must act at the vendor, at the latest at `until` (ISO 8601 UTC). */
  | ({ readonly kind: 'needs-user' } & UserAction)
  /** `field` is null if the refusal concerns no field. */
  | { readonly kind: 'refused'; readonly refusal: VendorRefusal; readonly field: FieldName | null };

/** An answer as it arrived, or a request for another code. */
export type GivenToParty =
  /** Four to eight digits, as text. */
  | { readonly method: 'otp'; readonly code: unknown }
  /** One position for each question, counted from 1, in the order in which the person sees them. */
  | { readonly method: 'kba'; readonly positions: readonly unknown[] }
  | { readonly method: 'resend' };

/** A registration that the limits have accepted, before it is stored. */
export interface AdmittedSubmission {
  readonly sessionId: string;
}

/**
 * Screening sessions for modules that verify parties of the direct API. The vault keeps the newest reply of the vendor in each session, under the
 * session's subject. The session and the limits refuse with domain errors (`screening.*`, `account.not_live`, `request.rate_limited`). The vendor's
 * answer, or its absence, is in the result. Each caller has an API key.
 */
export abstract class Verifications {
  /**
   * Accepts a registration, or throws the domain error that refuses it. The caller must open or withdraw an accepted registration. Before the caller
   * opens it, the caller must record the session in the party. A completed session of the same person and party does not block another session,
   * because the rules of parties decide whether it may register again.
   */
  abstract admit(
    sessionId: string,
    partyId: string,
    applicant: Applicant,
    context: CallerContext,
  ): Promise<AdmittedSubmission>;

  /** Opens the session and calls the vendor. For a session that was opened before, it only waits until that call or the signal ends. */
  abstract open(admitted: AdmittedSubmission, within: AbortSignal): Promise<VerificationStep>;

  /** A withdrawn registration counts for no limit. */
  abstract withdraw(admitted: AdmittedSubmission): Promise<void>;

  /** `attemptId` is the id of the answer. An answer with a known id is not judged again. */
  abstract answer(
    sessionId: string,
    attemptId: string,
    given: GivenToParty,
    context: CallerContext,
  ): Promise<VerificationStep>;

  /**
   * The newest step of the session; null for a session that does not exist. With a signal, the function waits until the vendor's call has ended or
   * the signal is aborted. A repeated request can therefore wait for the call of the first request.
   */
  abstract latest(sessionId: string, within?: AbortSignal): Promise<VerificationStep | null>;
}
