// Turns the vendor's verdict on a registration into events of the session. The call itself and the recovery job use this class.
import { Injectable } from '@nestjs/common';
import { shapesOf } from '../../../challenges/application/vendor-verdict.js';
import { lockBy } from '../../../challenges/domain/verdict.js';
import { Clock } from '../../../kernel/clock.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import type { Attempted } from '../../../challenges/application/challenge-recorder.js';
import { RateLimiter } from '../../../ports/rate-limiter.js';
import type { RegistrationVerdict } from '../../../ports/identity-vendor.js';
import {
  existing,
  holdsApplicant,
  isOpen,
  isOver,
  isUnderReview,
  screeningSession,
} from '../domain/screening-session.js';
import type { Session, SessionState } from '../domain/session.js';
import type { RecordRegistration } from '../domain/verdicts.js';
import { PersonAnswers, streamsOf } from './person-answers.js';
import { wasNotExecuted } from './refusals.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';

/** A lock of the person is recorded before the session's verdict. The attempt stays open until the verdict, so the recovery job can repeat both. */
@Injectable()
export class RegistrationRecorder {
  constructor(
    private readonly aggregates: AggregateStore,
    private readonly secrets: SessionSecrets,
    private readonly answers: PersonAnswers,
    private readonly policy: ScreeningPolicy,
    private readonly clock: Clock,
    private readonly limiter: RateLimiter,
  ) {}

  /** The vault stores the vendor's tokens, questions and reply before the log records the verdict. */
  async record(
    { id, attemptId, context, known }: Attempted<SessionState>,
    verdict: RegistrationVerdict,
    phoneId?: string,
  ): Promise<void> {
    const before = existing(known.state);
    const wasKept = 'vendorSession' in verdict;
    // Both values are stored together, so that the vault syncs its disk only once.
    const [kept] = await Promise.all([
      wasKept ? this.secrets.keepRegistration(id, before, verdict, phoneId) : 'kept',
      this.secrets.keepReply(id, before, { attemptId, step: 'registration' }, verdict),
    ]);
    const said = kept === 'kept' ? withoutSecrets(verdict) : ({ kind: 'unintelligible' } as const);
    // The vendor's time limit goes by the machine's time.
    const now = verdict.kind === 'unavailable' ? this.clock.now() : await this.clock.of(context);
    const { verdicts: policy } = this.policy;
    const asked = { holderId: id, attemptId, context };
    const lockedUntil = verdict.kind === 'locked' ? lockBy(verdict, now, policy, null) : null;
    if (lockedUntil !== null) await this.answers.lock(streamsOf(before), asked, lockedUntil);
    const command = { kind: 'record-registration', now, attemptId, verdict: said, policy } as const;
    const session = existing((await this.aggregates.execute(screeningSession, { id, known }, command, context)).state);
    // The caller may have got a reply before the verdict was known.
    if (wasNotExecuted(session, attemptId)) await this.limiter.giveBackSetAside(attemptId);
    if (isOpen(session)) await this.answers.limitOpen(session, asked);
    // The session has ended in the meantime and needs no secrets.
    else if (endedUnverified(session) && (wasKept || hadSecrets(before))) await this.secrets.keepLess(id, session);
  }
}

function endedUnverified(session: Session): boolean {
  return isOver(session) && session.status !== 'VERIFIED';
}

/** Whether the vault had something of the session before the verdict. */
function hadSecrets(session: Session): boolean {
  return isUnderReview(session) || holdsApplicant(session);
}

function withoutSecrets(verdict: RegistrationVerdict): RecordRegistration['verdict'] {
  switch (verdict.kind) {
    case 'confirmed':
      return { kind: 'confirmed', duplicateGuard: verdict.duplicateGuard === true };
    case 'step-up': {
      const { otp, kba, duplicateGuard = false } = verdict;
      return { kind: 'step-up', otp, questions: shapesOf(kba), duplicateGuard };
    }
    case 'needs-user':
      return { kind: 'needs-user', until: verdict.until };
    case 'under-review':
      return { kind: 'under-review', lookAgainAfter: verdict.lookAgainAfter };
    default:
      return verdict;
  }
}
