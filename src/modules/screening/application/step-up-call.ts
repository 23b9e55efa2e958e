import { Injectable } from '@nestjs/common';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { pending, screeningSession } from '../domain/screening-session.js';
import type { SessionSecretsContent } from '../domain/session.js';
import { SessionSecrets } from './session-secrets.js';
import { existing, VendorResultRecorder, type Attempted } from './vendor-result-recorder.js';

/** A call to the identity vendor within an open step-up: what the kinds of it have in common. */
@Injectable()
export abstract class StepUpCall<Input> extends ExternalCall<Input> {
  override readonly vendor = 'identity-vendor';
  override readonly semantics = 'at-most-once';

  constructor(
    protected readonly aggregates: AggregateStore,
    protected readonly identityVendor: IdentityVendor,
    protected readonly secrets: SessionSecrets,
    protected readonly recorder: VendorResultRecorder,
  ) {
    super();
  }

  /** The session before the vendor is asked, and what the vault keeps of it. Null when the vendor is not to be asked any more. */
  protected async load(
    attempt: Attempt,
  ): Promise<{ readonly attempted: Attempted; readonly secrets: SessionSecretsContent } | null> {
    const attempted = await this.stillOpen(attempt);
    if (attempted === null) return null;
    const { subjectId } = existing(attempted.known.state);
    return { attempted, secrets: await this.secrets.of(subjectId, attempt.id) };
  }

  /**
   * The session in which the attempt is open. Null when the attempt has ended before the vendor was asked: its session was
   * blocked or superseded, or the recovery job has settled it. Then its answer is not with the vendor, nor will it be.
   */
  protected async stillOpen({ id, attemptId, context }: Attempt): Promise<Attempted | null> {
    const known = await this.aggregates.load(screeningSession, id);
    const attempted = { sessionId: id, attemptId, context, known };
    if (pending(known.state, attemptId) !== null) return attempted;
    await this.recorder.notExecuted(attempted);
    return null;
  }
}

/** An answer of the person, which the vendor judges. */
@Injectable()
export abstract class AnswerCall<Input> extends StepUpCall<Input> {
  override async recordNotAsked(attempt: Attempt): Promise<void> {
    const attempted = await this.stillOpen(attempt);
    if (attempted) await this.recorder.answer(attempted, { kind: 'unavailable' });
  }
}
