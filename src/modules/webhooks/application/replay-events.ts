import { Command, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { ActionContext } from '../../../kernel/context.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { AggregateStore } from '../../../platform/aggregates/aggregate-store.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { DeliveryQueue } from '../../../ports/delivery-queue.js';
import { EventStore } from '../../../ports/event-store.js';
import { delivery } from '../domain/delivery.js';
import type { FeedEvent } from '../domain/feed.js';
import { turnOf } from './turns.js';
import { WhenEventPublished } from './when-event-published.js';

export interface Replay {
  /** The published events of the period. */
  readonly events: number;
  /** Deliveries that are sent once more, under the same event ids. */
  readonly sentAgain: number;
  /** Deliveries that were missing, and are made now. */
  readonly made: number;
}

/**
 * Sends the published events of a period once more, for an integrator that lost them. The events have the same ids and go to the same
 * endpoint. A deleted or disabled endpoint gets nothing.
 */
@UseCase()
export class ReplayEvents extends Command<Replay> {
  constructor(
    readonly request: {
      /** Inclusive. */
      readonly from: Date;
      /** Exclusive. */
      readonly to: Date;
      /** Null means all accounts. */
      readonly accountId: string | null;
    },
    readonly context: ActionContext,
  ) {
    super();
  }
}

const PAGE = 1_000;

@Handles(ReplayEvents)
export class ReplayEventsHandler implements ICommandHandler<ReplayEvents> {
  constructor(
    private readonly store: EventStore,
    private readonly published: WhenEventPublished,
    private readonly aggregates: AggregateStore,
    private readonly queue: DeliveryQueue,
    private readonly clock: Clock,
  ) {}

  async execute({ request: { from, to, accountId }, context }: ReplayEvents): Promise<Replay> {
    const replay = { events: 0, sentAgain: 0, made: 0 };
    for (
      let page = await this.store.readAll(null, PAGE);
      page.length > 0;
      page = await this.store.readAll(page.at(-1)?.position ?? null, PAGE)
    ) {
      for (const event of page) {
        if (!this.published.types.has(event.type)) continue;
        const at = new Date((event as RecordedEvent<FeedEvent>).data.occurredAt);
        if (at < from || at >= to || (accountId !== null && event.metadata.accountId !== accountId)) continue;
        await this.replay(event, context, replay);
      }
    }
    return replay;
  }

  private async replay(
    event: RecordedEvent,
    context: ActionContext,
    counts: { events: number; sentAgain: number; made: number },
  ): Promise<void> {
    const scheduled = await this.published.schedule(event, 'asked');
    if (scheduled === null) return;
    counts.events += 1;
    if (scheduled.made) {
      counts.made += 1;
      return;
    }
    const { accountId, environment } = event.metadata;
    const now = await this.clock.of({ accountId, environment });
    const { state } = await this.aggregates.execute(
      delivery,
      scheduled.deliveryId,
      { kind: 'redeliver', now, intervalSeconds: 0 },
      { ...context, accountId, environment },
    );
    if (state.status === 'none' || accountId === null) return;
    await this.queue.enqueue(turnOf(scheduled.deliveryId, state, 'redelivery'), this.clock.now());
    counts.sentAgain += 1;
  }
}
