// The clients of EventStoreDB, one for each role. These clients avoid faults of version 6.2.1 that lose answers or end the process.
import { type Channel, type Client, connectivityState } from '@grpc/grpc-js';
import { DeadlineExceededError, EventStoreDBClient, NotLeaderError, UnavailableError } from '@eventstore/db-client';
import { withLimits } from './connection-string.js';

/** When a node stays silent for this many milliseconds after the first call, the client leaves the node. */
const CONNECTED_WITHIN_MS = 1_500;

export interface GuardedClient {
  readonly client: EventStoreDBClient;
  /** Lets running calls finish and opens no new calls. Immediate disposal would end reads in the middle as if they were complete. */
  close(): void;
}

/**
 * Three of the client's protected members are replaced, so the dependency is pinned to one exact version:
 *
 * - `supports` decides on the batch-append call. The batch-append call keeps its open answers in one table for the whole process. An error on any
 *   client rejects the appends of all, and a late answer is thrown as an uncaught exception. Without the batch-append call, every append is a call of
 *   its own. The client then also sends no query for the server's features. This query has no time limit, and its failure would be remembered for
 *   ever.
 * - `handleError` is called without an await and rejects when the discovery of the next node fails. `handleError` also leaves a node that does not
 *   answer an append in time.
 * - `getChannel` is watched. A node that hangs accepts connections, and the library waits for its first word without a limit. Disposing of the client
 *   leaves its channel open, so the channel is closed here. The channel closes a turn late, so that a waiting call begins and is answered. On an
 *   append, an error of a closed channel would become an unhandled rejection and leave the append without an answer.
 */
export function buildClient(connectionString: string): GuardedClient {
  const client = construct(withLimits(connectionString));
  client['supports'] = () => Promise.resolve(false);
  const handleError = client['handleError'];
  client['handleError'] = (failed, error) =>
    handleError(failed, error instanceof DeadlineExceededError ? new UnavailableError() : error).catch(() => undefined);
  const leaveSilent = (open: Channel): void => {
    if (open.getConnectivityState(false) === connectivityState.CONNECTING)
      void client['handleError']({ getChannel: () => open } as unknown as Client, new UnavailableError());
  };
  const getChannel = client['getChannel'];
  let channel: ReturnType<typeof getChannel> | undefined;
  client['getChannel'] = () => {
    channel = getChannel().then(closedLate);
    channel.then(
      (open) => void setTimeout(leaveSilent, CONNECTED_WITHIN_MS, open).unref(),
      () => undefined,
    );
    return channel;
  };
  return {
    client,
    // A call that has just begun requests its channel within this turn.
    close: () =>
      void setImmediate(() => {
        channel?.then(
          (open) => open.close(),
          () => undefined,
        );
      }),
  };
}

function closedLate(channel: Channel): Channel {
  const close = channel.close.bind(channel);
  channel.close = () =>
    void setImmediate(() => {
      if (channel.getConnectivityState(false) !== connectivityState.SHUTDOWN) close();
    });
  return channel;
}

function construct(connectionString: string): EventStoreDBClient {
  const { warn } = console;
  // eslint-disable-next-line no-console -- the client warns there of every keepalive shorter than ten seconds
  console.warn = () => undefined;
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch (error) {
    // The client's parse error has the whole text with the password in a property, and parts of the text in its message.
    const told = error instanceof Error && !('connectionString' in error) ? error.message : 'it cannot be parsed';
    throw new Error(`The connection string of the event store is refused: ${told}`);
  } finally {
    // eslint-disable-next-line no-console -- see above
    console.warn = warn;
  }
}

/** Failures after which a client looks for another node by itself. */
const LOOKS_ELSEWHERE = [UnavailableError, DeadlineExceededError, NotLeaderError];
/** The number of other failures in a row after which the client is replaced. */
const FAILURES_BEFORE_REBUILD = 3;

/** The client of one role (appends and reads, or subscriptions). A client that keeps failing is replaced. */
export class RoleClient {
  readonly #build: () => GuardedClient;
  #guarded: GuardedClient;
  #failures = 0;

  constructor(build: () => GuardedClient) {
    this.#build = build;
    this.#guarded = build();
  }

  get client(): EventStoreDBClient {
    return this.#guarded.client;
  }

  /** Counts a failure of `client`, except a late failure of a replaced client and a failure after which the client finds another node itself. */
  failed(client: EventStoreDBClient, failure: unknown): void {
    if (LOOKS_ELSEWHERE.some((kind) => failure instanceof kind)) return;
    if (client !== this.#guarded.client || ++this.#failures < FAILURES_BEFORE_REBUILD) return;
    this.#failures = 0;
    const old = this.#guarded;
    try {
      this.#guarded = this.#build();
    } catch {
      // A certificate file may be in the middle of its replacement. The old client continues to try.
      return;
    }
    old.close();
  }

  succeeded(client: EventStoreDBClient): void {
    if (client === this.#guarded.client) this.#failures = 0;
  }

  close(): void {
    this.#guarded.close();
  }
}
