// The projector's tests append events of parcels here, and wait until the read models include them.
import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { newId } from '../../src/kernel/ids.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { AnyProjection } from '../../src/ports/projection-store.js';
import { until } from '../support/eventually.js';
import { append, delivered, expectedLines, opened, stamped, storedLines } from './fixtures.js';

/** Resolves when the live generations equal the log. */
export async function caughtUp(
  store: EventStore,
  redis: Redis,
  ...projections: readonly AnyProjection[]
): Promise<void> {
  for (const projection of projections) {
    const expected = await expectedLines(store, projection);
    await until(`${projection.name} has caught up`, async () => {
      const stored = await storedLines(redis, projection);
      return (
        stored.size === expected.size &&
        [...expected].every(([id, { revision }]) => stored.get(id)?.revision === revision)
      );
    });
    expect(await storedLines(redis, projection)).toEqual(expected);
  }
}

export async function appendParcels(store: EventStore, count: number, stamps = 3): Promise<string[]> {
  const ids = Array.from({ length: count }, newId);
  await Promise.all(
    ids.map(async (id, n) => {
      await append(store, id, opened(`account-${n % 7}`, '2024-01-01T00:00:00.000Z'));
      for (let stamp = 0; stamp < stamps; stamp++) await append(store, id, stamped());
      if (n % 2 === 0) await append(store, id, delivered());
    }),
  );
  return ids;
}
