import { DELIVERED_TYPES } from '../../../published/events.js';
import type { EndpointView } from './endpoints.js';
import type { FeedEntry } from '../domain/feed.js';
import type { DeliveryReader } from './deliveries.js';
import type { FeedOwner, FeedReader } from './feed.js';

/** The events of a feed after the newest one that the receiver has taken. Events that the endpoint does not get are not counted. */
export interface MissedEvents {
  readonly events: number;
  /** The sequence of the first of them, or of the first event that was not looked at; null: none is missed. */
  readonly from: number | null;
  /** Whether there may be more, because not all events were looked at. */
  readonly more: boolean;
}

/** Each event is looked at, up to this number. */
const MOST_LOOKED_AT = 10_000;
const PAGE = 1_000;

/** Tells the owner of an endpoint what a resume would deliver. */
export class MissedEventsReader {
  constructor(
    private readonly feeds: FeedReader,
    private readonly deliveries: DeliveryReader,
  ) {}

  async of({ endpointId, enabledEvents, createdAt }: EndpointView, owner: FeedOwner): Promise<MissedEvents> {
    const taken = await this.deliveries.newestTaken(endpointId, owner.environment);
    const head = (await this.feeds.head(owner)).sequence;
    const had = taken?.place?.sequence ?? (await this.publishedUntil(owner, taken?.occurredAt ?? createdAt, head));
    const end = Math.min(head, had + MOST_LOOKED_AT);
    const found: FeedEntry[] = [];
    for (let place = had; place < end; place += PAGE)
      found.push(
        ...(await this.feeds.entries(owner, place, Math.min(PAGE, end - place), enabledEvents ?? DELIVERED_TYPES)),
      );
    const rest = Math.max(0, head - end);
    const from = found[0]?.sequence ?? (rest > 0 ? end + 1 : null);
    // All events beyond are counted for an endpoint with all types, because the few in the feed only hardly change the number.
    if (enabledEvents === null) return { events: found.length + rest, from, more: false };
    return { events: found.length, from, more: rest > 0 };
  }

  /** How many events the feed had at that time (ISO 8601 UTC). Deliveries of earlier releases do not name their sequence. */
  private async publishedUntil(owner: FeedOwner, time: string, head: number): Promise<number> {
    let [least, most] = [0, head];
    while (least < most) {
      const middle = Math.floor((least + most) / 2);
      const [entry] = await this.feeds.entries(owner, middle, 1);
      if (entry !== undefined && entry.event.occurred_at <= time) least = middle + 1;
      else most = middle;
    }
    return least;
  }
}
