import type { RecordedEvent } from '../kernel/domain-event.js';
import type { JsonObject } from '../kernel/json.js';
import { Unavailable } from '../kernel/unavailable.js';

/** An event to append. `id` is a UUID. The same id in the same stream is the same event. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** The exact revision of the stream's last event, or `no-stream`. Looser expectations are not offered, because only these two make retries exact. */
export type ExpectedRevision = number | 'no-stream';

export type AppendOutcome =
  /** The append is durable. `revision` is the revision of the batch's last event. A repeated identical batch gets the same answer. */
  | { readonly outcome: 'appended'; readonly revision: number }
  /** The stream is not at the expected revision. No event was stored. */
  | { readonly outcome: 'conflict'; readonly current: ExpectedRevision };

/** One of several appends that are made together. */
export interface StreamAppend {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
}

export type TogetherOutcome =
  /** The appends are durable. The revisions of each append's last event, in order. */
  | { readonly outcome: 'appended'; readonly revisions: readonly number[] }
  /**
   * The first conflict: the stream of the append at `index` is at another revision. `stored` counts the stored appends before `index`: either all or
   * none.
   */
  | {
      readonly outcome: 'conflict';
      readonly index: number;
      readonly current: ExpectedRevision;
      readonly stored: number;
    };

/**
 * Part of the log, in order. Every matching event up to position `through` has been delivered, including this batch. A consumer that saves `through`
 * together with the batch's effect neither loses nor repeats an event. `through` is null only before the first event. `caughtUp` is true if no
 * further event was stored at the time of reading.
 */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  readonly through: string | null;
  readonly caughtUp: boolean;
}

export interface StreamReadOptions {
  /** The first revision to read. The default is the beginning of the stream (forwards) or its end (backwards). */
  readonly from?: number;
  readonly limit?: number;
  readonly direction?: 'forwards' | 'backwards';
}

export interface SubscribeOptions {
  /** Exclusive. Null means the beginning of the log. */
  readonly after: string | null;
  /** Only streams of these categories. The default is all. Streams whose name begins with `$` are never delivered. */
  readonly categories?: readonly string[];
  /** The largest number of events in a batch. The default is 500. */
  readonly batchSize?: number;
  /** Ends the iteration without an error. */
  readonly signal: AbortSignal;
}

/** The store cannot be reached, did not answer in time, or the outcome is still unknown after all retries. */
export class EventStoreUnavailable extends Unavailable {
  override readonly name: string = 'EventStoreUnavailable';
}

/** The log itself is damaged: an event is missing or differs from the stored one. The message names the position and no part of the content. */
export class EventLogDamaged extends EventStoreUnavailable {
  override readonly name = 'EventLogDamaged';
}

/** The log records that these events existed but cannot read them. A walk reports such events when it reaches their positions. */
export class EventsUnreadable extends EventLogDamaged {}

/**
 * The log has lost events or is another log. The log accepts no changes, because they would be lost when the right log returns. The message is for an
 * operator.
 */
export class LogRefused extends EventStoreUnavailable {
  override readonly name = 'LogRefused';

  constructor(complaint: string) {
    super(`${complaint} The log takes no changes until \`ops audit accept\` says that it is the right one.`);
  }
}

/** The event cannot be stored. The caller has a bug, which was found before the store received the event. */
export class UnstorableEvent extends Error {
  override readonly name = 'UnstorableEvent';
}

/** The largest size of an encoded event (data and metadata together), and of an append, in bytes. */
export const MAX_EVENT_BYTES = 64_000;
export const MAX_APPEND_BYTES = 900_000;

/** Whether the position can belong to the log that ends at `head`. False for a position of another store, and for a position beyond the end. */
export function isPositionUpTo(head: string | null, position: string): boolean {
  return head !== null && position.length === head.length && position <= head;
}

/** Whether the position belongs to another kind of store, from which the log was copied. */
export function isOfOtherStore(head: string | null, position: string): boolean {
  return head !== null && position.length !== head.length;
}

/**
 * The log of all events: the only source of truth.
 *
 * Every implementation gives these guarantees (one contract suite, `test/contract/event-store`). An append stores all of its events or none, and is
 * durable when it answers. An append is accepted only at the exact expected revision, and is idempotent for the identical batch (same ids, order and
 * size). A batch that repeats only partly is a conflict. A read that starts after an append answered sees it. A read never skips an event: a damaged
 * or missing event is an error, EventLogDamaged where the store can tell. Positions increase strictly and sort as strings, all of one length.
 * Positions have no meaning in another store, whose positions have another length. An append answers within 15 s or throws EventStoreUnavailable. The
 * outcome is then unknown, and the same batch may be sent again. Values that JSON would change, events over 64 kB and appends over 900 kB throw
 * UnstorableEvent beforehand.
 */
export abstract class EventStore {
  abstract append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome>;

  /**
   * Several appends in the given order, each to another stream. Each append is accepted, repeated and refused as by `append`. Some stores make all
   * appends or none. Other stores make the appends one after the other and end at the first conflict or error. A killed process ends them at any
   * point. The state must therefore be valid when only the first appends are stored.
   */
  abstract appendTogether(appends: readonly StreamAppend[]): Promise<TogetherOutcome>;

  /** The stream's events; empty for an unknown stream. */
  abstract readStream(stream: string, options?: StreamReadOptions): Promise<RecordedEvent[]>;

  /** Up to `limit` events of the whole log after a position (exclusive). Null means from the beginning. */
  abstract readAll(after: string | null, limit: number): Promise<RecordedEvent[]>;

  /** The position of the newest event; null if the log is empty. */
  abstract head(): Promise<string | null>;

  /**
   * Every event stored after `after`, then live events, without a gap or a repetition. Memory use is limited even with a slow consumer. Throws when
   * the connection drops. A normal end without an abort also means a dropped connection. The caller resubscribes from its saved position.
   */
  abstract subscribe(options: SubscribeOptions): AsyncIterable<EventBatch>;

  /** Resolves when the store answers, and throws EventStoreUnavailable within 5 s otherwise. */
  abstract ping(): Promise<void>;

  abstract close(): Promise<void>;
}

/** The log as it is stored, below the upcasters: for the audit, and for copies of the log. */
export abstract class StoredLog extends EventStore {}
