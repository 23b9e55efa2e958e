import type { DomainEvent, RecordedEvent } from './domain-event.js';

/**
 * A read model: one document per stream of one category, a pure function of that stream's events. Because the document
 * at revision n is the same whoever computes it, any process may write it and the higher revision wins.
 */
export interface Projection<Doc extends object> {
  /** Lowercase letters and underscores. */
  readonly name: string;
  /** Raise it when `evolve`, `indexes` or `dueAt` change: the next start builds the new version beside the old one. */
  readonly version: number;
  readonly category: string;
  /** Pure. An event it does not know must throw: an unknown type stops the projection with an alarm. */
  evolve(doc: Doc | null, event: RecordedEvent): Doc;
  /** Lists the document belongs to, such as `account:<id>`. Memberships only ever grow. */
  indexes?(doc: Doc): readonly string[];
  /** ISO 8601 UTC time at which a sweep must look at the stream; null when nothing is due. */
  dueAt?(doc: Doc): string | null;
}

/**
 * Reads an event as one of those listed and throws at any other, as `evolve` must. A record, so that a new event type does not
 * compile until it is listed.
 */
export function exhaustiveEvents<Event extends DomainEvent>(
  projection: string,
  types: Readonly<Record<Event['type'], true>>,
): (event: RecordedEvent) => RecordedEvent & Event {
  return (event) => {
    if (!Object.hasOwn(types, event.type)) throw new Error(`${projection} does not know ${event.type}`);
    return event as RecordedEvent & Event;
  };
}
