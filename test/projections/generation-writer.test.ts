// What a projection remembers of its documents is bounded by their size, and what was forgotten is read again.
import { expect, it } from '@jest/globals';
import { idOf, type RecordedEvent } from '../../src/kernel/domain-event.js';
import { GenerationWriter } from '../../src/platform/subscriptions/generation-writer.js';
import type { EventStore } from '../../src/ports/event-store.js';
import {
  type AnyProjection,
  type ProjectionStore,
  SHARDS,
  type ShardCommit,
  type StoredDocument,
} from '../../src/ports/projection-store.js';

it('forgets documents beyond its room, reads them again when their streams go on, and takes none of them for a gap', async () => {
  // Three of them do not fit.
  const text = 'x'.repeat(2 ** 20);
  const projection = {
    name: 'large',
    version: 1,
    category: 'large',
    evolve: (doc: { seen: number } | null) => ({ seen: (doc?.seen ?? 0) + 1, text }),
  } as unknown as AnyProjection;
  const stored = new Map<string, StoredDocument>();
  const read: string[][] = [];
  const store = {
    documents: (_projection: unknown, _generation: unknown, ids: string[]) => {
      read.push(ids);
      return Promise.resolve(
        new Map(
          ids.flatMap((id) => (stored.has(id) ? [[id, structuredClone(stored.get(id))]] : [])) as [
            string,
            StoredDocument,
          ][],
        ),
      );
    },
    commit: (_projection: unknown, _generation: unknown, _fence: unknown, commits: readonly ShardCommit[]) => {
      for (const { writes } of commits)
        for (const { id, revision, doc } of writes) stored.set(id, { revision, doc: structuredClone(doc) });
      return Promise.resolve(null);
    },
  } as unknown as ProjectionStore;
  const gaps: string[] = [];
  const writer = new GenerationWriter(
    {} as EventStore,
    store,
    projection,
    1,
    1,
    Array.from({ length: SHARDS }, () => ({ position: null, log: null })),
    (stream) => gaps.push(stream),
  );
  const streams = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `large-${id}`);
  for (let revision = 0; revision < 3; revision++) {
    await writer.fold(
      streams.map((stream) => ({ stream, revision }) as RecordedEvent),
      String(revision),
    );
    await writer.commit(null, { idle: false });
  }
  expect(gaps).toEqual([]);
  expect([...stored.values()].map(({ revision, doc }) => [revision, (doc as { seen: number }).seen])).toEqual(
    streams.map(() => [2, 3]),
  );
  // Those that were used last were still there.
  expect(read.map((ids) => ids.length)).toEqual([3, 3]);
  expect(new Set(read.flat())).not.toEqual(new Set(streams.map(idOf)));
});
