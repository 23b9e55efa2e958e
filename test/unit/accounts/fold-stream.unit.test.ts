// Long streams are read in pages (docs/architecture.md).
import { expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../../src/kernel/domain-event.js';
import { readAccount } from '../../../src/modules/accounts/read/accounts.js';
import type { EventStore, StreamReadOptions } from '../../../src/ports/event-store.js';

const METADATA = { accountId: 'parent', environment: null, occurredAt: '2026-01-01T00:00:00.000Z' };

function eventOf(revision: number): RecordedEvent {
  const [type, data] =
    revision === 0
      ? ['AccountOpened', { name: 'Homes', parentId: null }]
      : ['AccountSubmitLimitSet', { perMinute: revision }];
  return { id: String(revision), stream: 'account-a', revision, position: '', type, data, metadata: METADATA } as never;
}

it.each([1, 999, 1_000, 1_001, 2_500])(
  'an account of %d events is read in pages, with its last setting',
  async (count) => {
    const read: number[] = [];
    const events = {
      readStream: async (_: string, { from = 0, limit = Infinity }: StreamReadOptions = {}) => {
        const page = Array.from({ length: Math.max(0, Math.min(limit, count - from)) }, (_, at) => eventOf(from + at));
        read.push(page.length);
        return page;
      },
    } as unknown as EventStore;
    const account = await readAccount(events, 'a');
    expect(account?.submitsPerMinute).toBe(count === 1 ? null : count - 1);
    expect(account?.accountId).toBe('a');
    expect(Math.max(...read)).toBeLessThanOrEqual(1_000);
    expect(read.reduce((sum, one) => sum + one, 0)).toBe(count);
  },
);
