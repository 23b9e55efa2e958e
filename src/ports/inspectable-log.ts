import type { RecordedEvent } from '../kernel/domain-event.js';
import type { EventStore } from './event-store.js';

/** A fault at one position of the log. The stream and revision of an unreadable event are present when its text still has them. */
export interface LogFault {
  /** Null for a fault of the whole log. */
  readonly position: string | null;
  /** The last position of a gap. */
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
  /** Every readable event, in order, even if faults come before or after it. */
  readonly events: readonly RecordedEvent[];
  readonly faults: readonly LogFault[];
  /** The last inspected position. */
  readonly through: string | null;
  /** Set at the end of the log. `streams` is the number of streams in its index (null: no index). `faults` concern the whole log. */
  readonly end: { readonly streams: number | null; readonly faults: readonly LogFault[] } | null;
}

/**
 * A store that can inspect the layout of its log, and can find faults at which an ordinary read would fail. Only the embedded store can do this,
 * because a server does not show its files.
 */
export interface InspectableLog {
  /** Inspects the log after a position: contents, gaps, and whether the indexes agree with each event. */
  inspect(after: string | null): Promise<InspectedPage>;

  /**
   * The last position minus the number of stored events. The difference shows how many events are missing or, if negative, how many are too many.
   * Reads no events.
   */
  missingEvents(): number;
}

export function isInspectable(store: EventStore): store is EventStore & InspectableLog {
  return 'inspect' in store && 'missingEvents' in store;
}
