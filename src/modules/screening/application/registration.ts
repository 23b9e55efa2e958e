// The vendor call of a submission.
import { Injectable } from '@nestjs/common';
import { ChallengeRecorder, type Attempted } from '../../../challenges/application/challenge-recorder.js';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { Clock } from '../../../kernel/clock.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import {
  IdentityVendor,
  type Applicant,
  type RegistrationVerdict,
  type VendorCall,
} from '../../../ports/identity-vendor.js';
import { VendorRoutes } from '../../../published/vendor-routes.js';
import { existing, pending, screeningSession } from '../domain/screening-session.js';
import type { SessionState } from '../domain/session.js';
import { RegistrationRecorder } from './registration-recorder.js';
import { SessionChallenges } from './session-challenges.js';
import { SessionSecrets } from './session-secrets.js';
import { ShadowRegistration } from './shadow-registration.js';

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
    private readonly secrets: SessionSecrets,
    private readonly routes: VendorRoutes,
    private readonly shadow: ShadowRegistration,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async askAndRecord(call: VendorCall, attempt: Attempt, input: RegistrationInput): Promise<void> {
    const { applicant } = input;
    const reserved = await this.attempted(attempt);
    if (pending(reserved.known.state, attempt.attemptId) === null) return;
    const attempted = await this.sealed(reserved, applicant);
    const once = askingOnce(call);
    const verdict = await this.identityVendor.register(once, applicant);
    const after = verdict.kind === 'unavailable' ? await this.fallenBack(attempted) : null;
    if (after === null) return this.record(attempted, verdict, input);
    const next = await this.sealed(after, applicant);
    const { vendors } = existing(next.known.state);
    const second = await this.identityVendor.register({ ...once, vendor: vendors.identity }, applicant);
    await this.record(next, second, input);
  }

  private async record(
    decided: Attempted<SessionState>,
    verdict: RegistrationVerdict,
    { applicant, phoneId }: RegistrationInput,
  ): Promise<void> {
    await this.recorder.record(decided, verdict, phoneId);
    this.shadow.begin(decided, verdict, applicant);
  }

  /** The vault has the person's own data before the log records it. Both precede the call. */
  private async sealed(attempted: Attempted<SessionState>, applicant: Applicant): Promise<Attempted<SessionState>> {
    const { id, known, context } = attempted;
    const neededBy = await this.secrets.keepApplicant(id, existing(known.state), applicant);
    if (neededBy.length === 0) return attempted;
    const command = { kind: 'record-applicant-sealed', neededBy } as const;
    return { ...attempted, known: await this.aggregates.execute(screeningSession, { id, known }, command, context) };
  }

  /** Records the second vendor before its call, because the recovery job asks the recorded vendor. Null if the first verdict counts. */
  private async fallenBack(attempted: Attempted<SessionState>): Promise<Attempted<SessionState> | null> {
    const { id, attemptId, known, context } = attempted;
    const { accountId, environment } = context;
    const { vendors, personId } = existing(known.state);
    if (accountId === null || environment === null) return null;
    const next = await this.routes.fallback(vendors, { accountId, environment, personId });
    if (next === null) return null;
    const command = { kind: 'fall-back', now: this.clock.now(), attemptId, vendors: next } as const;
    const result = await this.aggregates.execute(screeningSession, { id, known }, command, context);
    return result.events.length === 0 ? null : { ...attempted, known: result };
  }

  override async recordNotAsked(attempt: Attempt): Promise<void> {
    await this.challenges.notExecuted(this.sessions, await this.attempted(attempt));
  }

  private async attempted({ id, attemptId, context }: Attempt): Promise<Attempted<SessionState>> {
    return { id, attemptId, context, known: await this.aggregates.load(screeningSession, id) };
  }
}

/** The first vendor's call may have used up the input, which the second call uses too. */
function askingOnce(call: VendorCall): VendorCall {
  const { mayAsk } = call;
  if (mayAsk === undefined) return call;
  let asked: Promise<boolean> | undefined;
  return { ...call, mayAsk: () => (asked ??= mayAsk()) };
}
