import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { Fold } from '../../../platform/aggregates/aggregate-store.js';
import type { Owner } from '../../../kernel/context.js';
import type { EndUserType } from '../../../kernel/end-user-type.js';
import type { PermissiblePurpose } from '../../../kernel/permissible-purpose.js';
import type { ScreeningFacts } from '../../../published/screenings.js';
import { overallStatusOf, paymentStatusOf } from '../domain/overall-status.js';
import { reviewOf, screeningSession } from '../domain/screening-session.js';
import type { Session, SessionEvent, SessionState } from '../domain/session.js';

/** A session with the times of its first and its newest event (ISO 8601 UTC); null before the first event. */
export interface DatedSession {
  readonly session: SessionState;
  /** Null if neither the grant nor the page gave it. */
  readonly endUserType: EndUserType | null;
  /** Null if neither the grant nor the page named one. */
  readonly purpose: PermissiblePurpose | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
}

const DISCARDED: ReadonlySet<string> = new Set([
  'VendorReplyDiscarded',
  'ApplicantDiscarded',
] satisfies SessionEvent['type'][]);

export const datedSession: Fold<DatedSession, RecordedEvent & SessionEvent> = {
  category: screeningSession.category,
  initial: { session: screeningSession.initial, endUserType: null, purpose: null, createdAt: null, updatedAt: null },
  evolve({ session, endUserType, purpose, createdAt, updatedAt }, event) {
    const { occurredAt } = event.metadata;
    return {
      session: screeningSession.evolve(session, event),
      endUserType: event.type === 'ScreeningSubmitted' ? (event.data.endUserType ?? null) : endUserType,
      purpose: event.type === 'ScreeningSubmitted' ? (event.data.purpose ?? null) : purpose,
      createdAt: createdAt ?? occurredAt,
      // A removal from the vault does not count as an update of the session.
      updatedAt: DISCARDED.has(event.type) ? updatedAt : occurredAt,
    };
  },
};

function paidBy({ payment }: Session): string | null {
  return payment?.status === 'SUCCEEDED' ? payment.transactionId : null;
}

function blockOf(session: Session): ScreeningFacts['block'] {
  return session.status === 'BLOCKED' ? { reasonCode: session.reasonCode, until: session.blockedUntil } : null;
}

/** The part of the facts that most sessions do not have. */
function namesIn(session: Session): Pick<ScreeningFacts, 'intendedRecipientId' | 'grantId' | 'partyId'> {
  const { intendedRecipientId, grantId, partyId } = session;
  return { intendedRecipientId: intendedRecipientId ?? null, grantId: grantId ?? null, partyId: partyId ?? null };
}

function reviewUntilOf(session: Session): string | null {
  const review = reviewOf(session);
  return review === null || review.userActs ? null : review.until;
}

/** Null for a session that does not exist. */
export function factsOf(
  sessionId: string,
  { session, endUserType, purpose, createdAt, updatedAt }: DatedSession,
  owner: Owner | null,
): ScreeningFacts | null {
  if (session.status === 'NONE' || owner === null || createdAt === null || updatedAt === null) return null;
  const { accountId, environment } = owner;
  if (accountId === null || environment === null) throw new Error(`Session ${sessionId} belongs to no account`);
  return {
    sessionId,
    accountId,
    environment,
    userType: session.userType,
    endUserType,
    purpose,
    subjectId: session.subjectId,
    status: session.status,
    paymentStatus: paymentStatusOf(session),
    overallStatus: overallStatusOf(session),
    paidBy: paidBy(session),
    vendors: session.vendors,
    block: blockOf(session),
    ...namesIn(session),
    verifiedAt: session.status === 'VERIFIED' ? session.verifiedAt : null,
    duplicateGuard: session.duplicateGuard,
    reviewUntil: reviewUntilOf(session),
    createdAt,
    updatedAt,
  };
}
