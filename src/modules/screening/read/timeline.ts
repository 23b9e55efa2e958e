// The timeline of a session: the events of the session and of its report, without personal data (docs/contract/server.md#timeline).
import { Injectable } from '@nestjs/common';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { EventStore } from '../../../ports/event-store.js';
import type { ListPart } from '../../../ports/list-part.js';
import type { ReadPage } from '../../../published/account-lists.js';
import { type HistoryStep, REPORT_STEPS, ReportHistory } from '../../../published/report-history.js';
import { screeningSession } from '../domain/screening-session.js';
import type { SessionEvent } from '../domain/session.js';

/** The wire name of each event. */
const NAMES = {
  ScreeningSubmitted: 'screening.submitted',
  VerificationRequested: 'verification.requested',
  VendorFellBack: 'vendor.fell_back',
  ApplicantSealed: 'applicant.sealed',
  ApplicantDiscarded: 'applicant.discarded',
  ReviewStarted: 'review.started',
  ReviewContinued: 'review.continued',
  PersonSentToVendor: 'user_action.required',
  StepUpRequired: 'step_up.required',
  IdentityVerified: 'identity.verified',
  OtpAnswerReceived: 'otp.answered',
  OtpRejected: 'otp.rejected',
  OtpResendRequested: 'otp.resend_requested',
  OtpResent: 'otp.resent',
  KbaAnswersReceived: 'kba.answered',
  KbaRejected: 'kba.rejected',
  AttemptAbandoned: 'attempt.abandoned',
  SessionBlocked: 'screening.blocked',
  BlockLifted: 'screening.unblocked',
  SessionExpired: 'screening.expired',
  SessionErrored: 'screening.errored',
  PaymentProgressed: 'payment.progressed',
  ScreeningCompleted: 'screening.completed',
  VendorReplyDiscarded: 'vendor_reply.discarded',
} as const satisfies Record<SessionEvent['type'], string>;

export const TIMELINE_TYPES = [...Object.values(NAMES), ...REPORT_STEPS] as const;
export type TimelineStep = HistoryStep<(typeof TIMELINE_TYPES)[number]> & {
  /** The number of the step among those of the session, from 1, without gaps. */
  readonly sequence: number;
};

@Injectable()
export class Timelines {
  constructor(
    private readonly events: EventStore,
    private readonly reports: ReportHistory,
  ) {}

  /** A page of the session's steps, the newest first. `after` names a sequence. */
  async page(sessionId: string, { after, limit }: Pick<ListPart, 'after' | 'limit'>): Promise<ReadPage<TimelineStep>> {
    const history = await this.events.readStream(`${screeningSession.category}-${sessionId}`);
    const own = (history as (RecordedEvent & SessionEvent)[]).map((event) => ({
      position: event.position,
      at: event.metadata.occurredAt,
      type: NAMES[event.type],
      actor: event.metadata.actor.kind,
      detail: detailOf(event),
    }));
    // New events come after all others in the log, so a step keeps its number.
    const steps = [...own, ...(await this.reports.of(sessionId))]
      .sort((one, other) => (one.position < other.position ? -1 : 1))
      .map((step, place) => ({ ...step, sequence: place + 1 }));
    const end = after === null ? steps.length : Number(after.sort) - 1;
    const items = steps.slice(Math.max(0, end - limit), end).reverse();
    const last = items.at(-1)?.sequence ?? 1;
    return { items, total: steps.length, next: last === 1 ? null : { sort: String(last), id: sessionId } };
  }
}

/** Names each field of a detail, so that no other field of an event becomes visible. */
function detailOf(event: SessionEvent): TimelineStep['detail'] {
  switch (event.type) {
    case 'ScreeningSubmitted':
      return { user_type: event.data.userType };
    case 'ReviewStarted':
      return { review_until: event.data.reviewUntil };
    case 'PersonSentToVendor':
      return { until: event.data.until };
    case 'StepUpRequired': {
      const { methods, attemptsAllowed, expiresAt } = event.data;
      return { methods, attempts_allowed: attemptsAllowed, expires_at: expiresAt };
    }
    case 'OtpRejected':
    case 'KbaRejected':
      return { attempts_remaining: event.data.attemptsRemaining };
    case 'SessionBlocked':
      return { reason_code: event.data.reasonCode, blocked_until: event.data.blockedUntil };
    case 'AttemptAbandoned':
    case 'SessionExpired':
    case 'SessionErrored':
      return { cause: event.data.cause };
    case 'PaymentProgressed':
      return { transaction_id: event.data.transactionId, status: event.data.status };
    default:
      return {};
  }
}
