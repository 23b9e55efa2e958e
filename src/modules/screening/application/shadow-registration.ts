// The call to the shadow of a route. The shadow is a second identity vendor, whose verdict on a test person is only compared and has no other effect.
import { Injectable, Logger } from '@nestjs/common';
import type { Attempted } from '../../../challenges/application/challenge-recorder.js';
import { ExternalCall, type Attempt } from '../../../external-calls/external-call.js';
import { ExternalCalls } from '../../../external-calls/external-calls.js';
import { systemContext } from '../../../kernel/context.js';
import { derivedId } from '../../../kernel/ids.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import {
  type Applicant,
  IdentityVendor,
  type RegistrationVerdict,
  type VendorCall,
} from '../../../ports/identity-vendor.js';
import { VendorRoutes } from '../../../published/vendor-routes.js';
import { existing } from '../domain/screening-session.js';
import type { SessionState } from '../domain/session.js';
import { COMPARISONS, isVerdict, vendorComparisons, type ComparedVerdict } from '../domain/vendor-comparisons.js';

interface ShadowInput {
  readonly applicant: Applicant;
  readonly first: ComparedVerdict;
}

@Injectable()
export class ShadowRegistration extends ExternalCall<ShadowInput> {
  override readonly vendor = 'identity-vendor';
  override readonly operation = 'register-shadow';
  override readonly semantics = 'at-most-once';
  private readonly logger = new Logger('ShadowRegistration');

  constructor(
    private readonly calls: ExternalCalls,
    private readonly routes: VendorRoutes,
    private readonly identityVendor: IdentityVendor,
    private readonly streams: GroupedStream,
  ) {
    super();
  }

  /** Called after the first vendor's verdict was recorded. Returns at once, because the person must not wait for the shadow or its queue. */
  begin(decided: Attempted<SessionState>, { kind }: RegistrationVerdict, applicant: Applicant): void {
    if (!isVerdict(kind)) return;
    this.queue(decided, kind, applicant).catch((error: unknown) =>
      // The message could contain personal data.
      this.logger.warn(`A shadow was not called (session ${decided.id}): ${error instanceof Error ? error.name : ''}`),
    );
  }

  override async askAndRecord(call: VendorCall, attempt: Attempt, { applicant, first }: ShadowInput): Promise<void> {
    const { vendor = '' } = attempt;
    const { kind: verdict } = await this.identityVendor.register(call, applicant);
    const compared = { sessionId: attempt.id, first, shadow: { vendor, verdict } };
    await this.streams.execute(vendorComparisons, COMPARISONS, { kind: 'record', ...compared }, attempt.context);
  }

  /** Without a call there is nothing to compare. */
  override async recordNotAsked(): Promise<void> {}

  private async queue(
    { id, attemptId, context: { correlationId, ...owner }, known }: Attempted<SessionState>,
    verdict: RegistrationVerdict['kind'],
    applicant: Applicant,
  ): Promise<void> {
    const { accountId, environment } = owner;
    if (accountId === null || environment === null) return;
    const { personId, subjectId: subject, vendors } = existing(known.state);
    const vendor = await this.routes.shadow(vendors.identity, { accountId, environment, personId });
    if (vendor === null) return;
    const context = { ...systemContext('shadow-vendor', owner), correlationId };
    const attempt = { id, attemptId: derivedId(attemptId, 'shadow'), vendor, subject, context };
    await this.calls.make(this, attempt, { applicant, first: { vendor: vendors.identity, verdict } });
  }
}
