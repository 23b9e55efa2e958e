import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { QueuedExternalCalls } from '../../../src/external-calls/queued-external-calls.js';
import { VendorPlaces } from '../../../src/external-calls/vendor-places.js';
import type { SealedPayloads } from '../../../src/ports/sealed-payloads.js';
import { attempt, Hens } from '../../contract/external-calls/hens.js';
import { clockOf } from '../../support/clock.js';

const REDIS_AWAY_MS = 5;

describe('external calls of a process', () => {
  let connect: ReturnType<typeof jest.spyOn>;
  beforeEach(() => {
    connect = jest.spyOn(Redis.prototype, 'connect').mockResolvedValue();
  });
  afterEach(() => void jest.restoreAllMocks());

  function callsWith(payloads: Partial<SealedPayloads>): QueuedExternalCalls {
    const redis = new Redis({ lazyConnect: true, maxRetriesPerRequest: null });
    const limits = { limit: 0, perLineage: 0, slots: 1, waitMs: 0, ttlMs: 1_000, reservedWithinMs: 1_000 };
    return new QueuedExternalCalls(
      redis,
      payloads as SealedPayloads,
      new VendorPlaces(redis, limits, () => undefined),
      clockOf(() => new Date()),
      () => ({ timeoutMs: 1_000, concurrency: 1 }),
      { offering: () => [] },
      REDIS_AWAY_MS,
    );
  }

  it('connect to Redis at their first use', async () => {
    const calls = callsWith({});
    await turn();
    expect(connect).not.toHaveBeenCalled();
    await calls.onApplicationShutdown();
  });

  // A recovery job that finds a stored input concludes that the vendor never received the call.
  it('remove an input that Redis stores only after the call was recorded as not made', async () => {
    let stored: () => void = () => undefined;
    const remove = jest.fn(async () => true);
    const calls = callsWith({ seal: () => new Promise((resolve) => (stored = resolve)), remove });
    const [hens, one] = [new Hens(), attempt()];
    expect(await hens.recordedBy(calls, one)).toBe('not-asked');
    expect(remove).not.toHaveBeenCalled();
    stored();
    await turn();
    expect(remove.mock.calls).toEqual([[one.attemptId]]);
    await calls.onApplicationShutdown();
  });
});
