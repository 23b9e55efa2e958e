import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { QueuedExternalCalls } from '../../../src/external-calls/queued-external-calls.js';
import { VendorShare } from '../../../src/external-calls/vendor-share.js';
import type { SealedPayloads } from '../../../src/ports/sealed-payloads.js';

describe('external calls of a process', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('connect to Redis with their first use only', async () => {
    const connect = jest.spyOn(Redis.prototype, 'connect').mockResolvedValue();
    const redis = new Redis({ lazyConnect: true, maxRetriesPerRequest: null });
    const calls = new QueuedExternalCalls(
      redis,
      {} as SealedPayloads,
      new VendorShare(
        redis,
        { limit: 0, perLineage: 0, slots: 1, waitMs: 0, ttlMs: 1_000, reservedWithinMs: 1_000 },
        () => undefined,
      ),
      { now: () => new Date() },
      () => ({ timeoutMs: 1_000, concurrency: 1 }),
      { offering: () => [] },
    );
    await turn();
    expect(connect).not.toHaveBeenCalled();
    await calls.onApplicationShutdown();
  });
});
