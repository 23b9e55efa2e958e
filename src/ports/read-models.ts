import type { RecordedEvent } from '../kernel/domain-event.js';
import type { Projection } from '../kernel/projection.js';
import { Unavailable } from '../kernel/unavailable.js';

/** A document and the stream revision it has seen. */
export interface View<Doc extends object> {
  readonly id: string;
  readonly revision: number;
  readonly doc: Doc;
}

/** The read models cannot be reached. An outage is never an absence. */
export class ReadModelsUnavailable extends Unavailable {
  override readonly name = 'ReadModelsUnavailable';
}

/**
 * What status calls read. Disposable: everything here can be rebuilt from the event log, and a document that is missing
 * (just emptied, not yet rebuilt) is computed from its stream on the spot, so that null always means "no such stream".
 * Lists (`idsIn`, `due`) are complete only when the projection is caught up.
 */
export abstract class ReadModels {
  abstract get<Doc extends object>(projection: Projection<Doc>, id: string): Promise<View<Doc> | null>;

  /** Ids of the documents in a list, oldest id first, at most `limit`. */
  abstract idsIn<Doc extends object>(projection: Projection<Doc>, index: string, limit: number): Promise<string[]>;

  /** A page of a list from its end: ids below `before` (exclusive; null: from the newest), the highest id first, at most `limit`. */
  abstract idsBefore<Doc extends object>(
    projection: Projection<Doc>,
    index: string,
    before: string | null,
    limit: number,
  ): Promise<string[]>;

  /** Ids of documents whose `dueAt` is at or before `at`, the most overdue first, at most `limit`. */
  abstract due<Doc extends object>(projection: Projection<Doc>, at: Date, limit: number): Promise<string[]>;

  /**
   * Called by the process that appended, with the stream's whole history including the new events, before it answers:
   * so that a read anywhere sees the write. Never throws: the append is durable already, and the subscription repeats
   * this; a failure is logged and counted.
   */
  abstract applyNow(history: readonly RecordedEvent[]): Promise<void>;
}
