// The events and the state of a screening session. `screening-session.ts` makes the decisions.
import type { UserActionOpening } from '../../../kernel/user-action.js';
import type {
  Challenge,
  Operation as ChallengeOperation,
  QuestionShape,
  Requested,
} from '../../../challenges/domain/challenge.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import { REFUSAL_REASONS, type RefusedInput } from '../../../kernel/refused-input.js';
import type { VendorChoice } from '../../../kernel/vendor-choice.js';
import type { VendorReply, VendorStep } from '../../../kernel/vendor-reply.js';

export type UserType = 'CONSUMER' | 'AGENT' | 'PMC';
export type Method = 'OTP' | 'KBA';
export const BLOCK_REASONS = ['TOO_MANY_ATTEMPTS', ...REFUSAL_REASONS] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];
/** The reasons that a browser may learn. Facts about a person are only for the account's servers. */
export const REASONS_FOR_BROWSERS = [
  'IDENTITY_NOT_FOUND',
  'TOO_MANY_ATTEMPTS',
  'MINOR_CONSUMER',
] as const satisfies readonly BlockReason[];
export type ReasonForBrowsers = (typeof REASONS_FOR_BROWSERS)[number];
export type ErrorCause =
  | 'VENDOR_UNAVAILABLE'
  | 'VENDOR_UNINTELLIGIBLE'
  | 'NO_VERDICT'
  | 'INPUT_REFUSED'
  | 'PRODUCT_NOT_ENABLED'
  | 'REPORT_EXPIRED';

/** `NOT_EXECUTED`: the vendor never executed the submission. `NOT_REVIEWED`: people at the vendor have not decided in time. */
export type ExpiryCause =
  'NO_ANSWER' | 'VENDOR_SESSION_OVER' | 'PERSON_ERASED' | 'SUPERSEDED' | 'NOT_EXECUTED' | 'NOT_REVIEWED';
/** The reason why a call had no result. The session then returns to its state before the call. */
export type AbandonedCause = 'VENDOR_UNAVAILABLE' | 'NOT_EXECUTED';

/**
 * A multiple-choice question as the person sees it. Answer ids are 1 to n in that order. The texts are personal data, and only the vault stores them.
 */
export interface KbaQuestion {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

export type SessionEvent =
  | DomainEvent<
      'ScreeningSubmitted',
      {
        readonly subjectId: string;
        readonly personId: string;
        readonly userType: UserType;
        /** Absent if the integrator's server has recorded the consent. */
        readonly termsAcceptedAt?: string;
        /** Whether the consumer must pay before the report is released. */
        readonly paymentRequired: boolean;
        /** The session grant of the submission, if it had one. Absent in events of older releases. */
        readonly grantId?: string;
        /** The account with which a consent would share the report, if the grant names one. */
        readonly intendedRecipientId?: string;
        /** The party whose registration opened the session, as a keyed hash. Absent in sessions of the platform. */
        readonly partyId?: string;
        /** The version of the text to which the person agreed, as the page gave it. This and the next fields are absent if the page gave none. */
        readonly termsVersion?: string;
        /** The kind of end user that the screening is for, from the grant or else from the page. */
        readonly endUserType?: EndUserType;
        /** The purpose of the reads of the report, from the grant or else from the page. Absent if neither named one, and in older events. */
        readonly purpose?: PermissiblePurpose;
        /** The product of the identity vendor. */
        readonly productId?: number;
        /** The vault stores the address of the unit (see `unitAddressEntry`). */
        readonly unitAddressKept?: true;
        /** Further names of the person that count wrong answers, as keyed hashes. Absent in events of older releases. */
        readonly countedAs?: readonly string[];
        /** Keyed hash of SSN, birth date and last name. Absent if the person has no SSN, and in events of older releases. */
        readonly registeredAs?: string;
        /** Keyed hash of the integrator's own id of the session, from the grant. Absent without one, and in events of older releases. */
        readonly externalIdHash?: string;
        /** The vendors of all calls of the session. Absent in events of older releases, which used the first vendors. */
        readonly vendors?: VendorChoice;
      }
    >
  | DomainEvent<'VerificationRequested', Requested>
  /** The first vendor has not executed the registration. All further calls of the session go to these vendors. */
  | DomainEvent<'VendorFellBack', { readonly attemptId: string; readonly vendors: VendorChoice }>
  /** The vault keeps the person's own data for vendors that know the person by no session. The event precedes the call to the identity vendor. */
  | DomainEvent<'ApplicantSealed', { readonly neededBy: readonly Referring[] }>
  /** The person's own data were removed from the vault, because the report was released or the time was over. */
  | DomainEvent<'ApplicantDiscarded', Record<never, never>>
  /** People at the vendor decide until `reviewUntil`. The vendor is asked again at `lookAgainAt`. Times are ISO 8601 UTC. */
  | DomainEvent<
      'ReviewStarted',
      {
        readonly attemptId: string;
        readonly startedAt: string;
        readonly reviewUntil: string;
        readonly lookAgainAt: string;
      }
    >
  /**
   * The person must act at the vendor until `until`. The vault keeps how the vendor is opened. A later event begins another round. Times are ISO 8601
   * UTC.
   */
  | DomainEvent<
      'PersonSentToVendor',
      {
        readonly attemptId: string;
        readonly startedAt: string;
        readonly until: string;
        readonly lookAgainAt: string;
      }
    >
  /** The people have not decided yet, or the person has not acted yet. */
  | DomainEvent<'ReviewContinued', { readonly attemptId: string; readonly lookAgainAt: string }>
  | DomainEvent<
      'StepUpRequired',
      {
        readonly attemptId: string;
        readonly methods: readonly Method[];
        readonly questions: readonly QuestionShape[];
        readonly attemptsAllowed: number;
        readonly expiresAt: string;
        /** The time when the vendor sent the first SMS; null if codes are not offered. */
        readonly smsSentAt: string | null;
        readonly duplicateGuard: boolean;
      }
    >
  | DomainEvent<
      'IdentityVerified',
      { readonly attemptId: string; readonly verifiedAt: string; readonly duplicateGuard: boolean }
    >
  | DomainEvent<'OtpAnswerReceived', Requested>
  | DomainEvent<
      'OtpRejected',
      { readonly attemptId: string; readonly attemptsRemaining: number; readonly expiresAt: string }
    >
  | DomainEvent<'OtpResendRequested', Requested>
  | DomainEvent<'OtpResent', { readonly attemptId: string; readonly smsSentAt: string }>
  | DomainEvent<'KbaAnswersReceived', Requested>
  | DomainEvent<
      'KbaRejected',
      { readonly attemptId: string; readonly attemptsRemaining: number; readonly expiresAt: string }
    >
  | DomainEvent<'AttemptAbandoned', { readonly attemptId: string; readonly cause: AbandonedCause }>
  /** If an answer in another session has locked the person, `attemptId` belongs to that session. */
  | DomainEvent<
      'SessionBlocked',
      { readonly attemptId: string; readonly reasonCode: BlockReason; readonly blockedUntil: string | null }
    >
  /** An operator has ended a temporary block at `liftedAt` (ISO 8601 UTC). */
  | DomainEvent<'BlockLifted', { readonly liftedAt: string }>
  | DomainEvent<'SessionExpired', { readonly cause: ExpiryCause }>
  /** The payment module has reported a change of the session's payment. */
  | DomainEvent<'PaymentProgressed', PaymentUpdate>
  /** The person is verified, and has paid if a payment was required. From now on the report may be released. This event occurs once in a session. */
  | DomainEvent<'ScreeningCompleted', { readonly userType: UserType; readonly transactionId: string | null }>
  /** The vendor's last reply in an ended session of a party was removed from the vault. */
  | DomainEvent<'VendorReplyDiscarded', Record<never, never>>
  | DomainEvent<
      'SessionErrored',
      {
        readonly attemptId: string;
        readonly cause: ErrorCause;
        /** The input that the vendor refused. Absent for other causes, and in events of older releases. */
        readonly refusedInput?: RefusedInput;
      }
    >;

export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED' | 'REFUNDED';

/** The newest state of a payment transaction that the session has received. */
export interface PaymentProgress {
  readonly transactionId: string;
  /** The number of the transaction among those of the session, from 0. */
  readonly ordinal: number;
  /** The number of events in the payment's stream at that time. An update with a number that is not higher changes nothing. */
  readonly observation: number;
  readonly status: PaymentStatus;
}

export type PaymentUpdate = Omit<PaymentProgress, 'status'> & {
  /** `CARRIED_OVER`: the payment counts for a newer session of the person, and no longer for this session. */
  readonly status: PaymentStatus | 'CARRIED_OVER';
};

export type Operation = 'registration' | ChallengeOperation;

export interface Attempt extends Requested {
  readonly operation: Operation;
}

/** The operation within the step-up; null for the registration, which precedes the step-up. */
export function operationOf({ operation }: Attempt): ChallengeOperation | null {
  return operation === 'registration' ? null : operation;
}

/** People at the vendor decide. Times are ISO 8601 UTC. The attempt of the registration has the time of the next query. */
export interface Review {
  readonly startedAt: string;
  readonly until: string;
  /** The person must act at the vendor, and its people decide nothing yet. */
  readonly userActs?: true;
}

/** The offered methods and the remaining attempts. `otp` stays false if the person has chosen the questions. */
export interface StepUp extends Challenge {
  readonly kba: boolean;
  readonly attemptsRemaining: number;
  /** Whether an answer was wrong. Callers get the number of remaining attempts only after a wrong answer. */
  readonly answeredWrong: boolean;
  readonly expiresAt: string;
}

export interface Submitted {
  readonly subjectId: string;
  readonly personId: string;
  readonly userType: UserType;
  readonly paymentRequired: boolean;
  /** The vendors of the session's calls, even if the account has chosen others since. */
  readonly vendors: VendorChoice;
  /** Set after the registration went to a second vendor. */
  readonly fellBack?: true;
  /** Whether the duplicate check applies to this person in the test environment too. */
  readonly duplicateGuard: boolean;
  /** Absent until a payment begins, and after the payment has moved to another session. */
  readonly payment?: PaymentProgress;
  /** Transactions that were refunded or have moved to another session. Updates of these transactions no longer count. */
  readonly spent?: readonly string[];
  /** Whether the session was ever COMPLETED. */
  readonly completed?: true;
  readonly intendedRecipientId?: string;
  /** The session grant of the submission. Only tokens of that grant have access (docs/contract/server.md#sessions-of-a-grant). */
  readonly grantId?: string;
  /** The party that the session verifies. Only servers with an API key have access (docs/contract/platform.md#sessions-of-parties). */
  readonly partyId?: string;
  /** The vault stores the address of the unit. */
  readonly unitAddressKept?: true;
  /** Further names of the person that count wrong answers. */
  readonly countedAs?: readonly string[];
  /** SSN, birth date and last name as one keyed hash. */
  readonly registeredAs?: string;
  /** The vault keeps the person's own data for these capabilities. Absent when none needs the data, and when the data were removed. */
  readonly applicantFor?: readonly Referring[];
  /** Set after people at the vendor began to check the person. */
  readonly reviewed?: true;
  /** The vendor's last reply was removed from the vault. */
  readonly replyDiscarded?: true;
  /** All attempts that were ever reserved, each of which is made only once. */
  readonly attemptIds: readonly string[];
}

export type OpenStepUp = Submitted & {
  readonly status: 'STEP_UP_REQUIRED' | 'OTP_PENDING' | 'KBA_PENDING';
  readonly stepUp: StepUp;
  /** The last attempt without a result, until another attempt is reserved. */
  readonly abandoned: { readonly attemptId: string; readonly cause: AbandonedCause } | null;
  /** The call that is at the vendor now. `before` is the state to which the session returns when the call has no result. */
  readonly attempt:
    | (Attempt & { readonly before: 'STEP_UP_REQUIRED' | 'OTP_PENDING' | 'KBA_PENDING'; readonly otpBefore: boolean })
    | null;
};

export type UnderReview = Submitted & {
  readonly status: 'SUBMITTED';
  readonly attempt: Attempt;
  readonly review: Review;
};

export type SessionState =
  | { readonly status: 'NONE' }
  | (Submitted & { readonly status: 'SUBMITTED'; readonly attempt: Attempt | null; readonly review: null })
  | UnderReview
  | OpenStepUp
  | (Submitted & { readonly status: 'VERIFIED'; readonly verifiedAt: string })
  | (Submitted & { readonly status: 'BLOCKED'; readonly reasonCode: BlockReason; readonly blockedUntil: string | null })
  | (Submitted & { readonly status: 'EXPIRED'; readonly cause: ExpiryCause })
  | (Submitted & { readonly status: 'ERROR'; readonly cause: ErrorCause; readonly refusedInput?: RefusedInput });

/** A session that exists. */
export type Session = Exclude<SessionState, { status: 'NONE' }>;

/** The capabilities whose vendors are asked about a verified person. */
export type Referring = 'credit' | 'income' | 'banking';

/** The tokens by which the vendors of the other capabilities know the person. A vendor that needs no token is omitted. */
export type References = Readonly<Partial<Record<Referring, string>>>;

/**
 * The vault entry of a session. The entry has the vendors' tokens, the questions while they are open, and a hash of the phone for the limit of codes.
 */
export interface SessionSecretsContent {
  /** The session at the identity vendor. */
  readonly vendorSession: string;
  /** The vendor's token for the confirmed person. If it is absent, `vendorSession` serves as the token. */
  readonly personToken?: string;
  /** Absent in older sessions, whose first vendors accept `vendorSession`. */
  readonly references?: References;
  /** Keyed hash of the phone number. Absent in older sessions, and when the recovery job recorded the step-up. */
  readonly phoneId?: string;
  readonly questions: readonly KbaQuestion[] | null;
  /** How the person opens the vendor, in a round of the person. */
  readonly open?: UserActionOpening;
}

/** The name of the entry above under the session's vault subject. */
export function secretsEntry(sessionId: string): string {
  return `screening:${sessionId}`;
}

/** The name of the entry of the person's own data (`KeptApplicant`) under the session's vault subject. */
export function applicantEntry(sessionId: string): string {
  return `applicant:${sessionId}`;
}

/** The home for which the person is screened, as the page gave it. */
export interface UnitAddressContent {
  readonly unitAddress: string | Readonly<Record<string, string>>;
}

/** The name of the entry above under the session's vault subject. */
export function unitAddressEntry(sessionId: string): string {
  return `unit-address:${sessionId}`;
}

/** The identity vendor's newest reply in a session of a party, with its attempt and step. */
export interface VendorReplyContent {
  readonly attemptId: string;
  readonly step: VendorStep;
  readonly reply: VendorReply;
}

/** The name of the entry above under the session's vault subject. */
export function vendorReplyEntry(sessionId: string): string {
  return `vendor-reply:${sessionId}`;
}

/** Undefined if a browser must not learn the reason. */
export function reasonForBrowsers(reason: BlockReason): ReasonForBrowsers | undefined {
  return REASONS_FOR_BROWSERS.find((told) => told === reason);
}
