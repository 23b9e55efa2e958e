// Copies one event store into another, event by event as stored. `ops log copy` calls it.
import type { RecordedEvent } from '../../kernel/domain-event.js';
import type { JsonObject } from '../../kernel/json.js';
import { type EventStore, MAX_APPEND_BYTES, MAX_EVENT_BYTES } from '../../ports/event-store.js';
import { linkTo } from './chain.js';

/** Where the two logs part: an event of the source, or of the target where the source has none. */
export interface Difference {
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  readonly fault:
    | 'not an event of this log'
    | 'another event stands in its place'
    | 'content does not match its hash'
    | 'missing from the target';
}

export interface LogCopy {
  /** What the target holds of the source, compared after the copying; how much of it this run has appended. */
  readonly events: number;
  readonly streams: number;
  readonly appended: number;
  /** Position in the source up to which the two are equal. */
  readonly through: string | null;
  readonly difference: Difference | null;
}

const PAGE = 1_000;
/** So many events are within the limit of an append however large they are. */
const MAX_RUN = Math.floor(MAX_APPEND_BYTES / (MAX_EVENT_BYTES + 1_000));

/**
 * Appends to the target what it lacks of the source, in the order of the source, one append after another. The target must be
 * empty or hold the beginning of the source and nothing else, as an earlier copy that broke off has left it; what it holds is
 * compared first, and everything once more at the end. Copies to where the source ended when that was reached.
 */
export async function copyLog(
  source: EventStore,
  target: EventStore,
  progress: (events: number) => void,
): Promise<LogCopy> {
  const before = await compare(source, target);
  if (before.difference !== null) return { ...before, appended: 0 };
  let { through, events: copied } = before;
  for (;;) {
    const page = await source.readAll(through, PAGE);
    for (const run of runsOf(page)) {
      const difference = await append(target, run);
      if (difference !== null) return { ...before, appended: copied - before.events, difference };
      copied += run.length;
    }
    through = page.at(-1)?.position ?? through;
    progress(copied);
    if (page.length < PAGE) break;
  }
  const after = await compare(source, target);
  const difference = after.difference ?? (after.events < copied ? await nextAfter(source, after.through) : null);
  return { ...after, appended: copied - before.events, difference };
}

/** Walks both side by side from the beginning to the end of the target, or to the first difference. */
async function compare(source: EventStore, target: EventStore): Promise<Omit<LogCopy, 'appended'>> {
  const theirs = eventsOf(target);
  let [events, streams, through]: [number, number, string | null] = [0, 0, null];
  for await (const own of eventsOf(source)) {
    const next = await theirs.next();
    if (next.done === true) return { events, streams, through, difference: null };
    const fault = faultOf(own, next.value);
    if (fault !== null) return { events, streams, through, difference: placeOf(next.value, fault) };
    events += 1;
    if (own.revision === 0) streams += 1;
    through = own.position;
  }
  const more = await theirs.next();
  return {
    events,
    streams,
    through,
    difference: more.done === true ? null : placeOf(more.value, 'not an event of this log'),
  };
}

/** The hash covers all of an event but its place in the whole log, which is where the walk stands. */
function faultOf(own: RecordedEvent, copy: RecordedEvent): Difference['fault'] | null {
  if (copy.id !== own.id || copy.stream !== own.stream || copy.revision !== own.revision)
    return 'not an event of this log';
  const { chain, ...metadata } = copy.metadata as Partial<RecordedEvent['metadata']> &
    Omit<RecordedEvent['metadata'], 'chain'>;
  const { prev, hash } = (own.metadata as Partial<RecordedEvent['metadata']>).chain ?? {};
  const same =
    prev !== undefined &&
    chain?.prev === prev &&
    chain.hash === hash &&
    linkTo(prev, { ...copy, metadata }).hash === hash;
  return same ? null : 'content does not match its hash';
}

async function append(target: EventStore, run: readonly RecordedEvent[]): Promise<Difference | null> {
  const [first] = run;
  if (first === undefined) return null;
  const events = run.map(({ id, type, data, metadata }) => ({
    id,
    type,
    data: data as JsonObject,
    metadata: metadata as unknown as JsonObject,
  }));
  const { outcome } = await target.append(
    first.stream,
    first.revision === 0 ? 'no-stream' : first.revision - 1,
    events,
  );
  return outcome === 'appended' ? null : placeOf(first, 'another event stands in its place');
}

/** Neighbours of one stream go together; the order of the whole stays as it is. */
function runsOf(events: readonly RecordedEvent[]): RecordedEvent[][] {
  const runs: RecordedEvent[][] = [];
  for (const event of events) {
    const run = runs.at(-1);
    if (run?.[0]?.stream === event.stream && run.length < MAX_RUN) run.push(event);
    else runs.push([event]);
  }
  return runs;
}

async function* eventsOf(store: EventStore): AsyncGenerator<RecordedEvent, void> {
  for (let after: string | null = null; ;) {
    const page: RecordedEvent[] = await store.readAll(after, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.position ?? null;
  }
}

async function nextAfter(source: EventStore, through: string | null): Promise<Difference | null> {
  const [missing] = await source.readAll(through, 1);
  return missing === undefined ? null : placeOf(missing, 'missing from the target');
}

function placeOf({ stream, revision, id: eventId }: RecordedEvent, fault: Difference['fault']): Difference {
  return { stream, revision, eventId, fault };
}
