import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { categoryOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { ENVIRONMENTS } from '../../../kernel/environment.js';
import { newId } from '../../../kernel/ids.js';
import { together } from '../../../kernel/together.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { EventStore, isPositionUpTo } from '../../../ports/event-store.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { HandlerCheckpoints } from '../../../ports/handler-checkpoints.js';
import { PublishedEvents, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { feed, feedIdOf } from '../domain/feed.js';
import { positionOfSource } from './position-of-source.js';
import { DELIVERIES } from './when-event-published.js';

const FEEDS_TOGETHER = 16;
/** Under this name the first start of this release keeps the place up to which earlier releases have made deliveries. */
const HANDLED_BEFORE = 'webhook_deliveries_before_feeds';
/** Kept instead of a place in an installation that had the feeds from its beginning. */
const NOTHING = 'nothing';
const LEASE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/**
 * Appends the events that modules publish to the feeds of their accounts, in the order of the log. The newest event of a feed says how far the feed is.
 * So an event that is handled again, or by two processes, is appended once. Without a checkpoint the handler begins at the beginning of the log. In this
 * way an installation that is older than the feeds gets them too.
 */
@Injectable()
export class WhenEventStored implements EventHandler {
  readonly name = 'event_feed';
  readonly categories: readonly string[];
  readonly types: ReadonlySet<string>;
  readonly together = true;
  private readonly publishers: ReadonlyMap<string, Publisher>;
  private handledBefore: string | null = null;

  constructor(
    private readonly published: PublishedEvents,
    private readonly store: EventStore,
    private readonly streams: GroupedStream,
    private readonly checkpoints: HandlerCheckpoints,
  ) {
    this.publishers = new Map(published.publishers.map((publisher) => [publisher.category, publisher]));
    this.categories = [...this.publishers.keys()];
    this.types = new Set(published.publishers.flatMap(({ types }) => [...types]));
  }

  /**
   * Must run before the handlers begin. The feeds of an older installation then begin with its earlier events, and none is delivered again. The first
   * process decides for all, because the handlers of that process move the places that the decision depends on.
   */
  async prepare(): Promise<void> {
    const head = await this.store.head();
    const placeIn = async (name: string): Promise<string | null> => {
      const place = await this.checkpoints.passed(name);
      return place !== null && isPositionUpTo(head, place) ? place : null;
    };
    const holder = newId();
    while (!(await this.checkpoints.take(HANDLED_BEFORE, holder, LEASE_MS))) await pause(LOOK_AGAIN_MS);
    this.handledBefore = await placeIn(HANDLED_BEFORE);
    if (this.handledBefore === null && (await this.checkpoints.passed(HANDLED_BEFORE)) !== NOTHING) {
      this.handledBefore = (await placeIn(this.name)) === null ? await placeIn(DELIVERIES) : null;
      await this.checkpoints.save(HANDLED_BEFORE, holder, this.handledBefore ?? NOTHING, LEASE_MS);
    }
    await this.checkpoints.release(HANDLED_BEFORE, holder);
  }

  /** Each event follows the one before it. When one cannot be stored, its feed gets none of the later ones. */
  async handle(...events: readonly RecordedEvent[]): Promise<void> {
    const feeds = new Map<string, RecordedEvent[]>();
    for (const event of events) {
      const { accountId, environment: own } = event.metadata;
      const environments = this.publishers.get(categoryOf(event.stream))?.everyEnvironment ? ENVIRONMENTS : [own];
      for (const environment of environments) {
        if (accountId === null || environment === null) continue;
        const id = feedIdOf(accountId, environment);
        feeds.set(id, [...(feeds.get(id) ?? []), { ...event, metadata: { ...event.metadata, environment } }]);
      }
    }
    await together([...feeds], FEEDS_TOGETHER, ([id, ofFeed]) => this.append(id, ofFeed));
  }

  private async append(feedId: string, events: readonly RecordedEvent[]): Promise<void> {
    const { state: head } = await this.streams.load(feed, feedId);
    const passed = head === null ? '' : await positionOfSource(head, events[0]?.position ?? '', this.store);
    const translated = await Promise.all(
      events
        .filter(({ position }) => position > passed)
        .map(async (event) => ({ event, published: await this.translate(event) })),
    );
    let after: string | null = null;
    const publications: Promise<unknown>[] = [];
    // The commands begin in one turn, so the stream takes them as one group.
    for (const { event, published } of translated) {
      if (published === null) continue;
      publications.push(this.publish(feedId, event, published, after));
      after = event.position;
    }
    await Promise.all(publications);
  }

  private publish(
    feedId: string,
    event: RecordedEvent,
    published: PublishedEvent,
    after: string | null,
  ): Promise<unknown> {
    const { position: sourcePosition, stream: sourceStream, revision: sourceRevision } = event;
    const { accountId, environment, $correlationId: correlationId } = event.metadata;
    const actor = { kind: 'system', id: 'webhooks' } as const;
    return this.streams.execute(
      feed,
      feedId,
      {
        event: published,
        source: { sourcePosition, sourceStream, sourceRevision },
        handledBefore: this.handledBefore,
        after,
      },
      { accountId, environment, actor, correlationId, causationId: event.id },
    );
  }

  private async translate(event: RecordedEvent): Promise<PublishedEvent | null> {
    const publisher = this.publishers.get(categoryOf(event.stream));
    if (!publisher?.types.has(event.type)) return null;
    const history = publisher.alone
      ? []
      : (await this.store.readStream(event.stream, { limit: event.revision + 1 })).slice(0, -1);
    return publisher.publish([...history, event], this.published.links);
  }
}
