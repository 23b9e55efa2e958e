import { Injectable } from '@nestjs/common';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { IdentityVendor } from '../../../ports/identity-vendor.js';
import { screeningSession } from '../domain/screening-session.js';
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

  /** The session before the vendor is asked, and the vendor's token of it. */
  protected async load(attempt: Attempt): Promise<{ readonly attempted: Attempted; readonly vendorSession: string }> {
    const attempted = await this.attempted(attempt);
    const { subjectId } = existing(attempted.known.state);
    return { attempted, vendorSession: (await this.secrets.of(subjectId, attempt.id)).vendorSession };
  }

  protected async attempted({ id, attemptId, context }: Attempt): Promise<Attempted> {
    return { sessionId: id, attemptId, context, known: await this.aggregates.load(screeningSession, id) };
  }
}

/** An answer of the person, which the vendor judges. */
@Injectable()
export abstract class AnswerCall<Input> extends StepUpCall<Input> {
  override async recordNotAsked(attempt: Attempt): Promise<void> {
    await this.recorder.answer(await this.attempted(attempt), { kind: 'unavailable' });
  }
}
