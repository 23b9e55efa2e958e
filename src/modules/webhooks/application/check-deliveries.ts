import { Command, type ICommandHandler } from '@nestjs/cqrs';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import { newId } from '../../../kernel/ids.js';
import { together } from '../../../kernel/together.js';
import { Handles, UseCase } from '../../../platform/aggregates/use-case.js';
import { EventStore, isPositionUpTo } from '../../../ports/event-store.js';
import { HandlerCheckpoints } from '../../../ports/handler-checkpoints.js';
import type { DeliveryEvent } from '../domain/delivery.js';
import { WhenEventPublished } from './when-event-published.js';

export interface DeliveryCheck {
  /** Events of published kinds that were looked at: those since the last check that have been handled. */
  readonly events: number;
  /** Those whose delivery was missing. Each is made now. */
  readonly missing: number;
}

/** Ids of what was missing, for those who look after the service. */
export interface MissingDelivery {
  readonly accountId: string | null;
  readonly eventId: string;
  readonly deliveryId: string;
}

/** Hears of each delivery that was missing once it is made; also the injection token. */
export abstract class MissingDeliveries {
  abstract made(missing: MissingDelivery): void;
}

/**
 * Compares what was published with the deliveries that were made of it, from where the last check ended up to where the event
 * handler is, and makes those that are missing (docs/contract/webhooks.md#events). Nothing is missing unless an event was passed over.
 */
@UseCase()
export class CheckDeliveries extends Command<DeliveryCheck> {}

/** Names the place of the last check. */
const NAME = 'webhook_delivery_check';
const LEASE_MS = 60_000;
const PAGE = 1_000;
const TOGETHER = 16;
const SCHEDULED: DeliveryEvent['type'] = 'DeliveryScheduled';

@Handles(CheckDeliveries)
export class CheckDeliveriesHandler implements ICommandHandler<CheckDeliveries> {
  constructor(
    private readonly store: EventStore,
    private readonly published: WhenEventPublished,
    private readonly checkpoints: HandlerCheckpoints,
    private readonly observer: MissingDeliveries,
  ) {}

  /** Looks at nothing while another check is under way. */
  async execute(): Promise<DeliveryCheck> {
    const holder = newId();
    if (!(await this.checkpoints.take(NAME, holder, LEASE_MS))) return { events: 0, missing: 0 };
    try {
      return await this.check(await this.checkpoints.passed(NAME), holder);
    } finally {
      await this.checkpoints.release(NAME, holder);
    }
  }

  private async check(checked: string | null, holder: string): Promise<DeliveryCheck> {
    const check = { events: 0, missing: 0 };
    // Asked before the log is read: what has been handled by then has its delivery in the log.
    const handled = await this.checkpoints.passed(this.published.name);
    const head = await this.store.head();
    if (handled === null || !isPositionUpTo(head, handled)) return check;
    let place = checked !== null && isPositionUpTo(head, checked) ? checked : null;
    let page = await this.store.readAll(place, PAGE);
    while (page.length > 0 && (place === null || place < handled)) {
      const end = page.at(-1)?.position ?? handled;
      const next = await this.store.readAll(end, PAGE);
      const made = new Set([...page, ...next].map(({ type, metadata }) => type === SCHEDULED && metadata.$causationId));
      const due = page.filter(({ type, position }) => this.published.types.has(type) && position <= handled);
      check.events += due.length;
      // A delivery that comes later than on the next page is found to be there when it is to be made.
      const missing = due.filter(({ id }) => !made.has(id));
      await together(missing, TOGETHER, async (event) => {
        if (await this.make(event)) check.missing += 1;
      });
      place = end < handled ? end : handled;
      if (!(await this.checkpoints.save(NAME, holder, place, LEASE_MS))) break;
      page = next;
    }
    return check;
  }

  /** False when there was a delivery, or none is to be made. */
  private async make(event: RecordedEvent): Promise<boolean> {
    const scheduled = await this.published.schedule(event);
    if (!scheduled?.made) return false;
    const { accountId } = event.metadata;
    this.observer.made({ accountId, eventId: event.id, deliveryId: scheduled.deliveryId });
    return true;
  }
}
