// The log in an EventStoreDB (or KurrentDB) cluster. event-store.module.ts opens it when EVENT_STORE=eventstoredb.
import { setMaxListeners } from 'node:events';
import {
  type AllStreamResolvedEvent,
  BACKWARDS,
  END,
  FORWARDS,
  jsonEvent,
  NO_STREAM,
  type ReadAllOptions,
  type ReadRevision,
  type ResolvedEvent,
  START,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { RecordedEvent } from '../../kernel/domain-event.js';
import type { JsonObject } from '../../kernel/json.js';
import {
  type AppendOutcome,
  type EventBatch,
  EventStore,
  type ExpectedRevision,
  type NewEvent,
  type StreamAppend,
  type StreamReadOptions,
  type SubscribeOptions,
  type TogetherOutcome,
} from '../../ports/event-store.js';
import { attempt, type Limits, within } from './eventstoredb/attempts.js';
import { checkConnectionString } from './eventstoredb/connection-string.js';
import { buildClient, RoleClient } from './eventstoredb/guarded-client.js';
import { appendInOrder, requestOf } from './eventstoredb/ordered-appends.js';
import { positionOf } from './eventstoredb/positions.js';
import { collect } from './eventstoredb/reads.js';
import { isSystemStream, positionIn, recordedOf } from './eventstoredb/recorded.js';
import { subscription } from './eventstoredb/subscription.js';
import { checkTogether, encodeStorable } from './storable.js';

export interface EventStoreDbOptions {
  /** `esdb://user:password@a:2113,b:2113,c:2113?tlsCAFile=...`. A string that the client would misread is refused (docs/operations/install.md). */
  readonly connectionString: string;
  /** The time for one attempt of an append before its outcome counts as unknown. The default is 3 s. */
  readonly appendDeadlineMs?: number;
  /** The time for which a read may stay silent, or a subscription unconfirmed. The default is 5 s. */
  readonly readDeadlineMs?: number;
  /** The silence of a subscription after which the log is checked for missed events. The default is 10 s. */
  readonly silenceMs?: number;
  /** The pause before the first retry. Later pauses are longer. The default is 100 ms. */
  readonly retryPauseMs?: number;
}

/** The port promises an answer within 15 s. The remaining time is for the work before and after the attempts. */
const APPEND_TOTAL_MS = 14_500;
/** The client's own limit ends first, and then the client looks for another node. */
const GRACE_MS = 100;
const READ_TOTAL_MS = 10_000;
const PING_TOTAL_MS = 4_500;
/** The number of events in a page of the whole log. */
const PAGE = 1_000;

export class EventStoreDbEventStore extends EventStore {
  readonly #operations: RoleClient;
  readonly #subscriptions: RoleClient;
  readonly #closing = new AbortController();
  readonly #appendLimits: Limits;
  readonly #readLimits: Limits;
  readonly #silenceMs: number;

  private constructor(options: EventStoreDbOptions) {
    super();
    // Every running call listens to this signal.
    setMaxListeners(0, this.#closing.signal);
    const build = (): ReturnType<typeof buildClient> => buildClient(options.connectionString);
    this.#operations = new RoleClient(build);
    this.#subscriptions = new RoleClient(build);
    const pauseMs = options.retryPauseMs ?? 100;
    this.#appendLimits = {
      totalMs: APPEND_TOTAL_MS,
      attemptMs: options.appendDeadlineMs ?? 3_000,
      retries: 5,
      pauseMs,
    };
    this.#readLimits = { totalMs: READ_TOTAL_MS, attemptMs: options.readDeadlineMs ?? 5_000, retries: 4, pauseMs };
    this.#silenceMs = options.silenceMs ?? 10_000;
  }

  /** Returns a store that has opened no connection yet. Throws for a connection string that the client would misread. */
  static connect(options: EventStoreDbOptions): EventStoreDbEventStore {
    checkConnectionString(options.connectionString);
    return new EventStoreDbEventStore(options);
  }

  override async append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<AppendOutcome> {
    const { events: storable } = encodeStorable(stream, expected, events);
    const prepared = storable.map(({ id, type, data, metadata }) =>
      jsonEvent({ id, type, data: JSON.parse(data) as JsonObject, metadata: JSON.parse(metadata) as JsonObject }),
    );
    const expectedRevision = expected === 'no-stream' ? NO_STREAM : BigInt(expected);
    return attempt(
      this.#operations,
      this.#appendLimits,
      this.#closing.signal,
      async (client, deadline): Promise<AppendOutcome> => {
        const call = client.appendToStream(stream, prepared, { expectedRevision, requiresLeader: true, deadline });
        try {
          // An identical batch is answered with its first revision, sometimes without a position.
          const { nextExpectedRevision } = await within(deadline + GRACE_MS, this.#closing.signal, call);
          return { outcome: 'appended', revision: numberOf(nextExpectedRevision) };
        } catch (error) {
          if (!(error instanceof WrongExpectedVersionError)) throw error;
          const current = error.actualVersion;
          return { outcome: 'conflict', current: typeof current === 'bigint' ? numberOf(current) : 'no-stream' };
        }
      },
    );
  }

  /** The appends run one after the other, because the server has no append to several streams. */
  override async appendTogether(appends: readonly StreamAppend[]): Promise<TogetherOutcome> {
    checkTogether(appends);
    const revisions: number[] = [];
    for (const { stream, expected, events } of appends) {
      const outcome = await this.append(stream, expected, events);
      const stored = revisions.length;
      if (outcome.outcome === 'conflict') return { ...outcome, index: stored, stored };
      revisions.push(outcome.revision);
    }
    return { outcome: 'appended', revisions };
  }

  /** Appends in exactly this order, without waiting for each answer. A stream may occur more than once. Ends at the first conflict. */
  async appendInOrder(appends: readonly StreamAppend[]): Promise<void> {
    const requests = appends.map(requestOf);
    await attempt(this.#operations, this.#appendLimits, this.#closing.signal, (client, silenceMs) =>
      appendInOrder(client, requests, silenceMs, this.#closing.signal),
    );
  }

  override async readStream(stream: string, options: StreamReadOptions = {}): Promise<RecordedEvent[]> {
    const { from, limit, direction = FORWARDS } = options;
    if (limit === 0) return [];
    const fromRevision: ReadRevision = from === undefined ? (direction === FORWARDS ? START : END) : BigInt(from);
    const read = { direction, fromRevision, requiresLeader: true, ...(limit === undefined ? {} : { maxCount: limit }) };
    const found = await attempt(this.#operations, this.#readLimits, this.#closing.signal, async (client, silenceMs) => {
      try {
        return await collect<ResolvedEvent>(client.readStream(stream, read), silenceMs, this.#closing.signal);
      } catch (error) {
        if (error instanceof StreamNotFoundError) return [];
        throw error;
      }
    });
    return found.map(recordedOf);
  }

  override async readAll(after: string | null, limit: number): Promise<RecordedEvent[]> {
    const found: RecordedEvent[] = [];
    let [from, least] = [after, 0];
    while (found.length < limit) {
      // One more event than needed, because a read begins with the event at the position itself.
      const count = Math.min(Math.max(limit - found.length + 1, least), PAGE);
      const before = found.length;
      const page = await this.#read({ fromPosition: from === null ? START : positionOf(from), maxCount: count });
      for (const resolved of page) {
        const position = positionIn(resolved.event?.position);
        if (position === from || found.length === limit) continue;
        from = position;
        if (!isSystemStream(resolved.event?.streamId ?? '')) found.push(recordedOf(resolved));
      }
      if (page.length < count) break;
      // The page had only events of the server, which may have written thousands.
      if (found.length === before) least = count * 4;
    }
    return found;
  }

  /** Counts the events of the server's own streams too. The head is never before a position that a reader has got. */
  override async head(): Promise<string | null> {
    return this.#readHead(this.#readLimits);
  }

  override subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    return subscription(options, {
      role: this.#subscriptions,
      closed: this.#closing.signal,
      silenceMs: this.#silenceMs,
      confirmMs: this.#readLimits.attemptMs,
      readAll: (after, limit) => this.readAll(after, limit),
      head: () => this.head(),
    });
  }

  override async ping(): Promise<void> {
    await this.#readHead({ ...this.#readLimits, totalMs: PING_TOTAL_MS });
  }

  override close(): Promise<void> {
    this.#closing.abort();
    this.#operations.close();
    this.#subscriptions.close();
    return Promise.resolve();
  }

  #read(read: ReadAllOptions, limits = this.#readLimits): Promise<AllStreamResolvedEvent[]> {
    return attempt(this.#operations, limits, this.#closing.signal, (client, silenceMs) =>
      collect(client.readAll({ ...read, requiresLeader: true }), silenceMs, this.#closing.signal),
    );
  }

  async #readHead(limits: Limits): Promise<string | null> {
    const [last] = await this.#read({ fromPosition: END, direction: BACKWARDS, maxCount: 1 }, limits);
    return last === undefined ? null : positionIn(last.event?.position);
  }
}

function numberOf(revision: bigint): number {
  const number = Number(revision);
  if (!Number.isSafeInteger(number)) throw new RangeError('The event store answered with a revision out of range.');
  return number;
}
