// One kind of external call and one kind of settlement, for the tests.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { AttemptRecovery } from '../../../src/external-calls/attempt-recovery.js';
import { type Attempt, ExternalCall } from '../../../src/external-calls/external-call.js';
import type { ExternalCalls } from '../../../src/external-calls/external-calls.js';
import { routedVendor } from '../../../src/external-calls/routed-vendor.js';
import type { DeliverySemantics, VendorCall } from '../../../src/ports/vendor-call.js';
import { until as eventually } from '../../support/eventually.js';

export const CANARY = 'canary-input';

/** A vendor that answers as the test says, and an aggregate that remembers the records. */
export class Hens extends ExternalCall<string, string | null> {
  override readonly vendor = 'identity-vendor';
  override operation = 'lay';
  override semantics: DeliverySemantics = 'at-most-once';
  override isMadeAgain = false;
  readonly asked: string[] = [];
  readonly recorded = new Map<string, string>();
  answer: (call: VendorCall) => Promise<{ readonly kind: string }> = async () => ({ kind: 'egg' });
  /** The work of a worker between reading the input and calling the vendor. */
  beforeAsking: (call: VendorCall) => Promise<void> = async () => undefined;
  private readonly port = routedVendor(
    'identity-vendor',
    { operations: ['lay'], of: () => ({ lay: (call: VendorCall) => this.answer(call) }) },
    () => undefined,
  );

  /** The result for the waiting caller. */
  end: string | null = null;

  override async askAndRecord(call: VendorCall, { attemptId }: Attempt, input: string): Promise<string | null> {
    expect(input).toBe(CANARY);
    await this.beforeAsking(call);
    this.asked.push(attemptId);
    this.recorded.set(attemptId, (await this.port.lay(call)).kind);
    return this.end;
  }
  override async recordNotAsked({ attemptId }: Attempt): Promise<string> {
    this.recorded.set(attemptId, 'not-asked');
    return 'nobody-asked';
  }

  /** The record of a call that was made, or nothing while the call is open. */
  async recordedBy(calls: ExternalCalls, one: Attempt): Promise<string | undefined> {
    await calls.make(this, one, CANARY);
    return this.recorded.get(one.attemptId);
  }
}

/** The attempts that the recovery has settled, and the time that a settlement takes. */
export class Nest {
  readonly settled: string[] = [];
  /** The attempts that a notice demanded to settle. */
  readonly noticed: string[] = [];
  settle: (id: string, signal: AbortSignal) => Promise<unknown> = async () => undefined;
  readonly recovery = new AttemptRecovery('identity-vendor', 'settle-hens', (id, signal, noticed) => {
    this.settled.push(id);
    if (noticed) this.noticed.push(id);
    return this.settle(id, signal);
  });
}

export const attempt = (accountId = 'account', environment: 'live' | 'test' = 'test'): Attempt => ({
  id: randomUUID(),
  attemptId: randomUUID(),
  subject: null,
  context: {
    accountId,
    environment,
    actor: { kind: 'system', id: 'test' },
    correlationId: 'request',
    causationId: 'request',
  },
});

export function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  return eventually(holds.toString(), holds);
}
