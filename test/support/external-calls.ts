// External calls without a queue: made and recorded at once, in the process of whoever asks.
import { ExternalCalls } from '../../src/external-calls/external-calls.js';
import type { Attempt, ExternalCall } from '../../src/external-calls/external-call.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import { vendorCall } from '../../src/ports/vendor-call.js';

export class CallsAtOnce extends ExternalCalls {
  /** Attempts that were admitted and neither made nor withdrawn. */
  readonly admitted = new Set<string>();

  /** Whether no worker is there: the inputs wait. */
  absent = false;
  /** By attempt. */
  private readonly inputs = new Map<string, Uint8Array>();

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
    if (this.absent) this.inputs.set(attemptId, Buffer.from(JSON.stringify(input)));
    if (this.absent) return null;
    const end = await call.askAndRecord(vendorCall(attemptId, subject, context, vendor, attempt.id), attempt, input);
    return this.deaf ? null : end;
  }
  override async makeAgain(call: ExternalCall, attempt: Attempt, signal: AbortSignal): Promise<boolean> {
    const input = this.inputs.get(attempt.attemptId);
    const mayAsk = async (): Promise<boolean> => this.inputs.delete(attempt.attemptId);
    if (input !== undefined) await call.make(attempt, input, { signal, mayAsk });
    return input !== undefined;
  }
}
