// The projection of webhook endpoints. `EndpointReader` reads it.
import { exhaustiveEvents, listOf, type Projection } from '../../../kernel/projection.js';
import { healthDueAt, type Endpoint, type EndpointEvent } from '../domain/endpoint.js';
import { endpointRecord, resumeDueAt, type EndpointRecord } from '../domain/endpoint-record.js';

/** The facts about an endpoint that callers see. Times are ISO 8601 UTC. */
export interface EndpointSummary extends Omit<
  Endpoint,
  'secret' | 'previousSecret' | 'run' | 'disableAfter' | 'resumes' | 'counted'
> {
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The time when the endpoint got its present status. */
  readonly statusAt: string;
  /** The time when the count of its failures in a row began. */
  readonly countedFrom: string;
}

/** The endpoint of one account, if it has one. */
export interface EndpointDoc {
  readonly current: EndpointSummary | null;
}

export const endpointProjection: Projection<EndpointDoc, EndpointRecord> = {
  name: 'webhook_endpoint',
  version: 10,
  category: endpointRecord.category,

  evolve: (before, event) => endpointRecord.evolve(before ?? endpointRecord.initial, known(event)),
  view: ({ current, createdAt, updatedAt, statusAt, run }) => {
    if (current === null) return { current };
    const {
      endpointId,
      status,
      url,
      enabledEvents,
      notifies,
      signatures,
      maxPerSecond,
      consecutiveFailures,
      disabledReason,
    } = current;
    return {
      current: {
        endpointId,
        status,
        url,
        enabledEvents,
        notifies,
        signatures,
        maxPerSecond,
        consecutiveFailures,
        disabledReason,
        createdAt,
        updatedAt,
        statusAt,
        countedFrom: run.at,
      },
    };
  },
  entries: ({ current }) => (current === null ? [] : [{ list: listOf({ status: current.status }) }]),
  dueAt: (record) => resumeDueAt(record) ?? healthDueAt(record),
};

const known = exhaustiveEvents<EndpointEvent>('webhook_endpoint', {
  WebhookEndpointRegistered: true,
  WebhookUrlChanged: true,
  WebhookEventsChosen: true,
  WebhookContactChosen: true,
  WebhookSignaturesChosen: true,
  WebhookRateChosen: true,
  WebhookKeyMade: true,
  WebhookSecretRotated: true,
  WebhookExhaustionCounted: true,
  WebhookEndpointFailing: true,
  WebhookEndpointRecovered: true,
  WebhookEndpointDisabled: true,
  WebhookEndpointReactivated: true,
  WebhookHealthNotified: true,
  WebhookResumeRequested: true,
  WebhookResumed: true,
  WebhookEndpointDeleted: true,
});
