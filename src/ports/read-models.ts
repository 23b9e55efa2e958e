import type { RecordedEvent } from '../kernel/domain-event.js';
import type { Projection } from '../kernel/projection.js';

/** A document and the stream revision it has seen. */
export interface View<Doc extends object> {
  readonly id: string;
  readonly revision: number;
  readonly doc: Doc;
}

/** A place in a list: that of an entry. */
export interface Cursor {
  readonly sort: string;
  readonly id: string;
}

/** What is asked of a list. */
export interface ListQuery {
  /** By sort value and id; 'descending' unless said: the newest first, where ids or times order the list. */
  readonly order?: 'ascending' | 'descending';
  /** `next` of the page before. */
  readonly after?: Cursor | null;
  /** Entries to leave out at the beginning; page 3 is `skip: 2 * limit`. */
  readonly skip?: number;
  /** 0 when only the total is of interest. */
  readonly limit: number;
  /** Entries whose sort value is greater are no part of the list. */
  readonly upTo?: string;
}

export interface Page<Doc extends object> {
  readonly items: readonly View<Doc>[];
  /** Of the whole list, whatever page this is. */
  readonly total: number;
  /** Null at the end. */
  readonly next: Cursor | null;
}

/**
 * What status calls and listings read. A document is folded from its stream. Lists are disposable: they can be rebuilt from the event log, and
 * are as far as the projector is; `CompleteLists` waits for it.
 */
export abstract class ReadModels {
  /**
   * As the log has it now, so that a decision may rest on it. While the log cannot be read, a document that is `toldWithoutLog` is as it was
   * kept last; it may be older than the log where a change was not shown, or Redis was away.
   */
  abstract get<Doc extends object>(projection: Projection<Doc, unknown>, id: string): Promise<View<Doc> | null>;

  /**
   * A page of a list and its total, as of one moment. A document that the log says has left is left out of the page, which may be shorter
   * than its limit; the total counts it until the projector has come so far. It tells, and decides nothing.
   */
  abstract list<Doc extends object>(
    projection: Projection<Doc, unknown>,
    list: string,
    query: ListQuery,
  ): Promise<Page<Doc>>;

  /** Ids of documents whose `dueAt` (or whose entry in another list of times) is at or before `at`, the most overdue first, at most `limit`. */
  abstract due(
    projection: Projection<object, unknown>,
    at: Date,
    limit: number,
    from?: { readonly list?: string; readonly skip?: number },
  ): Promise<string[]>;

  /** Ids of all documents in a list. */
  abstract idsIn(projection: Projection<object, unknown>, list: string): Promise<string[]>;

  /**
   * Called by the process that appended, with the stream's history including the new events, before it answers: keeps what is
   * `toldWithoutLog`, unless a later revision is kept. Of a history without its beginning nothing is kept any more.
   * Never throws: the append is durable already; a failure is logged and counted.
   */
  abstract applyNow(history: readonly RecordedEvent[]): Promise<void>;
}
