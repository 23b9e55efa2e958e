import type { DomainEvent, RecordedEvent } from './domain-event.js';
import type { Environment } from './environment.js';

/** An entry of a document in a list. Neither text contains a space. */
export interface IndexEntry {
  /** A name such as `account=<id>`; see `listOf`. */
  readonly list: string;
  /** The sort key, compared by bytes. The document's id orders entries with the same key, and all entries when the key is omitted. */
  readonly sort?: string;
  /** The list keeps only its greatest entry. A document must never remove such an entry later. */
  readonly latestOnly?: true;
}

/**
 * A read model: one document for each stream of one category, a pure function of that stream's events. Every process folds the same document at
 * revision n. In Redis, the entries of the higher revision replace the entries of a lower revision.
 *
 * `State` is the input of the next fold step, and readers get `Doc`. Redis stores the lists of a document. The document itself is folded from its
 * stream.
 */
export interface Projection<Doc extends object, State = Doc> {
  /** Lowercase letters and underscores. */
  readonly name: string;
  /** Raise the version when anything below gives another result. The next start then builds the new version while the old version is still read. */
  readonly version: number;
  readonly category: string;
  /** Documents are kept for some days after their last event, for readers during an outage of the log. */
  readonly toldWithoutLog?: true;
  /**
   * A document leaves its lists this many days after its last event, unless it is due. Readers still find the document by its id. Used for lists that
   * would grow without end. Entries with `latestOnly` stay.
   */
  readonly listedForDays?: number;
  /** Pure. The function must throw at an unknown event type, which stops the projection with an alarm. */
  evolve(state: State | null, event: RecordedEvent): State;
  /** The document for readers: named fields, without the state of an aggregate. */
  view(state: State): Doc;
  /** The lists of the document. The entries of a new revision replace those of the previous revision. */
  entries?(state: State): readonly IndexEntry[];
  /** The time at which a recovery job must examine the stream, ISO 8601 UTC; null if it is not due. This time lists the document in `DUE`. */
  dueAt?(state: State): string | null;
}

/** The list of due documents, by time. */
export const DUE = 'due';

/** The entry of an open call to a vendor, sorted by the time at which the call must be settled (ISO 8601 UTC). */
export function openCall(environment: Environment, settleAfter: string): IndexEntry {
  return { list: openCallsIn(environment), sort: new Date(settleAfter).toISOString() };
}

/** The name of the list of documents with an open call to a vendor in that environment. */
export function openCallsIn(environment: Environment): string {
  return listOf({ openCalls: environment });
}

type Values = Readonly<Record<string, string | undefined>>;

/** The name of the list of all documents that have these values. An undefined value does not filter. */
export function listOf(values: Values): string {
  return nameOf(fieldsOf(values));
}

/** The names of the lists for the values of `within` and of any of `filters` (see `listOf`). */
export function listsBy(within: Values, filters: Values): string[] {
  let lists = [fieldsOf(within)];
  for (const field of fieldsOf(filters).reverse()) lists = [...lists, ...lists.map((fields) => [...fields, field])];
  return lists.map(nameOf);
}

/** Null for an undefined value. */
function fieldsOf(values: Values): (string | null)[] {
  return Object.entries(values).map(([field, value]) =>
    value === undefined ? null : `${field}=${encodeURIComponent(value)}`,
  );
}

function nameOf(fields: readonly (string | null)[]): string {
  const set = fields.filter((field) => field !== null);
  return set.sort().join('&') || 'all';
}

/** The document of a whole history; null for an empty history. */
export function foldState<State>(
  projection: Pick<Projection<object, State>, 'evolve'>,
  history: readonly RecordedEvent[],
): State | null {
  let state: State | null = null;
  for (const event of history) state = projection.evolve(state, event);
  return state;
}

/** Reads an event as one of the listed types and throws at any other type. Code that lacks a type does not compile. */
export function exhaustiveEvents<Event extends DomainEvent>(
  projection: string,
  types: Readonly<Record<Event['type'], true>>,
): (event: RecordedEvent) => RecordedEvent & Event {
  return (event) => {
    if (!Object.hasOwn(types, event.type)) throw new Error(`${projection} does not know ${event.type}`);
    return event as RecordedEvent & Event;
  };
}
