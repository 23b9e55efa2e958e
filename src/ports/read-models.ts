import type { RecordedEvent } from '../kernel/domain-event.js';
import type { Projection } from '../kernel/projection.js';

/** A document and the stream revision from which it was made. */
export interface View<Doc extends object> {
  readonly id: string;
  readonly revision: number;
  readonly doc: Doc;
}

/** The sort position of an entry in a list. */
export interface Cursor {
  readonly sort: string;
  readonly id: string;
}

/** The part of a list that is read. */
export interface ListQuery {
  /** By sort value and id. The default 'descending' gives the newest first in lists that are ordered by ids or times. */
  readonly order?: 'ascending' | 'descending';
  /** `next` of the previous page. */
  readonly after?: Cursor | null;
  /** The number of entries to skip at the beginning. Page 3 is `skip: 2 * limit`. */
  readonly skip?: number;
  /** With 0, only the total is returned. */
  readonly limit: number;
  /** Omits entries with a greater sort value. */
  readonly upTo?: string;
}

export interface Page<Doc extends object> {
  readonly items: readonly View<Doc>[];
  /** The number of entries in the whole list. */
  readonly total: number;
  /** Null at the end. */
  readonly next: Cursor | null;
}

/**
 * The read models behind status calls and listings. A document is folded from its stream. Lists may be lost, because they can be rebuilt from the
 * log. Lists are as current as the projector, and `CompleteLists` waits for the projector.
 */
export abstract class ReadModels {
  /**
   * The document in the log's present state, so a decision may depend on it. While the log cannot be read, a document that is `toldWithoutLog` comes
   * from its last kept copy. The copy may be older than the log when a change was not applied or Redis was unavailable.
   */
  abstract get<Doc extends object>(projection: Projection<Doc, unknown>, id: string): Promise<View<Doc> | null>;

  /**
   * A page of a list and its total at one moment. The page omits a document that has left the list according to the log, and may be shorter than its
   * limit. The total counts such a document until the projector catches up. Decisions must not depend on the page.
   */
  abstract list<Doc extends object>(
    projection: Projection<Doc, unknown>,
    list: string,
    query: ListQuery,
  ): Promise<Page<Doc>>;

  /** The ids of at most `limit` documents whose `dueAt` (or entry in another list of times) is at or before `at`, the most overdue first. */
  abstract due(
    projection: Projection<object, unknown>,
    at: Date,
    limit: number,
    from?: { readonly list?: string; readonly skip?: number },
  ): Promise<string[]>;

  /** The ids of all documents in a list. */
  abstract idsIn(projection: Projection<object, unknown>, list: string): Promise<string[]>;

  /**
   * Called by the process that appended, before it answers, with the stream's history including the new events. Keeps a document that is
   * `toldWithoutLog`, unless a later revision is kept. A history without its beginning removes the kept copy. Never throws, because the append is
   * already durable. A failure is logged and counted.
   */
  abstract applyNow(history: readonly RecordedEvent[]): Promise<void>;
}
