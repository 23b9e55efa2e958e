// How many income sessions may be opened when the default limits apply (docs/contract/general.md#limits-against-abuse).
import { beforeEach, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../../src/config/config.js';
import type { CallerContext } from '../../../src/kernel/context.js';
import { IncomePolicy } from '../../../src/modules/income/application/income-policy.js';
import { CountedInMemory } from '../../support/rate-limiter.js';

const { limits } = readConfig({ REDIS_URL: 'redis://127.0.0.1:6379' });
const policy = new IncomePolicy({
  vendorTimeoutSeconds: limits.vendorTimeout,
  sessionTtlSeconds: limits.stepUpTtl,
  sessionsPerScreening: limits.incomeSessionsPerScreening,
  sessionsPerMinute: limits.incomeSessionsPerMinute,
  sessionsPerMinutePerAccount: limits.incomeSessionsPerMinutePerAccount,
  readsPerMinute: limits.reportReadsPerMinute,
});

describe('the limits of income sessions', () => {
  let limiter: CountedInMemory;
  let lineages: number;
  beforeEach(() => {
    limiter = new CountedInMemory();
    lineages = 0;
  });

  /** Whether the limits allow another session. */
  const open = async ({
    lineage = `lineage-${lineages++}`,
    screeningSessionId = null,
    grantId = null,
    from = '203.0.113.1',
  }: {
    lineage?: string;
    screeningSessionId?: string | null;
    grantId?: string | null;
    from?: string;
  } = {}): Promise<boolean> => {
    const context = { accountId: 'account', environment: 'test', lineage } as CallerContext;
    return (await limiter.take(policy.opening({ screeningSessionId, grantId, clientAddress: from }, context))) === null;
  };

  it('allow 3 sessions for a screening from any lineage of tokens, and count other screenings separately', async () => {
    const screeningSessionId = 'screening';
    for (let count = 0; count < 3; count++) expect(await open({ screeningSessionId })).toBe(true);
    limiter.endWindows(60);
    expect([await open({ screeningSessionId }), await open({ screeningSessionId: 'other' })]).toEqual([false, true]);
  });

  it('allow a lineage of tokens without a screening one session a minute', async () => {
    expect([await open({ lineage: 'one' }), await open({ lineage: 'one' }), await open({ lineage: 'two' })]).toEqual([
      true,
      false,
      true,
    ]);
    limiter.endWindows(60);
    expect(await open({ lineage: 'one' })).toBe(true);
  });

  it('allow an account 60 sessions a minute; beyond 60 only the busiest addresses wait, and grants and screenings pass', async () => {
    for (let count = 0; count < 60; count++) expect(await open()).toBe(true);
    expect([
      await open(),
      await open({ from: '203.0.113.2' }),
      await open({ grantId: 'grant' }),
      await open({ screeningSessionId: 'screening' }),
    ]).toEqual([false, true, true, true]);
  });
});
