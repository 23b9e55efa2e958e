// A command reads a bounded number of events of a long stream, for every kind of aggregate. Callers can make most
// streams grow: they make and end a link, send a delivery again, or change an amount. The cost of a command must not
// grow with each event.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EmbeddedEventStore } from '../../../src/adapters/event-store/embedded.js';
import type { Decider } from '../../../src/kernel/decider.js';
import { categoryOf, type DomainEvent, type RecordedEvent } from '../../../src/kernel/domain-event.js';
import { newId } from '../../../src/kernel/ids.js';
import { systemContext } from '../../../src/kernel/context.js';
import { AggregateStore } from '../../../src/platform/aggregates/aggregate-store.js';
import { asNewEvent } from '../../../src/platform/aggregates/recorded-events.js';
import type { EventStore, StreamReadOptions } from '../../../src/ports/event-store.js';
import { SetClock } from '../../support/clock.js';

const EVENTS = 2_000;
/** A command may read all events of a shorter stream. */
const MOST_READ = 250;
const MODULES = join(import.meta.dirname, '../../../src/modules');
const SAMPLES = join(import.meta.dirname, '../upcasting/samples');

const deciders = new Map<string, Decider<unknown, never, DomainEvent>>();
for (const path of await readdir(MODULES, { recursive: true })) {
  if (!/^[^/]+\/domain\/[^/]+\.ts$/.test(path)) continue;
  for (const exported of Object.values((await import(join(MODULES, path))) as Record<string, unknown>))
    if (typeof exported === 'object' && exported !== null && 'decide' in exported && 'evolve' in exported) {
      const decider = exported as Decider<unknown, never, DomainEvent>;
      deciders.set(decider.category, decider);
    }
}
/** The samples in stored order: the first events of a stream come first. */
const samples = readdirSync(SAMPLES)
  .map((file) => (JSON.parse(readFileSync(join(SAMPLES, file), 'utf8')) as { event: RecordedEvent }).event)
  .sort((one, other) => one.revision - other.revision);

let directory: string;
let store: EmbeddedEventStore;
let read = 0;
let shown = 0;
let aggregates: AggregateStore;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'long-streams-'));
  store = EmbeddedEventStore.open({ directory, mapSizeBytes: 512 * 2 ** 20 });
});
afterAll(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(() => {
  read = shown = 0;
  const counted = Object.assign(Object.create(store) as EventStore, {
    readStream: async (stream: string, options?: StreamReadOptions): Promise<RecordedEvent[]> => {
      const events = await store.readStream(stream, options);
      read += events.length;
      return events;
    },
  });
  aggregates = new AggregateStore(
    counted,
    { applyNow: async ([first]) => void (shown += first?.revision === 0 ? 1 : 0) },
    new SetClock(),
    {
      appendConflict: () => undefined,
    },
  );
});

/** Stores the sample events of a category, and then repeats the last one until the stream has its full length. */
async function grown(category: string): Promise<{ readonly id: string; readonly event: DomainEvent }> {
  const id = newId();
  const some = samples.filter(({ stream }) => categoryOf(stream) === category);
  const last = some.at(-1) as RecordedEvent;
  const all = Array.from({ length: EVENTS }, (_, index) => ({ ...asNewEvent(some[index] ?? last), id: newId() }));
  for (let from = 0; from < EVENTS; from += 200)
    await store.append(`${category}-${id}`, from === 0 ? 'no-stream' : from - 1, all.slice(from, from + 200));
  return { id, event: { type: last.type, data: last.data } };
}

it('the test finds every aggregate in the code', () => {
  expect([...deciders.keys()]).toEqual(
    expect.arrayContaining(['account', 'checkout', 'credit', 'payment', 'person', 'screening', 'share']),
  );
  expect(deciders.size).toBeGreaterThanOrEqual(17);
});

it.each([...deciders])('a second command on a long stream of %s reads only a few events', async (category, decider) => {
  const { id, event } = await grown(category);
  const growing = { ...decider, decide: () => [event] } as Decider<unknown, null, DomainEvent>;
  const command = () => aggregates.execute(growing, id, null, systemContext('test', null));
  await command();
  for (let time = 0; time < 3; time++) {
    read = 0;
    const { revision, state } = await command();
    expect(read).toBeLessThanOrEqual(MOST_READ);
    expect([revision, state]).toEqual([EVENTS + 1 + time, expect.anything()]);
  }
  // A document that was folded from only a part of its stream would be wrong.
  expect(shown).toBe(0);
  // The state was folded from the whole stream.
  const whole = (await store.readStream(`${category}-${id}`)) as readonly (RecordedEvent & DomainEvent)[];
  const state = whole.reduce((before: unknown, one) => decider.evolve(before, one), decider.initial);
  expect((await aggregates.load(decider, id)).state).toEqual(state);
});
