import { fold } from '../../../kernel/decider.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
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
    const last = history.at(-1);
    if (!last) return null;
    const event = last as RecordedEvent & EndpointEvent;
    const { endpointId: endpoint_id } = event.data;
    switch (event.type) {
      case 'WebhookEndpointFailing':
        return publishedAs(last, 'endpoint.failing', { endpoint_id, disable_after: event.data.disableAfter });
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
