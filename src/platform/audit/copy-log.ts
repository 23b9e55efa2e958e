// Copies one event store into another, event by event as stored. `ops log copy` calls this class.
import type { RecordedEvent } from '../../kernel/domain-event.js';
import type { JsonObject } from '../../kernel/json.js';
import { type EventStore, MAX_APPEND_BYTES, MAX_EVENT_BYTES, type StreamAppend } from '../../ports/event-store.js';
import { linkTo } from './chain.js';

/** The first difference between the two logs: an event of the source, or of the target when the source has no such event. */
export interface Difference {
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  readonly fault: 'not an event of this log' | 'content does not match its hash' | 'missing from the target';
}

/** The last compared event in each log, with the number of events and streams up to it. */
export interface CopyCheckpoint {
  readonly stream: string;
  readonly revision: number;
  readonly source: string;
  readonly target: string;
  readonly events: number;
  readonly streams: number;
}

export interface LogCopy {
  /** `events` events of the source are in the target and were compared. This run appended `appended` of them. */
  readonly events: number;
  readonly streams: number;
  readonly appended: number;
  /** The position in the source up to which the two logs are equal. */
  readonly through: string | null;
  readonly difference: Difference | null;
}

export interface CopyOptions {
  /** Stores the appends in exactly their order, and may end at a conflict. A stream may occur more than once. Default: one append at a time. */
  readonly append?: (appends: readonly StreamAppend[]) => Promise<void>;
  /** The checkpoint that an earlier run last gave to `onCompared`. Not used when one of the logs lacks the checkpoint's event. */
  readonly checkpoint?: CopyCheckpoint | null;
  readonly onCompared?: (checkpoint: CopyCheckpoint) => Promise<void>;
}

const PAGE = 1_000;
/** The number of events of any size that fit into one append. */
const MAX_RUN = Math.floor(MAX_APPEND_BYTES / (MAX_EVENT_BYTES + 1_000));

/**
 * Appends the missing events of the source to the target, in the order of the source. The target must be empty, or have exactly the first events of
 * the source, as after an earlier copy. Every event is read back from the target and compared, in the order of the target. Existing events are
 * compared before new ones are appended. The copy ends at the end that the source has when the copy reaches it.
 */
export async function copyLog(
  source: EventStore,
  target: EventStore,
  progress: (events: number) => void,
  { append = oneByOne(target), checkpoint = null, onCompared }: CopyOptions = {},
): Promise<LogCopy> {
  let at = checkpoint !== null && (await holds(source, target, checkpoint)) ? checkpoint : null;
  let appended = 0;
  const result = (difference: Difference | null): LogCopy => ({
    events: at?.events ?? 0,
    streams: at?.streams ?? 0,
    appended,
    through: at?.source ?? null,
    difference,
  });
  let [sent, isLast, page]: [string, boolean, readonly RecordedEvent[]] = ['', false, []];
  for (;;) {
    if (page.length === 0) {
      page = await source.readAll(at?.source ?? null, PAGE);
      isLast = page.length < PAGE;
    }
    const copies = await target.readAll(at?.target ?? null, PAGE);
    const [own] = page;
    if (own === undefined)
      return result(copies[0] === undefined ? null : placeOf(copies[0], 'not an event of this log'));
    if (copies.length === 0) {
      if (own.position <= sent) return result(placeOf(own, 'missing from the target'));
      await append(appendsOf(page));
      sent = page.at(-1)?.position ?? sent;
      continue;
    }
    for (const [index, copy] of copies.slice(0, page.length).entries()) {
      const event = page[index] ?? own;
      const fault = faultOf(event, copy);
      if (fault !== null) return result(placeOf(copy, fault));
      const { stream, revision } = event;
      const [events, streams] = [(at?.events ?? 0) + 1, (at?.streams ?? 0) + (revision === 0 ? 1 : 0)];
      at = { stream, revision, source: event.position, target: copy.position, events, streams };
      if (event.position <= sent) appended += 1;
    }
    if (at !== null) await onCompared?.(at);
    progress(at?.events ?? 0);
    // The events beyond the end of the source are read once more, because the source may have grown.
    if (isLast && copies.length === page.length) return result(null);
    page = page.slice(copies.length);
  }
}

/** Whether both logs have the event at the position that an earlier run compared. */
async function holds(source: EventStore, target: EventStore, at: CopyCheckpoint): Promise<boolean> {
  const only = { from: at.revision, limit: 1 };
  const [[own], [copy]] = await Promise.all([source.readStream(at.stream, only), target.readStream(at.stream, only)]);
  if (own?.position !== at.source || copy?.position !== at.target) return false;
  return faultOf(own, copy) === null;
}

/** The hash includes the whole event except its position in the whole log, which the walk checks. */
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

function oneByOne(target: EventStore): (appends: readonly StreamAppend[]) => Promise<void> {
  return async (appends) => {
    for (const { stream, expected, events } of appends)
      if ((await target.append(stream, expected, events)).outcome === 'conflict') return;
  };
}

/** Successive events of one stream share an append. The order of the whole log is preserved. */
function appendsOf(events: readonly RecordedEvent[]): StreamAppend[] {
  const appends: { stream: string; expected: StreamAppend['expected']; events: StreamAppend['events'][number][] }[] =
    [];
  for (const { stream, revision, id, type, data, metadata } of events) {
    const event = { id, type, data: data as JsonObject, metadata: metadata as unknown as JsonObject };
    const append = appends.at(-1);
    if (append?.stream === stream && append.events.length < MAX_RUN) append.events.push(event);
    else appends.push({ stream, expected: revision === 0 ? 'no-stream' : revision - 1, events: [event] });
  }
  return appends;
}

function placeOf({ stream, revision, id: eventId }: RecordedEvent, fault: Difference['fault']): Difference {
  return { stream, revision, eventId, fault };
}
