// External calls without a queue: made and recorded at once, in the process of whoever asks.
import { ExternalCalls } from '../../src/external-calls/external-calls.js';
import type { Attempt, ExternalCall } from '../../src/external-calls/external-call.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import { vendorCall } from '../../src/ports/vendor-call.js';

export class CallsAtOnce extends ExternalCalls {
  /** Attempts that were admitted and neither made nor withdrawn. */
  readonly admitted = new Set<string>();

  /** Whether the account has no place left. */
  full = false;

  /** Whether calls are made whose end nobody hears. */
  deaf = false;

  override async admit(_call: ExternalCall<never>, { attemptId }: Attempt): Promise<void> {
    if (this.full) throw new DomainError('request.rate_limited', { retryAfterSeconds: 1 });
    this.admitted.add(attemptId);
  }
  override async withdraw(_call: ExternalCall<never>, { attemptId }: Attempt): Promise<void> {
    this.admitted.delete(attemptId);
  }
  override async make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null> {
    const { attemptId, subject, context, vendor } = attempt;
    this.admitted.delete(attemptId);
    const end = await call.askAndRecord(vendorCall(attemptId, subject, context, vendor, attempt.id), attempt, input);
    return this.deaf ? null : end;
  }
}
