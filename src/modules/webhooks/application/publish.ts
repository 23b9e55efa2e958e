import { fold } from '../../../kernel/decider.js';
import { machineTimeOf, type RecordedEvent } from '../../../kernel/domain-event.js';
import { publishedAs, type PublishedEvent, type Publisher } from '../../../published/events.js';
import { type EndpointEvent, webhookEndpoint } from '../domain/endpoint.js';

const TYPES = [
  'WebhookEndpointFailing',
  'WebhookEndpointDisabled',
  'WebhookEndpointRecovered',
] as const satisfies readonly EndpointEvent['type'][];

/** The changes of an endpoint's health, for the feed only. An endpoint serves both environments, so both feeds have them. */
export const endpointPublisher: Publisher = {
  category: webhookEndpoint.category,
  types: new Set(TYPES),
  everyEnvironment: true,

  publish(history: readonly RecordedEvent[]): PublishedEvent | null {
    const stored = history.at(-1);
    if (!stored) return null;
    const event = stored as RecordedEvent & EndpointEvent;
    const { last, aheadMs } = inTimeOfFeed(stored);
    const { endpointId: endpoint_id } = event.data;
    switch (event.type) {
      case 'WebhookEndpointFailing': {
        const disable_after = new Date(Date.parse(event.data.disableAfter) - aheadMs).toISOString();
        return publishedAs(last, 'endpoint.failing', { endpoint_id, disable_after });
      }
      case 'WebhookEndpointDisabled':
        return publishedAs(last, 'endpoint.disabled', { endpoint_id, reason_code: event.data.reason });
      case 'WebhookEndpointRecovered': {
        // A success also ends a shorter run of failures, which has not changed the health.
        const { current } = fold(webhookEndpoint, history.slice(0, -1) as readonly (RecordedEvent & EndpointEvent)[]);
        return current?.status === 'failing' ? publishedAs(last, 'endpoint.recovered', { endpoint_id }) : null;
      }
      default:
        return null;
    }
  },
};

/** The live feed has the machine's time, also when a test clock has led to the event. */
function inTimeOfFeed(event: RecordedEvent): { readonly last: RecordedEvent; readonly aheadMs: number } {
  const { environment, occurredAt } = event.metadata;
  if (environment !== 'live') return { last: event, aheadMs: 0 };
  const machineTime = machineTimeOf(event.metadata);
  const last = { ...event, metadata: { ...event.metadata, occurredAt: machineTime } };
  return { last, aheadMs: Date.parse(occurredAt) - Date.parse(machineTime) };
}
