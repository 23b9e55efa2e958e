// A renter, agent or organization of the direct API, by the integrator's id. The stream id is a keyed hash of that id, which is
// stored nowhere. Registrations are screening sessions of their own (see published/verifications.ts); here is which of them are the
// party's, and how it authenticates again afterwards. Source: docs/contract/direct.md#parties.
import type { Challenge as PartsOfChallenge, Operation, Requested } from '../../../challenges/domain/challenge.js';
import type { DomainEvent } from '../../../kernel/domain-event.js';

/** Whom an integrator knows by an id of its own. */
export type PartyKind = 'renter' | 'agent' | 'organization';

/** One registration. A session of that id may be missing: then the registration was given up before it was opened. */
export interface Registration {
  readonly sessionId: string;
  /** Keyed hash of the party and the body, by which the same request is known again. */
  readonly bodyHash: string;
  readonly registeredAt: string;
}

/** By what the vendor knows a party, and under which vault subject what is said about it is kept. */
export interface Reference {
  /** Whose confirmed person it is; null: the token that was stored for the party. */
  readonly sessionId: string | null;
  readonly subjectId: string;
  readonly vendor: string;
  /** Keyed ids of who it is, by which wrong answers count (see published/known-persons.ts); absent in a challenge before there were any. */
  readonly personIds?: readonly string[];
}

/** The vendor's session and the texts lie in the vault: see `challengeEntry`. */
export type ChallengeShape = Pick<PartsOfChallenge, 'otp' | 'questions'>;

export type AbandonCause = 'VENDOR_UNAVAILABLE' | 'NOT_EXECUTED';
export type EndCause =
  'VENDOR_SESSION_OVER' | 'VENDOR_REFUSED' | 'VENDOR_UNINTELLIGIBLE' | 'NO_VERDICT' | 'PERSON_ERASED';

export type PartyEvent =
  /** A registration begins: its session is about to be opened. */
  | DomainEvent<'PartyRegistered', Registration & { readonly kind: PartyKind }>
  /** The integrator gave the vendor's token of the party. It lies in the vault: see `tokenEntry`. */
  | DomainEvent<
      'VendorTokenStored',
      { readonly kind: PartyKind; readonly subjectId: string; readonly storedAt: string }
    >
  /** Evidence that the data key of a stored token is gone: what was kept under the subject can never be read again. */
  | DomainEvent<'VendorTokenErased', { readonly subjectId: string }>
  | DomainEvent<'ReauthenticationRequested', Requested & Reference>
  | DomainEvent<
      'ReauthenticationChallenged',
      ChallengeShape &
        Reference & {
          readonly attemptId: string;
          /** Null where no code was sent. */ readonly smsSentAt: string | null;
        }
    >
  | DomainEvent<'ReauthenticationAnswerReceived', Requested & { readonly method: 'OTP' | 'KBA' }>
  | DomainEvent<'ReauthenticationRejected', { readonly attemptId: string; readonly rejectedAt: string }>
  | DomainEvent<'ReauthenticationCodeRequested', Requested>
  | DomainEvent<'ReauthenticationCodeSent', { readonly attemptId: string; readonly smsSentAt: string }>
  | DomainEvent<'PartyReauthenticated', { readonly attemptId: string; readonly authenticatedAt: string }>
  /** Wrong answers lock the party out of everything until then. */
  | DomainEvent<'PartyLocked', { readonly attemptId: string; readonly lockedUntil: string }>
  /** An operator has ended the lock; the wrong answers until then count no more. */
  | DomainEvent<'PartyUnlocked', { readonly unlockedAt: string }>
  /** The call came to nothing; a challenge that is open stays open. */
  | DomainEvent<'ReauthenticationAbandoned', { readonly attemptId: string; readonly cause: AbandonCause }>
  /** The challenge is over without success; another may begin. */
  | DomainEvent<'ReauthenticationEnded', { readonly attemptId: string; readonly cause: EndCause }>
  /** What the vendor said in calls whose time was over until then (`settleAfter`) was removed from the vault. */
  | DomainEvent<'PartyRepliesDiscarded', { readonly until: string }>
  /** The integrator ended the authentication. What confirmed the party before counts no more. */
  | DomainEvent<'AuthenticationExpired', { readonly expiredAt: string }>;

/** `attemptId`: the attempt that began it. */
export type Challenge = PartsOfChallenge & Reference & { readonly attemptId: string };

export type Attempt = Requested & Reference & { readonly operation: 'reauthentication' | Operation };

export interface PartyState {
  /** Null before its first event. */
  readonly kind: PartyKind | null;
  /** Newest last, bounded. */
  readonly registrations: readonly Registration[];
  /** `after`: the newest registration when it was stored. */
  readonly token: { readonly subjectId: string; readonly after: string | null } | null;
  /** The newest re-authentication since the newest registration and the last expiry by hand; null without one. */
  readonly reauthenticatedAt: string | null;
  /** Who it was then; null without one. */
  readonly reauthenticatedAs: Reference | null;
  /** When the authentication was ended by hand last. */
  readonly expiredAt: string | null;
  /** The latest end of a lock there was. */
  readonly lockedUntil: string | null;
  /** Wrong answers since the last success or lock (ISO 8601 UTC), newest last, bounded. */
  readonly wrongAt: readonly string[];
  readonly challenge: Challenge | null;
  /** The call that is with the vendor. */
  readonly attempt: Attempt | null;
  /** Reserved before, newest last, bounded: none is reserved again. */
  readonly attemptIds: readonly string[];
  /** Calls whose replies the vault may still keep, oldest first. */
  readonly replies: readonly Pick<Attempt, 'attemptId' | 'subjectId' | 'settleAfter'>[];
}

/** Vault entry, under the subject of the stored token. */
export function tokenEntry(partyId: string): string {
  return `party/${partyId}/token`;
}

/** Vault entry, under the subject of the reference that the challenge is about. */
export function challengeEntry(partyId: string): string {
  return `party/${partyId}/challenge`;
}

/** Vault entry, under the subject of the reference that was asked about: what the vendor said to an attempt. */
export function replyEntry(partyId: string, attemptId: string): string {
  return `party/${partyId}/reply/${attemptId}`;
}

/** Calls that are over, and were to be by then; what the vendor said to them need not be kept. */
export function repliesUntil({ replies, attempt }: PartyState, until: Date): PartyState['replies'] {
  return replies.filter(
    ({ attemptId, settleAfter }) => attemptId !== attempt?.attemptId && new Date(settleAfter) <= until,
  );
}

/** Sessions to ask for how the vendor knows the party, the most recent first; null stands for the stored token. */
export function referencesOf({ registrations, token }: PartyState): readonly (string | null)[] {
  const sessionIds = registrations.map(({ sessionId }) => sessionId);
  if (token === null) return sessionIds.reverse();
  const before = token.after === null ? 0 : sessionIds.indexOf(token.after) + 1;
  return [...sessionIds.slice(0, before), null, ...sessionIds.slice(before)].reverse();
}

/**
 * Since when the identity of the party is confirmed, by its newest session (`verifiedAt`, null unless that is VERIFIED) or a later
 * re-authentication; null when it is not, not any more, or was expired by hand.
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
