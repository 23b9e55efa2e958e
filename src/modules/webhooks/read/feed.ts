import { setMaxListeners } from 'node:events';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Environment } from '../../../kernel/environment.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { limited } from '../../../kernel/with-timeout.js';
import { EventStore, EventStoreUnavailable } from '../../../ports/event-store.js';
import {
  bodyOf,
  entryOf,
  feedStream,
  NO_DIGEST,
  type Envelope,
  type FeedEntry,
  type FeedEvent,
} from '../domain/feed.js';
import { FeedWaits } from './feed-waits.js';

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
/** The reader, and the time that it waits for an event. */
export interface Patience {
  readonly readerId: string;
  readonly waitMs: number;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** Reads feeds from the log. Listings and waits need no read model. */
@Injectable()
export class FeedReader implements OnModuleDestroy {
  private readonly closing = new AbortController();
  private readonly waits: FeedWaits;

  constructor(private readonly store: EventStore) {
    this.waits = new FeedWaits(store);
    // Each wait listens for the end of the process.
    setMaxListeners(0, this.closing.signal);
  }

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

  /** As `page`, but an empty page is given only after the time of the wait, when the caller leaves, or when this process ends. */
  async pageWithin(owner: FeedOwner, query: FeedQuery, { readerId, waitMs, signal }: Patience): Promise<FeedPage> {
    let page = await this.page(owner, query);
    const isWaiting = (): boolean => page.entries.length === 0 && !page.hasMore;
    if (waitMs === 0 || !isWaiting()) return page;
    await limited(waitMs, [signal, this.closing.signal], (over) =>
      this.waits.during(readerId, streamOf(owner), async (wait) => {
        // Read again, because events may have come before the wait began.
        do {
          page = await this.page(owner, { ...query, after: Math.max(query.after, page.through) });
          if (isWaiting()) await wait.next(over);
        } while (isWaiting() && !over.aborted);
      }),
    );
    return page;
  }

  /** Ends all waits, so that they do not delay the end of the process. */
  onModuleDestroy(): void {
    this.closing.abort();
  }
}

function streamOf({ accountId, environment }: FeedOwner): string {
  return feedStream(accountId, environment);
}
