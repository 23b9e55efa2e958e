// What a screening session is: its events and its state. Decisions are made in screening-session.ts.
import type {
  Challenge,
  Operation as ChallengeOperation,
  QuestionShape,
  Requested,
} from '../../../challenges/domain/challenge.js';
import type { RefusalReason } from '../../../challenges/domain/verdict.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { RefusedInput } from '../../../kernel/refused-input.js';
import type { VendorChoice } from '../../../kernel/vendor-choice.js';
import type { VendorReply, VendorStep } from '../../../kernel/vendor-reply.js';

export type UserType = 'CONSUMER' | 'AGENT' | 'PMC';
export type Method = 'OTP' | 'KBA';
export type BlockReason = 'TOO_MANY_ATTEMPTS' | RefusalReason;
/** Why, as far as a browser is told: what was found about a person is for the account's servers alone. */
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

/** `NOT_EXECUTED`: the vendor never saw the submission. */
export type ExpiryCause = 'NO_ANSWER' | 'VENDOR_SESSION_OVER' | 'PERSON_ERASED' | 'SUPERSEDED' | 'NOT_EXECUTED';
/** Why nothing came of a call: the session is as it was before. */
export type AbandonedCause = 'VENDOR_UNAVAILABLE' | 'NOT_EXECUTED';

/** A multiple-choice question as presented; answer ids are 1..n in that order. Texts are personal data: vault only. */
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
        /** Absent where the integrator's server holds the consent. */
        readonly termsAcceptedAt?: string;
        /** Whether the consumer has to pay before the report is released. */
        readonly paymentRequired: boolean;
        /** The session grant that it was submitted under, if any. Absent in what was stored before it was recorded. */
        readonly grantId?: string;
        /** Account that a consent would share the report with, if the grant named one. */
        readonly intendedRecipientId?: string;
        /** The party that its registration opened it for: a keyed hash. Absent in sessions of the platform. */
        readonly partyId?: string;
        /** Which text was agreed to, as the page says. Absent where it says nothing, as the fields below. */
        readonly termsVersion?: string;
        /** For whom the screening is done: as the grant or else the page says. */
        readonly endUserType?: EndUserType;
        /** Product of the identity vendor. */
        readonly productId?: number;
        /** The vault has the address of the unit (see `unitAddressEntry`). */
        readonly unitAddressKept?: true;
        /** Keyed hashes: names beside the person's own under which wrong answers count. Absent in what was stored before they were recorded. */
        readonly countedAs?: readonly string[];
        /** Keyed hash of SSN, birth date and last name. Absent without an SSN, and in what was stored before it was recorded. */
        readonly registeredAs?: string;
        /** Where its calls go from then on. Absent in what was stored before it was recorded: the first vendors. */
        readonly vendors?: VendorChoice;
      }
    >
  | DomainEvent<'VerificationRequested', Requested>
  | DomainEvent<
      'StepUpRequired',
      {
        readonly attemptId: string;
        readonly methods: readonly Method[];
        readonly questions: readonly QuestionShape[];
        readonly attemptsAllowed: number;
        readonly expiresAt: string;
        /** When the vendor sent the first SMS; null when codes are not offered. */
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
  /** The attempt is another session's where an answer there has locked the person out of all. */
  | DomainEvent<
      'SessionBlocked',
      { readonly attemptId: string; readonly reasonCode: BlockReason; readonly blockedUntil: string | null }
    >
  /** An operator has ended the block for a time of a session: it ended then (ISO 8601 UTC). */
  | DomainEvent<'BlockLifted', { readonly liftedAt: string }>
  | DomainEvent<'SessionExpired', { readonly cause: ExpiryCause }>
  /** How far the payment of the session is, as the payment itself tells. */
  | DomainEvent<'PaymentProgressed', PaymentNews>
  /** Verified, and paid if it had to be: from now on the report may be released. Once a session. */
  | DomainEvent<'ScreeningCompleted', { readonly userType: UserType; readonly transactionId: string | null }>
  /** Of a session of a party that is over: what the vendor said last is kept no more. */
  | DomainEvent<'VendorReplyDiscarded', Record<never, never>>
  | DomainEvent<
      'SessionErrored',
      {
        readonly attemptId: string;
        readonly cause: ErrorCause;
        /** What the vendor objected to. Absent for other causes, and in what was stored before it was recorded. */
        readonly refusedInput?: RefusedInput;
      }
    >;

export type PaymentStatus = 'PENDING' | 'PROCESSING' | 'REQUIRES_ACTION' | 'SUCCEEDED' | 'FAILED' | 'REFUNDED';

/** One payment transaction as the session has heard of it. */
export interface PaymentProgress {
  readonly transactionId: string;
  /** Counts the transactions of the session, from 0. */
  readonly ordinal: number;
  /** Counts the payment's own events: what is not newer than what is known says nothing new. */
  readonly observation: number;
  readonly status: PaymentStatus;
}

export type PaymentNews = Omit<PaymentProgress, 'status'> & {
  /** `CARRIED_OVER`: it counts for a newer session of the person, and for this one no more. */
  readonly status: PaymentStatus | 'CARRIED_OVER';
};

export type Operation = 'registration' | ChallengeOperation;

export interface Attempt extends Requested {
  readonly operation: Operation;
}

/** Within the step-up; null for the registration, which asks for it. */
export function operationOf({ operation }: Attempt): ChallengeOperation | null {
  return operation === 'registration' ? null : operation;
}

/** What is offered, and what is left of it. `otp` is false for good once the person turned to the questions. */
export interface StepUp extends Challenge {
  readonly kba: boolean;
  readonly attemptsRemaining: number;
  /** Whether an answer was wrong already: only then the count is told. */
  readonly answeredWrong: boolean;
  readonly expiresAt: string;
}

export interface Submitted {
  readonly subjectId: string;
  readonly personId: string;
  readonly userType: UserType;
  readonly paymentRequired: boolean;
  /** Where its calls go, whatever its account has chosen since. */
  readonly vendors: VendorChoice;
  /** The duplicate guard is on for this person also in the test environment. */
  readonly duplicateGuard: boolean;
  /** Absent while no payment was begun, and after it was carried over. */
  readonly payment?: PaymentProgress;
  /** Transactions that were given back or carried over: what is said of them counts no more. */
  readonly spent?: readonly string[];
  /** It was COMPLETED once. */
  readonly completed?: true;
  readonly intendedRecipientId?: string;
  /** The session grant that it was submitted under: only tokens of that grant may touch it (docs/contract/server.md#sessions-of-a-grant). */
  readonly grantId?: string;
  /** The party of the direct API that it verifies: only servers with an API key may touch it (docs/contract/platform.md#sessions-of-parties). */
  readonly partyId?: string;
  /** The vault has the address of the unit. */
  readonly unitAddressKept?: true;
  /** Names beside the person's own under which wrong answers count. */
  readonly countedAs?: readonly string[];
  /** SSN, birth date and last name as one keyed hash. */
  readonly registeredAs?: string;
  /** What the vendor said last is kept no more. */
  readonly replyDiscarded?: true;
  /** Every attempt that was ever reserved: none of them is made again. */
  readonly attemptIds: readonly string[];
}

export type OpenStepUp = Submitted & {
  readonly status: 'STEP_UP_REQUIRED' | 'OTP_PENDING' | 'KBA_PENDING';
  readonly stepUp: StepUp;
  /** The attempt of which nothing came last, until another one is reserved. */
  readonly abandoned: { readonly attemptId: string; readonly cause: AbandonedCause } | null;
  /** The call that is with the vendor now; `before` is the state to go back to when nothing comes of it. */
  readonly attempt:
    | (Attempt & { readonly before: 'STEP_UP_REQUIRED' | 'OTP_PENDING' | 'KBA_PENDING'; readonly otpBefore: boolean })
    | null;
};

export type SessionState =
  | { readonly status: 'NONE' }
  | (Submitted & { readonly status: 'SUBMITTED'; readonly attempt: Attempt | null })
  | OpenStepUp
  | (Submitted & { readonly status: 'VERIFIED'; readonly verifiedAt: string })
  | (Submitted & { readonly status: 'BLOCKED'; readonly reasonCode: BlockReason; readonly blockedUntil: string | null })
  | (Submitted & { readonly status: 'EXPIRED'; readonly cause: ExpiryCause })
  | (Submitted & { readonly status: 'ERROR'; readonly cause: ErrorCause; readonly refusedInput?: RefusedInput });

/** A session that exists. */
export type Session = Exclude<SessionState, { status: 'NONE' }>;

/** How the vendors of the other capabilities know the person; one that begins without is left out. */
export type References = Readonly<Partial<Record<'credit' | 'income', string>>>;

/** What a session keeps in the vault: the vendors' tokens, the questions while they are open, and whose limit a further code counts against. */
export interface SessionSecretsContent {
  /** Of the identity vendor. */
  readonly vendorSession: string;
  /** By which it knows the person once the identity was confirmed; absent: by `vendorSession`. */
  readonly personToken?: string;
  /** Absent in older sessions: `vendorSession` is what the first vendors take. */
  readonly references?: References;
  /** Keyed hash of the phone number; absent in older sessions, and where the recovery job learnt late that there is a step-up. */
  readonly phoneId?: string;
  readonly questions: readonly KbaQuestion[] | null;
}

/** Name of that entry under the session's vault subject. */
export function secretsEntry(sessionId: string): string {
  return `screening:${sessionId}`;
}

/** For which home the person is screened, in the words of the page. */
export interface UnitAddressContent {
  readonly unitAddress: string | Readonly<Record<string, string>>;
}

/** Name of that entry under the session's vault subject. */
export function unitAddressEntry(sessionId: string): string {
  return `unit-address:${sessionId}`;
}

/** The newest answer of the identity vendor to a session of a party, and to which attempt and step it was. */
export interface VendorReplyContent {
  readonly attemptId: string;
  readonly step: VendorStep;
  readonly reply: VendorReply;
}

/** Name of that entry under the session's vault subject. */
export function vendorReplyEntry(sessionId: string): string {
  return `vendor-reply:${sessionId}`;
}

/** Undefined where a browser is not told. */
export function reasonForBrowsers(reason: BlockReason): ReasonForBrowsers | undefined {
  return REASONS_FOR_BROWSERS.find((told) => told === reason);
}
