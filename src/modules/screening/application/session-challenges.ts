import { Injectable } from '@nestjs/common';
import { ChallengeCall } from '../../../challenges/application/challenge-call.js';
import type { ChallengeHolder, Held } from '../../../challenges/application/challenge-holder.js';
import { ChallengeRecorder } from '../../../challenges/application/challenge-recorder.js';
import type { VendorVerdict } from '../../../challenges/application/vendor-verdict.js';
import type { Count } from '../../../challenges/domain/verdict.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { attemptOf, existing, isOpen, isOver, screeningSession } from '../domain/screening-session.js';
import { operationOf, type SessionState } from '../domain/session.js';
import { countOf, type VerdictPolicy } from '../domain/verdicts.js';
import { streamsOf } from './person-answers.js';
import { ScreeningPolicy } from './screening-policy.js';
import { SessionSecrets } from './session-secrets.js';

/** The step-ups of screening sessions. */
@Injectable()
export class SessionChallenges implements ChallengeHolder<SessionState, VerdictPolicy> {
  readonly decider = screeningSession;
  readonly limit: VerdictPolicy;

  constructor(
    private readonly secrets: SessionSecrets,
    policy: ScreeningPolicy,
  ) {
    this.limit = policy.verdicts;
  }

  read(state: SessionState): Held | null {
    if (state.status === 'NONE') return null;
    const attempt = attemptOf(state);
    return {
      subjectId: state.subjectId,
      vendor: state.vendors.identity,
      personIds: streamsOf(state),
      call: attempt && { ...attempt, operation: operationOf(attempt) },
    };
  }

  count(state: SessionState): Count {
    return isOpen(state) ? countOf(state.stepUp) : { attemptsLeft: 0, vendorMayAdd: true };
  }

  async tokenOf(sessionId: string, state: SessionState): Promise<string | null> {
    const { subjectId } = existing(state);
    if (await this.secrets.isErased(subjectId)) return null;
    return (await this.secrets.of(subjectId, sessionId)).vendorSession;
  }

  async keep(sessionId: string, state: SessionState, verdict: VendorVerdict): Promise<'kept' | 'erased'> {
    const session = existing(state);
    const attempt = attemptOf(state);
    const step = attempt?.operation === 'otp-resend' ? 'resend' : 'answers';
    if (attempt) await this.secrets.keepReply(sessionId, session, { attemptId: attempt.attemptId, step }, verdict);
    return 'personToken' in verdict && verdict.personToken !== undefined
      ? this.secrets.keepPerson(sessionId, session, verdict.personToken)
      : 'kept';
  }

  async prune(sessionId: string, state: SessionState): Promise<void> {
    if (isOver(state)) await this.secrets.keepLess(sessionId, state);
  }
}

@Injectable()
export class StepUpCall extends ChallengeCall<SessionState, VerdictPolicy> {
  override readonly operation = 'answerStepUp';

  constructor(
    protected override readonly holder: SessionChallenges,
    aggregates: AggregateStore,
    identityVendor: IdentityVendor,
    recorder: ChallengeRecorder,
  ) {
    super(aggregates, identityVendor, recorder);
  }
}
