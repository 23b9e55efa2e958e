// The vendor call of a submission.
import { Injectable } from '@nestjs/common';
import { ChallengeRecorder, type Attempted } from '../../../challenges/application/challenge-recorder.js';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { IdentityVendor, type Applicant, type VendorCall } from '../../../ports/identity-vendor.js';
import { pending, screeningSession } from '../domain/screening-session.js';
import type { SessionState } from '../domain/session.js';
import { RegistrationRecorder } from './registration-recorder.js';
import { SessionChallenges } from './session-challenges.js';

export interface RegistrationInput {
  readonly applicant: Applicant;
  readonly phoneId?: string;
}

@Injectable()
export class Registration extends ExternalCall<RegistrationInput> {
  override readonly vendor = 'identity-vendor';
  override readonly operation = 'register';
  override readonly semantics = 'at-most-once';
  override readonly isMadeAgain = true;

  constructor(
    private readonly aggregates: AggregateStore,
    private readonly identityVendor: IdentityVendor,
    private readonly recorder: RegistrationRecorder,
    private readonly challenges: ChallengeRecorder,
    private readonly sessions: SessionChallenges,
  ) {
    super();
  }

  override async askAndRecord(
    call: VendorCall,
    attempt: Attempt,
    { applicant, phoneId }: RegistrationInput,
  ): Promise<void> {
    const attempted = await this.attempted(attempt);
    if (pending(attempted.known.state, attempt.attemptId) === null) return;
    await this.recorder.record(attempted, await this.identityVendor.register(call, applicant), phoneId);
  }

  override async recordNotAsked(attempt: Attempt): Promise<void> {
    await this.challenges.notExecuted(this.sessions, await this.attempted(attempt));
  }

  private async attempted({ id, attemptId, context }: Attempt): Promise<Attempted<SessionState>> {
    return { id, attemptId, context, known: await this.aggregates.load(screeningSession, id) };
  }
}
