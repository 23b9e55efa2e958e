// A renter, agent or organization of the direct API, by the integrator's id. The stream id is a keyed hash of that id, which is stored nowhere. Each
// registration is a screening session of its own (see published/verifications.ts). The stream of a party records the ids of its sessions and its
// re-authentications. Source: docs/contract/direct.md#parties.
import type { Challenge as PartsOfChallenge, Operation, Requested } from '../../../challenges/domain/challenge.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

/** The kinds of parties that an integrator knows by an id of its own. */
export type PartyKind = 'renter' | 'agent' | 'organization';

/** One registration. When its session does not exist, the registration was given up before the session was opened. */
export interface Registration {
  readonly sessionId: string;
  /** Keyed hash of the party and the body, by which a repeated request is recognised. */
  readonly bodyHash: string;
  readonly registeredAt: string;
}

/** The reference by which the vendor knows a party. The vault keeps the replies about the party under the subject of this reference. */
export interface Reference {
  /** The session that confirmed the person; null for the token that was stored for the party. */
  readonly sessionId: string | null;
  readonly subjectId: string;
  readonly vendor: string;
  /** Keyed ids of the person, for the count of wrong answers (see published/known-persons.ts). Absent in challenges of older releases. */
  readonly personIds?: readonly string[];
}

/** The vault stores the vendor's session and the texts (see `challengeEntry`). */
export type ChallengeShape = Pick<PartsOfChallenge, 'otp' | 'questions'>;

export type AbandonCause = 'VENDOR_UNAVAILABLE' | 'NOT_EXECUTED';
export type EndCause =
  'VENDOR_SESSION_OVER' | 'VENDOR_REFUSED' | 'VENDOR_UNINTELLIGIBLE' | 'NO_VERDICT' | 'PERSON_ERASED';

export type PartyEvent =
  /** A registration begins, and its session will be opened next. */
  | DomainEvent<'PartyRegistered', Registration & { readonly kind: PartyKind }>
  /** The integrator gave the vendor's token of the party. The vault stores the token (see `tokenEntry`). */
  | DomainEvent<
      'VendorTokenStored',
      { readonly kind: PartyKind; readonly subjectId: string; readonly storedAt: string }
    >
  /** Evidence that the data key of a stored token was destroyed. Data under this subject can never be read again. */
  | DomainEvent<'VendorTokenErased', { readonly subjectId: string }>
  | DomainEvent<'ReauthenticationRequested', Requested & Reference>
  | DomainEvent<
      'ReauthenticationChallenged',
      ChallengeShape &
        Reference & {
          readonly attemptId: string;
          /** Null if no code was sent. */ readonly smsSentAt: string | null;
        }
    >
  | DomainEvent<'ReauthenticationAnswerReceived', Requested & { readonly method: 'OTP' | 'KBA' }>
  | DomainEvent<
      'ReauthenticationRejected',
      {
        readonly attemptId: string;
        readonly rejectedAt: string;
        /** The number of further wrong answers that lock the person. Absent in events of older releases. */
        readonly attemptsRemaining?: number;
      }
    >
  | DomainEvent<'ReauthenticationCodeRequested', Requested>
  | DomainEvent<'ReauthenticationCodeSent', { readonly attemptId: string; readonly smsSentAt: string }>
  | DomainEvent<'PartyReauthenticated', { readonly attemptId: string; readonly authenticatedAt: string }>
  /** Wrong answers lock the party out of every call until `lockedUntil`. */
  | DomainEvent<'PartyLocked', { readonly attemptId: string; readonly lockedUntil: string }>
  /** An operator has ended the lock. Earlier wrong answers no longer count. */
  | DomainEvent<'PartyUnlocked', { readonly unlockedAt: string }>
  /** The call had no result. An open challenge stays open. */
  | DomainEvent<'ReauthenticationAbandoned', { readonly attemptId: string; readonly cause: AbandonCause }>
  /** The challenge has ended without success. Another challenge may begin. */
  | DomainEvent<'ReauthenticationEnded', { readonly attemptId: string; readonly cause: EndCause }>
  /** The vendor's replies to calls whose `settleAfter` was not after `until` were removed from the vault. */
  | DomainEvent<'PartyRepliesDiscarded', { readonly until: string }>
  /** The integrator ended the authentication. Earlier confirmations of the party no longer count. */
  | DomainEvent<'AuthenticationExpired', { readonly expiredAt: string }>;

/** `attemptId` names the attempt that began the challenge. `attemptsRemaining` is absent before the first wrong answer. */
export type Challenge = PartsOfChallenge &
  Reference & { readonly attemptId: string; readonly attemptsRemaining?: number | undefined };

export type Attempt = Requested & Reference & { readonly operation: 'reauthentication' | Operation };

export interface PartyState {
  /** Null before the first event. */
  readonly kind: PartyKind | null;
  /** The newest entry is last, and the length is limited. */
  readonly registrations: readonly Registration[];
  /** `after` is the session of the newest registration at the time when the token was stored. */
  readonly token: { readonly subjectId: string; readonly after: string | null } | null;
  /** The newest re-authentication since the newest registration and since the last expiry by the integrator; null if none exists. */
  readonly reauthenticatedAt: string | null;
  /** The reference of that re-authentication; null if none exists. */
  readonly reauthenticatedAs: Reference | null;
  /** The time at which the integrator last ended the authentication. */
  readonly expiredAt: string | null;
  /** The time at which every lock so far has ended. */
  readonly lockedUntil: string | null;
  /** Wrong answers since the last success or lock (ISO 8601 UTC). The newest is last, and the length is limited. */
  readonly wrongAt: readonly string[];
  readonly challenge: Challenge | null;
  /** The call that is at the vendor. */
  readonly attempt: Attempt | null;
  /** Attempts that were reserved, each of which is never reserved again. The newest is last, and the length is limited. */
  readonly attemptIds: readonly string[];
  /** Calls whose replies the vault may still store, the oldest first. */
  readonly replies: readonly Pick<Attempt, 'attemptId' | 'subjectId' | 'settleAfter'>[];
}

/** The vault entry of the stored token, under the token's subject. */
export function tokenEntry(partyId: string): string {
  return `party/${partyId}/token`;
}

/** The vault entry of an open challenge, under the subject of its reference. */
export function challengeEntry(partyId: string): string {
  return `party/${partyId}/challenge`;
}

/** The vault entry of the vendor's reply to an attempt, under the subject of the attempt's reference. */
export function replyEntry(partyId: string, attemptId: string): string {
  return `party/${partyId}/reply/${attemptId}`;
}

/** The ended calls whose time limit had passed at `until`. The vendor's replies to these calls need not be kept. */
export function repliesUntil({ replies, attempt }: PartyState, until: Date): PartyState['replies'] {
  return replies.filter(
    ({ attemptId, settleAfter }) => attemptId !== attempt?.attemptId && new Date(settleAfter) <= until,
  );
}

/** The sessions under which the vault may store the vendor's token of the party, newest first. Null stands for the stored token. */
export function referencesOf({ registrations, token }: PartyState): readonly (string | null)[] {
  const sessionIds = registrations.map(({ sessionId }) => sessionId);
  if (token === null) return sessionIds.reverse();
  const before = token.after === null ? 0 : sessionIds.indexOf(token.after) + 1;
  return [...sessionIds.slice(0, before), null, ...sessionIds.slice(before)].reverse();
}

/**
 * The time since which the identity of the party is confirmed, by its newest session or a later re-authentication. `verifiedAt` is null unless the
 * newest session is VERIFIED. The result is null if the party was never confirmed, when its confirmation is too old, and after the integrator has
 * ended it.
 */
export function confirmedSince(
  { reauthenticatedAt, expiredAt }: PartyState,
  verifiedAt: string | null,
  now: Date,
  validitySeconds: number,
): string | null {
  const verified = verifiedAt !== null && (expiredAt === null || verifiedAt > expiredAt) ? verifiedAt : null;
  const since = reauthenticatedAt ?? verified;
  if (since === null || now.getTime() - new Date(since).getTime() >= validitySeconds * 1_000) return null;
  return since;
}
