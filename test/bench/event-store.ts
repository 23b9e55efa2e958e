// (a) The embedded store: durable appends, and reading the whole log.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { newId } from '../../src/kernel/ids.js';
import type { NewEvent } from '../../src/ports/event-store.js';
import { latencies, medians, quantile, tell, throughput } from './measure.js';

const WRITERS = 64;
const APPENDS = 16_000;

/** The event is as large as a typical event of the service. */
export function anEvent(type = 'OtpRejected'): NewEvent {
  return {
    id: newId(),
    type,
    data: { attemptId: newId(), attemptsRemaining: 2, expiresAt: '2026-01-31T12:00:00.000Z' },
    metadata: {
      schemaVersion: 1,
      accountId: newId(),
      environment: 'test',
      occurredAt: '2026-01-31T12:00:00.000Z',
      $correlationId: newId(),
      $causationId: newId(),
      actor: { kind: 'platform-token', id: newId() },
      chain: { alg: 'sha-256', prev: '0'.repeat(64), hash: 'f'.repeat(64) },
    },
  };
}

export async function benchEventStore(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-events-'));
  const store = EmbeddedEventStore.open({ directory });
  try {
    const { appends } = await medians(3, {
      appends: () =>
        throughput(
          APPENDS,
          WRITERS,
          async () => void (await store.append(`bench-${newId()}`, 'no-stream', [anEvent()])),
        ),
    });
    tell(`(a) durable appends, ${WRITERS} writers`, appends, 'appends/s', { atLeast: 8_000 });
    const { replay } = await medians(3, { replay: () => replayed(store) });
    tell('(a) replay', replay, 'events/s', { atLeast: 100_000 });
    await store.append(
      'bench-ten',
      'no-stream',
      Array.from({ length: 10 }, () => anEvent()),
    );
    const loads = await latencies(5_000, async () => void (await store.readStream('bench-ten')));
    tell('(a) load of a stream of ten events, p99', quantile(loads, 0.99), 'ms');
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function replayed(store: EmbeddedEventStore): Promise<number> {
  const stop = new AbortController();
  const startedAt = performance.now();
  let events = 0;
  for await (const batch of store.subscribe({ after: null, batchSize: 2_000, signal: stop.signal })) {
    events += batch.events.length;
    if (batch.caughtUp) stop.abort();
  }
  return (events / (performance.now() - startedAt)) * 1_000;
}
