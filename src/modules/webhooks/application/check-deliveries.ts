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
  /** The number of checked events: those of published types that the event handler has handled since the last check. */
  readonly events: number;
  /** The number of events without a delivery. This check makes each missing delivery. */
  readonly missing: number;
}

/** The ids of a missing delivery, for operators. */
export interface MissingDelivery {
  readonly accountId: string | null;
  readonly eventId: string;
  readonly deliveryId: string;
}

/** Receives each missing delivery when it has been made. This class is also the injection token. */
export abstract class MissingDeliveries {
  abstract made(missing: MissingDelivery): void;
}

/**
 * Compares the published events with their deliveries, and makes the missing deliveries (docs/contract/webhooks.md#events). The check begins where
 * the last check ended, and ends at the checkpoint of the event handler. A delivery is missing only if the handler has skipped its event.
 */
@UseCase()
export class CheckDeliveries extends Command<DeliveryCheck> {}

/** The name under which the position of the last check is stored. */
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

  /** Checks nothing while another check is under way. */
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
    // This checkpoint is read before the log, so that the log has the delivery of each event up to it.
    const passed = await this.checkpoints.passed(this.published.name);
    const head = await this.store.head();
    const handled = placeIn(head, passed);
    if (handled === null) return check;
    let place = placeIn(head, checked);
    let page = await this.store.readAll(place, PAGE);
    while (page.length > 0 && (place === null || place < handled)) {
      const end = page.at(-1)?.position ?? handled;
      const next = await this.store.readAll(end, PAGE);
      const made = new Set([...page, ...next].map(({ type, metadata }) => type === SCHEDULED && metadata.$causationId));
      const due = page.filter((event) => this.published.isDue(event) && event.position <= handled);
      check.events += due.length;
      // The log may record an existing delivery only after the next page, and the use case that would make the delivery finds this delivery.
      const missing = due.filter(({ metadata }) => !made.has(metadata.$causationId));
      await together(missing, TOGETHER, async (event) => {
        if (await this.make(event)) check.missing += 1;
      });
      place = end < handled ? end : handled;
      if (!(await this.checkpoints.save(NAME, holder, place, LEASE_MS))) break;
      page = next;
    }
    return check;
  }

  /** False when the delivery already exists, when the event needs none, and while a resume holds it back. */
  private async make(event: RecordedEvent): Promise<boolean> {
    const scheduled = await this.published.schedule(event, 'unasked');
    if (!scheduled?.made) return false;
    const { accountId, $causationId: eventId } = event.metadata;
    this.observer.made({ accountId, eventId, deliveryId: scheduled.deliveryId });
    return true;
  }
}

/** Null for a place that this log does not have. */
function placeIn(head: string | null, place: string | null): string | null {
  return place !== null && isPositionUpTo(head, place) ? place : null;
}
