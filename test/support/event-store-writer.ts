// A process that appends to an embedded event store and prints a line of JSON for every acknowledged append:
// `event-store-writer.ts <directory> <category> <writers> <appends of each writer, 0 for no end> [<more options of the store, as JSON>]`.
// Every writer takes turns between its own streams and one stream that all writers share. The writer appends two events
// to its own stream together with one to a second stream. The process prints a refusal of the store too. Finally the
// process reads the streams back and ends.
import { writeSync } from 'node:fs';
import { EmbeddedEventStore } from '../../src/adapters/event-store/embedded.js';
import { newId } from '../../src/kernel/ids.js';
import {
  type AppendOutcome,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
} from '../../src/ports/event-store.js';

/** One printed line about an append. */
export interface Acknowledged {
  readonly stream: string;
  readonly revision: number;
  readonly ids: readonly string[];
}

export interface Refused {
  readonly refused: string;
  readonly readable: number;
}

const [directory = '', category = '', writers = '1', appends = '0', options = '{}'] = process.argv.slice(2);
const store = EmbeddedEventStore.open({ directory, ...(JSON.parse(options) as object) });
const shared = `${category}-shared`;

// Written synchronously, so that the line is written before the process can be killed in the next turn.
function say(line: Acknowledged | Refused): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function newEvent(): NewEvent {
  return { id: newId(), type: 'SomethingHappened', data: { text: 'x'.repeat(300) }, metadata: {} };
}

/** `turn` counts from 0. */
async function appendOwn(stream: string, turn: number): Promise<void> {
  const own = [newEvent(), newEvent()];
  const beside = [newEvent()];
  const answer = await store.appendTogether([
    { stream, expected: turn === 0 ? 'no-stream' : 2 * turn - 1, events: own },
    { stream: `${stream}:beside`, expected: turn === 0 ? 'no-stream' : turn - 1, events: beside },
  ]);
  if (answer.outcome === 'conflict') throw new Error(`somebody else wrote to ${stream}`);
  const [revision = NaN, besideRevision = NaN] = answer.revisions;
  say({ stream, revision, ids: own.map(({ id }) => id) });
  say({ stream: `${stream}:beside`, revision: besideRevision, ids: beside.map(({ id }) => id) });
}

async function appendShared(): Promise<void> {
  const event = newEvent();
  for (let expected: ExpectedRevision = 'no-stream'; ;) {
    const answer: AppendOutcome = await store.append(shared, expected, [event]);
    if (answer.outcome === 'appended') return say({ stream: shared, revision: answer.revision, ids: [event.id] });
    expected = answer.current;
  }
}

async function write(): Promise<void> {
  const stream = `${category}-own-${newId()}`;
  try {
    for (let turn = 0; 2 * turn < Number(appends) || appends === '0'; turn++) {
      await appendOwn(stream, turn);
      await appendShared();
    }
  } catch (error) {
    if (!(error instanceof EventStoreUnavailable)) throw error;
    say({ refused: error.message, readable: (await store.readStream(stream)).length });
  }
}

await Promise.all(Array.from({ length: Number(writers) }, write));
await store.close();
