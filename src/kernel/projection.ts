import type { DomainEvent, RecordedEvent } from './domain-event.js';
import type { Environment } from './environment.js';

/** A place of a document in a list. Neither text holds a space. */
export interface IndexEntry {
  /** Such as `account=<id>`; see `listOf`. */
  readonly list: string;
  /** Orders the list, by bytes; entries of the same value are ordered by the document's id, which is all there is to it when left out. */
  readonly sort?: string;
  /** Only the greatest entry of the list is of interest. It is kept, and the others are not; so it must never be taken back. */
  readonly latestOnly?: true;
}

/**
 * A read model: one document per stream of one category, a pure function of that stream's events. The document at revision n
 * is the same in every process that folds it; of what is kept of it in Redis the higher revision wins.
 *
 * `State` is what the fold needs to go on; `Doc` is what is read. Redis holds in which lists a document is; the document is folded from its stream.
 */
export interface Projection<Doc extends object, State = Doc> {
  /** Lowercase letters and underscores. */
  readonly name: string;
  /** Raise it when anything below gives something else: the next start builds the new version beside the old one. */
  readonly version: number;
  readonly category: string;
  /** Its documents are kept for some days after their last event, to be told while the log cannot be read. */
  readonly toldWithoutLog?: true;
  /**
   * So many days after its last event a document with which nothing is due leaves the lists too: by its id alone it is found for ever.
   * For lists that would grow without end. Entries with `latestOnly` stay.
   */
  readonly listedForDays?: number;
  /** Pure. An event it does not know must throw: an unknown type stops the projection with an alarm. */
  evolve(state: State | null, event: RecordedEvent): State;
  /** What readers get: named fields, no state of an aggregate. */
  view(state: State): Doc;
  /** Where the document is listed. The entries of a new revision replace those of the one before. */
  entries?(state: State): readonly IndexEntry[];
  /** ISO 8601 UTC time at which a recovery job must look at the stream; null when nothing is due. Lists the document in `DUE`. */
  dueAt?(state: State): string | null;
}

/** The list of what is due, by time. */
export const DUE = 'due';

/** An open call to a vendor, by when it is to be settled (ISO 8601 UTC). */
export function openCall(environment: Environment, settleAfter: string): IndexEntry {
  return { list: openCallsIn(environment), sort: new Date(settleAfter).toISOString() };
}

/** Name of the list of what has an open call to a vendor in that environment. */
export function openCallsIn(environment: Environment): string {
  return listOf({ openCalls: environment });
}

type Values = Readonly<Record<string, string | undefined>>;

/** Name of the list of all documents that have these values; a value that is undefined does not filter. */
export function listOf(values: Values): string {
  return nameOf(fieldsOf(values));
}

/** Every list that `listOf` names for the values of `within` and any of `filters`: an entry in each makes every combination one range. */
export function listsBy(within: Values, filters: Values): string[] {
  let lists = [fieldsOf(within)];
  for (const field of fieldsOf(filters).reverse()) lists = [...lists, ...lists.map((fields) => [...fields, field])];
  return lists.map(nameOf);
}

/** Null for a value that is undefined. */
function fieldsOf(values: Values): (string | null)[] {
  return Object.entries(values).map(([field, value]) =>
    value === undefined ? null : `${field}=${encodeURIComponent(value)}`,
  );
}

function nameOf(fields: readonly (string | null)[]): string {
  const set = fields.filter((field) => field !== null);
  return set.sort().join('&') || 'all';
}

/** The document of a whole history; null for an empty one. */
export function foldState<State>(
  projection: Pick<Projection<object, State>, 'evolve'>,
  history: readonly RecordedEvent[],
): State | null {
  let state: State | null = null;
  for (const event of history) state = projection.evolve(state, event);
  return state;
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
