// The part of a session that callers see.
import { isOpen } from '../domain/screening-session.js';
import type { BlockReason, OpenStepUp, Review, Session, StepUp } from '../domain/session.js';

export { REASONS_FOR_BROWSERS, reasonForBrowsers, type ReasonForBrowsers } from '../domain/session.js';

/** The facts about a session that callers see, and the facts that decide which callers may see it. Each state of the aggregate fits this type. */
export type SessionSummary = Pick<Session, 'subjectId' | 'grantId' | 'partyId' | 'unitAddressKept' | 'userType'> &
  (
    | { readonly status: Exclude<Session['status'], OpenStepUp['status'] | 'BLOCKED' | 'SUBMITTED'> }
    | { readonly status: 'SUBMITTED'; readonly review: Pick<Review, 'until' | 'userActs'> | null }
    | { readonly status: 'BLOCKED'; readonly blockedUntil: string | null; readonly reasonCode: BlockReason }
    | {
        readonly status: OpenStepUp['status'];
        readonly stepUp: Pick<StepUp, 'otp' | 'kba' | 'answeredWrong' | 'attemptsRemaining'>;
      }
  );

export function summaryOf(session: Session): SessionSummary {
  const { subjectId, grantId, partyId, unitAddressKept, userType } = session;
  const common = {
    subjectId,
    ...(grantId !== undefined && { grantId }),
    ...(partyId !== undefined && { partyId }),
    ...(unitAddressKept && { unitAddressKept }),
    userType,
  };
  if (isOpen(session)) {
    const { otp, kba, answeredWrong, attemptsRemaining } = session.stepUp;
    return { ...common, status: session.status, stepUp: { otp, kba, answeredWrong, attemptsRemaining } };
  }
  if (session.status === 'BLOCKED') {
    const { status, blockedUntil, reasonCode } = session;
    return { ...common, status, blockedUntil, reasonCode };
  }
  if (session.status === 'SUBMITTED')
    return { ...common, status: session.status, review: session.review && reviewIn(session.review) };
  return { ...common, status: session.status };
}

function reviewIn({ until, userActs }: Review): Pick<Review, 'until' | 'userActs'> {
  return { until, ...(userActs && { userActs }) };
}
