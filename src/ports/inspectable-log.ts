import type { RecordedEvent } from '../kernel/domain-event.js';
import type { EventStore } from './event-store.js';

/** Something that is wrong at one place of the log. Of an unreadable event stream and revision are told where its text still says them. */
export interface LogFault {
  /** Null for what concerns the log as a whole. */
  readonly position: string | null;
  /** Of a gap: its last position. */
  readonly through?: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly eventId?: string;
  readonly fault: string;
}

export function faultAt({ position, stream, revision, id: eventId }: RecordedEvent, fault: string): LogFault {
  return { position, stream, revision, eventId, fault };
}

export interface InspectedPage {
  /** Every event that can be read, in order, whatever is wrong around it. */
  readonly events: readonly RecordedEvent[];
  readonly faults: readonly LogFault[];
  /** Last position looked at. */
  readonly through: string | null;
  /** Told when the log ended at `through` as this page was read: how many streams its index has (null: no index), and what is wrong with the log as a whole. */
  readonly end: { readonly streams: number | null; readonly faults: readonly LogFault[] } | null;
}

/**
 * A store that knows how its log is laid out, and can tell what is wrong with it where an ordinary read would fail. Of the stores
 * the embedded one can; a server keeps its own files to itself.
 */
export interface InspectableLog {
  /** From after a position on: contents, contiguity, and whether the indexes say of each event what the event says. */
  inspect(after: string | null): Promise<InspectedPage>;

  /** How many events the log has too few, or (negative) too many, for its last position. Takes no time. */
  missingEvents(): number;
}

export function isInspectable(store: EventStore): store is EventStore & InspectableLog {
  return 'inspect' in store && 'missingEvents' in store;
}
