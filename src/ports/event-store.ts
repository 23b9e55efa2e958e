import type { RecordedEvent } from '../kernel/domain-event.js';
import type { JsonObject } from '../kernel/json.js';
import { Unavailable } from '../kernel/unavailable.js';

/** An event on its way into the log. `id` is a UUID; the same id in the same stream is the same event. */
export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** Exact revision of the stream's last event, or that the stream must not exist. Nothing looser is offered: only these make retries exact. */
export type ExpectedRevision = number | 'no-stream';

export type AppendOutcome =
  /** Durable. `revision` is that of the batch's last event. A repeated identical batch answers like the first time. */
  | { readonly outcome: 'appended'; readonly revision: number }
  /** The stream is not at the expected revision; nothing was stored. */
  | { readonly outcome: 'conflict'; readonly current: ExpectedRevision };

/** One of several appends that are made together. */
export interface StreamAppend {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
}

export type TogetherOutcome =
  /** Durable. The revision of each append's last event, in their order. */
  | { readonly outcome: 'appended'; readonly revisions: readonly number[] }
  /** The stream of the append at this index, the first such, is not at the expected revision. So many of those before it are stored: all or none. */
  | {
      readonly outcome: 'conflict';
      readonly index: number;
      readonly current: ExpectedRevision;
      readonly stored: number;
    };

/**
 * Part of the log, in order. `through` is the position up to which every matching event has been delivered (this batch
 * included), so saving it together with the batch's effect can neither lose nor repeat an event; null only while
 * nothing has been passed yet. `caughtUp` is true when, at the time of reading, nothing further was stored.
 */
export interface EventBatch {
  readonly events: readonly RecordedEvent[];
  readonly through: string | null;
  readonly caughtUp: boolean;
}

export interface StreamReadOptions {
  /** First revision to read; default the stream's beginning (forwards) or end (backwards). */
  readonly from?: number;
  readonly limit?: number;
  readonly direction?: 'forwards' | 'backwards';
}

export interface SubscribeOptions {
  /** Exclusive; null starts at the beginning of the log. */
  readonly after: string | null;
  /** Only streams of these categories; default all. Streams whose name begins with `$` are never delivered. */
  readonly categories?: readonly string[];
  /** At most this many events a batch; default 500. */
  readonly batchSize?: number;
  /** Ends the iteration without an error. */
  readonly signal: AbortSignal;
}

/** The store cannot be reached, did not answer in time, or its answer leaves the outcome unknown after all retries. */
export class EventStoreUnavailable extends Unavailable {
  override readonly name: string = 'EventStoreUnavailable';
}

/** The log itself is damaged: what should be in it is not there, or is not what was stored. The message names the place and nothing of the content. */
export class EventLogDamaged extends EventStoreUnavailable {
  override readonly name = 'EventLogDamaged';
}

/** The log knows of these events and cannot give them back; a walk tells that where it passes them. */
export class EventsUnreadable extends EventLogDamaged {}

/** The log is known to have lost events, or to be another one: what it took now would be lost with it. The message is for an operator. */
export class LogRefused extends EventStoreUnavailable {
  override readonly name = 'LogRefused';

  constructor(complaint: string) {
    super(`${complaint} The log takes no changes until \`ops audit accept\` says that it is the right one.`);
  }
}

/** The caller handed over something that cannot be stored: a bug of the caller, found before the store was asked. */
export class UnstorableEvent extends Error {
  override readonly name = 'UnstorableEvent';
}

/** Largest encoded event (data and metadata together), and largest append, in bytes. */
export const MAX_EVENT_BYTES = 64_000;
export const MAX_APPEND_BYTES = 900_000;

/** Whether a log that ends at `head` may have given this position; false for one of another store, and for one beyond the end. */
export function isPositionUpTo(head: string | null, position: string): boolean {
  return head !== null && position.length === head.length && position <= head;
}

/** Whether the position is one of another kind of store, from which the log was copied. */
export function isOfOtherStore(head: string | null, position: string): boolean {
  return head !== null && position.length !== head.length;
}

/**
 * The log of all events: the only source of truth.
 *
 * Guarantees of every implementation (one contract suite, `test/contract/event-store`): an append is all or nothing,
 * durable when it answers, accepted for the exact expected revision only, and idempotent for the identical batch (same
 * ids, order and size; a batch that repeats only partly is a conflict). A read that starts after an append answered
 * sees it. A read never skips an event: what is damaged or gone is an error, EventLogDamaged where the store can tell. Positions
 * grow strictly and sort as strings, all of one length; they mean nothing in another store, whose positions have another
 * length. An append never hangs: it
 * answers within 15 s or throws EventStoreUnavailable, and then the outcome is unknown and the same batch may be sent
 * again. Values that JSON would change, events over 64 kB and appends over 900 kB throw UnstorableEvent beforehand.
 */
export abstract class EventStore {
  abstract append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome>;

  /**
   * Several appends, each to another stream, in the order given. One is accepted, repeated and refused as by `append`. A store that
   * can makes all of them or none. Another one makes them one after the other and ends at the first conflict or error, and a killed process
   * ends them anywhere: so a caller must be right with the first of them stored and the rest not.
   */
  abstract appendTogether(appends: readonly StreamAppend[]): Promise<TogetherOutcome>;

  /** The stream's events; empty when there is no such stream. */
  abstract readStream(stream: string, options?: StreamReadOptions): Promise<RecordedEvent[]>;

  /** Up to `limit` events of the whole log after a position (exclusive; null: from the beginning). */
  abstract readAll(after: string | null, limit: number): Promise<RecordedEvent[]>;

  /** Position of the newest event, null when the log is empty. */
  abstract head(): Promise<string | null>;

  /**
   * From `after` through everything stored, then live, without gap or repetition and with bounded memory however slow
   * the consumer. Throws when the connection drops; a normal end without an abort also means dropped. The caller
   * resubscribes from what it saved.
   */
  abstract subscribe(options: SubscribeOptions): AsyncIterable<EventBatch>;

  /** Resolves when the store answers; throws EventStoreUnavailable within 5 s otherwise. */
  abstract ping(): Promise<void>;

  abstract close(): Promise<void>;
}

/** The log as it is stored, beneath the upcasters: for audit, and for copies of it. */
export abstract class StoredLog extends EventStore {}
