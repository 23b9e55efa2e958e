// External calls without a queue. The process that requests a call makes and records it at once.
import { ExternalCalls } from '../../src/external-calls/external-calls.js';
import type { Attempt, ExternalCall } from '../../src/external-calls/external-call.js';
import { DomainError } from '../../src/kernel/domain-error.js';
import { vendorCall } from '../../src/ports/vendor-call.js';

export class CallsAtOnce extends ExternalCalls {
  /** Attempts that were accepted, but neither made nor withdrawn. */
  readonly admitted = new Set<string>();

  /** Set when no worker runs. The inputs wait. */
  absent = false;
  /** Keyed by attempt. */
  private readonly inputs = new Map<string, Uint8Array>();

  /** Set when the limit of the account's calls is used up. */
  full = false;

  /** Set when the caller does not learn how its calls end. */
  deaf = false;

  override async admit(_call: ExternalCall<never>, { attemptId }: Attempt): Promise<void> {
    if (this.full) throw new DomainError('request.rate_limited', { retryAfterSeconds: 1 });
    this.admitted.add(attemptId);
  }
  override async withdraw(_call: ExternalCall<never>, { attemptId }: Attempt): Promise<void> {
    this.admitted.delete(attemptId);
  }
  override async make<Input, End>(call: ExternalCall<Input, End>, attempt: Attempt, input: Input): Promise<End | null> {
    const { attemptId } = attempt;
    this.admitted.delete(attemptId);
    if (this.absent) this.inputs.set(attemptId, Buffer.from(JSON.stringify(input)));
    if (this.absent) return null;
    const end = await call.askAndRecord(vendorCall(attempt), attempt, input);
    return this.deaf ? null : end;
  }
  override async makeAgain(call: ExternalCall, attempt: Attempt, signal: AbortSignal): Promise<boolean> {
    const input = this.inputs.get(attempt.attemptId);
    const mayAsk = async (): Promise<boolean> => this.inputs.delete(attempt.attemptId);
    if (input !== undefined) await call.make(attempt, input, { signal, mayAsk });
    return input !== undefined;
  }
  override async settle(): Promise<void> {
    throw new Error('No test with these calls settles an attempt');
  }
}
