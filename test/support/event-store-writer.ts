// A process that appends to an embedded event store and prints a line of JSON for every append that was acknowledged:
//   event-store-writer.ts <directory> <category> <writers> <appends of each writer, 0 for no end>
// Every writer takes turns between a stream of its own, two events at a time, and one stream that all of them want.
// A refusal of the store is printed too, and ends the process once the streams have been read back.
import { writeSync } from 'node:fs';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { newId } from '../../src/kernel/ids.js';
import {
  type AppendOutcome,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
} from '../../src/ports/event-store.js';

/** What the process says about an append. */
export interface Acknowledged {
  readonly stream: string;
  readonly revision: number;
  readonly ids: readonly string[];
}

export interface Refused {
  readonly refused: string;
  readonly readable: number;
}

const [directory = '', category = '', writers = '1', appends = '0'] = process.argv.slice(2);
const store = EmbeddedEventStore.open({ directory });
const shared = `${category}-shared`;

// Synchronous, so that what has been acknowledged has been said before the process can be killed in the next turn.
function say(line: Acknowledged | Refused): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function newEvent(): NewEvent {
  return { id: newId(), type: 'SomethingHappened', data: { text: 'x'.repeat(300) }, metadata: {} };
}

async function appendOwn(stream: string, expected: ExpectedRevision): Promise<number> {
  const events = [newEvent(), newEvent()];
  const answer = await store.append(stream, expected, events);
  if (answer.outcome === 'conflict') throw new Error(`somebody else wrote to ${stream}`);
  say({ stream, revision: answer.revision, ids: events.map(({ id }) => id) });
  return answer.revision;
}

async function appendShared(): Promise<void> {
  const event = newEvent();
  for (let expected: ExpectedRevision = 'no-stream'; ;) {
    const answer: AppendOutcome = await store.append(shared, expected, [event]);
    if (answer.outcome === 'appended') return say({ stream: shared, revision: answer.revision, ids: [event.id] });
    expected = answer.current;
  }
}

async function write(writer: number): Promise<void> {
  const stream = `${category}-${writer}-${newId()}`;
  let expected: ExpectedRevision = 'no-stream';
  try {
    for (let done = 0; done < Number(appends) || appends === '0'; done += 2) {
      expected = await appendOwn(stream, expected);
      await appendShared();
    }
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    say({ refused: error.message, readable: (await store.readStream(stream)).length });
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)));
await store.close();
