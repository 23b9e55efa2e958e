import type { ActionContext } from '../../../kernel/context.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { DeliveryCommand } from '../domain/delivery.js';
import { bodyOf, entryOf, type FeedEvent } from '../domain/feed.js';

/** The command that schedules a delivery of a feed's event to an endpoint, first attempted at `at` (ISO 8601 UTC), and its context. */
export function deliveryOf(
  published: RecordedEvent<FeedEvent>,
  endpointId: string,
  at: string,
): { readonly command: Extract<DeliveryCommand, { kind: 'schedule' }>; readonly context: ActionContext } {
  const { accountId, environment, $correlationId: correlationId, $causationId: causationId } = published.metadata;
  const { sequence, digest, event } = entryOf(published);
  const scheduled = {
    endpointId,
    eventId: event.id,
    eventType: event.type,
    occurredAt: event.occurred_at,
    body: bodyOf(event),
    sequence,
    digest,
    kind: 'event',
    nextAttemptAt: at,
  } as const;
  const actor = { kind: 'system', id: 'webhooks' } as const;
  return {
    command: { kind: 'schedule', delivery: scheduled },
    context: { accountId, environment, actor, correlationId, causationId, skipReadYourWrites: true },
  };
}
