// A projection remembers streams up to a limit in bytes, and reads forgotten streams from the log again.
import { expect, it } from '@jest/globals';
import type { RecordedEvent } from '../../src/kernel/domain-event.js';
import { GenerationWriter } from '../../src/platform/subscriptions/generation-writer.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { AnyProjection, Commit, ProjectionStore } from '../../src/ports/projection-store.js';

it('a writer forgets streams beyond its limit, and reads them again when they receive events', async () => {
  // The limit has less room than three streams with this text need.
  const text = 'x'.repeat(2 ** 20);
  const projection = {
    name: 'large',
    version: 1,
    category: 'large',
    evolve: (state: { seen: number } | null) => ({ seen: (state?.seen ?? 0) + 1, text }),
  } as unknown as AnyProjection;
  const stored = new Map<string, { revision: number; seen: number }>();
  const store = {
    commit: (_projection: unknown, _token: unknown, _generation: unknown, { writes }: Commit) => {
      for (const { id, revision, state } of writes)
        stored.set(id, { revision, seen: (state as { seen: number }).seen });
      return Promise.resolve(null);
    },
  } as unknown as ProjectionStore;
  const log = new Map<string, RecordedEvent[]>();
  const read: string[] = [];
  const events = {
    readStream: (stream: string) => {
      read.push(stream);
      return Promise.resolve(log.get(stream));
    },
  } as unknown as EventStore;
  const writer = new GenerationWriter(events, store, { projection, generation: 1 }, 'token', {
    position: null,
    log: null,
  });
  const streams = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => `large-${id}`);
  for (let revision = 0; revision < 3; revision++) {
    const batch = streams.map((stream) => ({ stream, revision, metadata: {} }) as RecordedEvent);
    for (const event of batch) log.set(event.stream, [...(log.get(event.stream) ?? []), event]);
    await writer.fold(batch, String(revision));
    await writer.commit(null, { idle: false });
  }
  expect([...stored.values()]).toEqual(streams.map(() => ({ revision: 2, seen: 3 })));
  // The writer still remembered the streams that it had used last.
  expect(read).toHaveLength(6);
});
