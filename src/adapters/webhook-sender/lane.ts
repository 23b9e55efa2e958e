// The connections to one address of one origin: kept alive, bounded, each with one request at a time.
import type { Client } from 'undici';
import type { Attempt } from './attempt.js';
import type { WebhookRequest } from '../../ports/webhook-sender.js';

type Post = readonly [path: string, request: WebhookRequest, attempt: Attempt];

/**
 * Takes the connection used last, so that the others can grow old and close. It is undici's pool without its habit of opening
 * another connection because the one that has just answered needs a turn of the event loop to be free.
 */
export class Lane {
  private readonly clients: Client[] = [];
  private readonly idle: Client[] = [];
  private readonly waiting: Post[] = [];

  /** `open` makes a client, which connects when it has something to send, and again after its connection has gone. */
  constructor(
    private readonly most: number,
    private readonly open: () => Client,
  ) {}

  get atRest(): boolean {
    return this.idle.length === this.clients.length;
  }

  /** The attempt gets what comes of it; until a connection is free, it waits. */
  post(path: string, request: WebhookRequest, attempt: Attempt): void {
    const client = this.idle.pop() ?? this.another();
    if (client === null) this.waiting.push([path, request, attempt]);
    else this.give(client, path, request, attempt);
  }

  /** Cuts off whatever is under way. */
  async destroy(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.destroy()));
  }

  private another(): Client | null {
    if (this.clients.length >= this.most) return null;
    const client = this.open();
    this.clients.push(client);
    return client;
  }

  private give(client: Client, path: string, request: WebhookRequest, attempt: Attempt): void {
    attempt.onFree = () => {
      this.idle.push(client);
      // Not at once: the client is in the middle of telling that it has done with this request.
      if (this.waiting.length > 0) queueMicrotask(() => this.next());
    };
    client.dispatch({ method: 'POST', path, headers: request.headers, body: request.body }, attempt);
  }

  private next(): void {
    while (this.idle.length > 0) {
      const post = this.waiting.shift();
      if (post === undefined) return;
      // An attempt that waited too long is not sent any more.
      if (!post[2].over) this.post(...post);
    }
  }
}
