import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { AttemptRecovery } from '../../../src/external-calls/attempt-recovery.js';
import { CallWorkers } from '../../../src/external-calls/call-workers.js';
import type { SealedPayloads } from '../../../src/ports/sealed-payloads.js';
import { clockOf } from '../../support/clock.js';

describe('workers of external calls', () => {
  const settling = (...operations: string[]): CallWorkers =>
    new CallWorkers(
      {} as Redis,
      {} as SealedPayloads,
      clockOf(() => new Date()),
      () => ({ timeoutMs: 1_000, concurrency: 1 }),
      { offering: () => [], limitsOf: () => ({}) },
      () => operations.map((operation) => new AttemptRecovery('credit-bureau', operation, async () => undefined)),
      { name: randomUUID(), over: () => undefined },
    );

  it('refuse to start when two kinds have one name, because one would receive the jobs of the other', () => {
    expect(() => settling('settle-hens', 'settle-eggs').onModuleInit()).not.toThrow();
    expect(() => settling('settle-hens', 'settle-hens').onModuleInit()).toThrow('credit-bureau/settle-hens');
  });
});
