// The clients of EventStoreDB, one per role, without the habits of version 6.2.1 that lose answers or end the process.
import { type Channel, connectivityState } from '@grpc/grpc-js';
import { EventStoreDBClient } from '@eventstore/db-client';

export interface GuardedClient {
  readonly client: EventStoreDBClient;
  /** Lets the calls under way finish and opens no other; disposing instead would end reads in the middle as if they were complete. */
  close(): void;
}

/**
 * Three of the client's protected members are replaced, which is why the dependency is pinned to one exact version:
 *
 * - `supports` decides on the batch-append call. That call keeps the answers it waits for in one table for the whole
 *   process: an error on any client rejects the appends of all, and the answer that then comes too late is thrown as an
 *   uncaught exception. Without it every append is a call of its own. It also spares the question for the server's
 *   features, which has no time limit and whose failure would be remembered for ever.
 * - `handleError` is called without anybody awaiting it and rejects when the discovery of the next node fails.
 * - `getChannel` is watched, because disposing of the client leaves its channel open, and its channels close a turn late:
 *   a call that waited for the channel begins within the same turn, and is answered. What a channel already closed throws
 *   at an append, the client would make a rejection that nobody awaits, and leave the append without an answer.
 */
export function buildClient(connectionString: string): GuardedClient {
  const client = construct(connectionString);
  client['supports'] = () => Promise.resolve(false);
  const handleError = client['handleError'];
  client['handleError'] = (failed, error) => handleError(failed, error).catch(() => undefined);
  const getChannel = client['getChannel'];
  let channel: ReturnType<typeof getChannel> | undefined;
  client['getChannel'] = () => {
    channel = getChannel().then(closedLate);
    return channel;
  };
  return {
    client,
    // A call that has just begun asks for its channel within this turn.
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
  try {
    return EventStoreDBClient.connectionString(connectionString);
  } catch (error) {
    // The client's parse error carries the whole text, password included, in a property and parts of it in its message.
    const told = error instanceof Error && !('connectionString' in error) ? error.message : 'it cannot be parsed';
    throw new Error(`The connection string of the event store is refused: ${told}`);
  }
}

/** After so many failures in a row a client is given up: "not ready" and "too busy" do not make it look for another node. */
const FAILURES_BEFORE_REBUILD = 3;

/** The client of one role (appends and reads, or subscriptions), built anew when it keeps failing. */
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

  /** `client` is the one that was used: late failures of a client that was given up are not counted. */
  failed(client: EventStoreDBClient): void {
    if (client !== this.#guarded.client || ++this.#failures < FAILURES_BEFORE_REBUILD) return;
    this.#failures = 0;
    const old = this.#guarded;
    try {
      this.#guarded = this.#build();
    } catch {
      // A certificate file that is just being replaced, for instance: the old client goes on trying.
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
