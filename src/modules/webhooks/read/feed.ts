import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { EventStore, EventStoreUnavailable } from '../../../ports/event-store.js';
import {
  bodyOf,
  entryOf,
  feed,
  feedStream,
  NO_DIGEST,
  type Envelope,
  type FeedEntry,
  type FeedEvent,
} from '../domain/feed.js';

/** The account and environment whose events a feed has. */
export interface FeedOwner {
  readonly accountId: string;
  readonly environment: Environment;
}

/** The newest entry of a feed. */
export interface FeedHead {
  /** 0 when the feed has no event. */
  readonly sequence: number;
  readonly eventId: string | null;
  readonly digest: string;
}

export interface FeedQuery {
  /** Entries after this sequence are given. */
  readonly after: number;
  readonly limit: number;
  /** Null: all types. */
  readonly types: readonly string[] | null;
}

export interface FeedPage {
  readonly entries: readonly FeedEntry[];
  /** The head at the time of the read. No entry is beyond it. */
  readonly head: FeedHead;
  readonly hasMore: boolean;
  /** The sequence up to which this page has looked. The next page begins after it. */
  readonly through: number;
}

/** The number of events in one read of the stream. */
const STEP = 500;
/** The most events that one page of some types looks at. */
const MOST_LOOKED_AT = 10_000;
/** The number of readers of one account that wait in this process at the same time. */
const MOST_WAITING = 20;

/** Reads feeds from the log. Listings and waits need no read model. */
@Injectable()
export class FeedReader implements OnModuleDestroy {
  private readonly closing = new AbortController();
  private readonly waiting = new Map<string, number>();

  constructor(private readonly store: EventStore) {}

  async head(owner: FeedOwner): Promise<FeedHead> {
    const [newest] = await this.store.readStream(streamOf(owner), { direction: 'backwards', limit: 1 });
    if (newest === undefined) return { sequence: 0, eventId: null, digest: NO_DIGEST };
    const { sequence, digest, event } = entryOf(newest as RecordedEvent<FeedEvent>);
    return { sequence, eventId: event.id, digest };
  }

  async page(owner: FeedOwner, { after, limit, types }: FeedQuery): Promise<FeedPage> {
    const head = await this.head(owner);
    const found: FeedEntry[] = [];
    const last = types === null ? head.sequence : Math.min(head.sequence, after + MOST_LOOKED_AT);
    let place = after;
    while (place < last && found.length <= limit) {
      const read = Math.min(last - place, types === null ? limit + 1 : STEP);
      found.push(...(await this.entries(owner, place, read, types)));
      place += read;
    }
    const entries = found.slice(0, limit);
    const through = found.length > limit ? (entries.at(-1)?.sequence ?? after) : Math.max(after, last);
    return { entries, head, hasMore: through < head.sequence, through };
  }

  /** The next entries after a sequence. The feed must have that many. The keys of events are sorted, as in the body of a delivery. */
  async entries(
    owner: FeedOwner,
    after: number,
    count: number,
    types: readonly string[] | null = null,
  ): Promise<FeedEntry[]> {
    const events = await this.store.readStream(streamOf(owner), { from: after, limit: count });
    if (events.length !== count) throw new EventStoreUnavailable(`${streamOf(owner)} was read without its end`);
    const wanted = events.filter(({ data }) => types === null || types.includes((data as FeedEvent['data']).type));
    return wanted.map((recorded) => {
      const { event, ...place } = entryOf(recorded as RecordedEvent<FeedEvent>);
      return { ...place, event: JSON.parse(bodyOf(event)) as Envelope };
    });
  }

  /** As `page`, but an empty page is given only after `waitMs`, when the caller leaves (`signal`), or when this process ends. */
  async pageWithin(owner: FeedOwner, query: FeedQuery, waitMs: number, signal: AbortSignal): Promise<FeedPage> {
    // Read before the page, so that no event is between the page and the wait.
    const from = await this.store.head();
    let page = await this.page(owner, query);
    const stream = streamOf(owner);
    const waiting = this.waiting.get(stream) ?? 0;
    if (page.entries.length > 0 || page.hasMore || waitMs === 0 || waiting >= MOST_WAITING) return page;
    this.waiting.set(stream, waiting + 1);
    try {
      const over = AbortSignal.any([signal, this.closing.signal, AbortSignal.timeout(waitMs)]);
      for await (const { events } of this.store.subscribe({ after: from, categories: [feed.category], signal: over })) {
        if (!events.some((event) => event.stream === stream)) continue;
        page = await this.page(owner, { ...query, after: Math.max(query.after, page.through) });
        if (page.entries.length > 0) break;
      }
      return page;
    } finally {
      const left = (this.waiting.get(stream) ?? 1) - 1;
      if (left > 0) this.waiting.set(stream, left);
      else this.waiting.delete(stream);
    }
  }

  /** Ends all waits, so that they do not delay the end of the process. */
  onModuleDestroy(): void {
    this.closing.abort();
  }
}

function streamOf({ accountId, environment }: FeedOwner): string {
  return feedStream(accountId, environment);
}
