import type { EndpointView } from './endpoints.js';
import type { DeliveryReader } from './deliveries.js';
import type { FeedOwner, FeedReader } from './feed.js';

/** The events of a feed after the newest one that the receiver has taken. Events that the endpoint does not get are not counted. */
export interface MissedEvents {
  readonly events: number;
  /** The sequence of the first of them; null: none. */
  readonly from: number | null;
}

/** With a choice of event types each event is looked at, up to this number. */
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
    if (enabledEvents === null) return { events: Math.max(0, head - had), from: had < head ? had + 1 : null };
    let [events, from]: [number, number | null] = [0, null];
    const end = Math.min(head, had + MOST_LOOKED_AT);
    for (let place = had; place < end; place += PAGE) {
      for (const { sequence, event } of await this.feeds.entries(owner, place, Math.min(PAGE, end - place))) {
        if (!enabledEvents.includes(event.type)) continue;
        events += 1;
        from ??= sequence;
      }
    }
    return { events, from };
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
