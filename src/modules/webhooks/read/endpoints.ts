// Webhook endpoints: as their account's dashboard shows them, and which of them a timer must look at.
import { Injectable } from '@nestjs/common';
import { exhaustiveEvents, listOf, type Projection } from '../../../kernel/projection.js';
import { ReadModels } from '../../../ports/read-models.js';
import {
  healthDueAt,
  webhookEndpoint,
  type Endpoint,
  type EndpointEvent,
  type EndpointState,
} from '../domain/endpoint.js';
import { DeliveryReader } from './deliveries.js';

type Followed = EndpointState & { readonly createdAt: string; readonly updatedAt: string };

/** What is shown of an endpoint. Times are ISO 8601 UTC. */
export interface EndpointSummary extends Pick<
  Endpoint,
  'endpointId' | 'status' | 'url' | 'enabledEvents' | 'notifies' | 'consecutiveFailures' | 'disabledReason'
> {
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Of one account: the endpoint that it has, if any. */
export interface EndpointDoc {
  readonly current: EndpointSummary | null;
}

export const endpointProjection: Projection<EndpointDoc, Followed> = {
  name: 'webhook_endpoint',
  version: 4,
  category: webhookEndpoint.category,
  lasting: true,

  evolve(before, event) {
    const { occurredAt } = event.metadata;
    const { current } = webhookEndpoint.evolve(before ?? webhookEndpoint.initial, known(event));
    const same = before !== null && before.current?.endpointId === current?.endpointId;
    return {
      current,
      createdAt: same ? before.createdAt : occurredAt,
      updatedAt: same && event.type === 'WebhookHealthNotified' ? before.updatedAt : occurredAt,
    };
  },

  view: ({ current, createdAt, updatedAt }) => {
    if (current === null) return { current };
    const { endpointId, status, url, enabledEvents, notifies, consecutiveFailures, disabledReason } = current;
    return {
      current: {
        endpointId,
        status,
        url,
        enabledEvents,
        notifies,
        consecutiveFailures,
        disabledReason,
        createdAt,
        updatedAt,
      },
    };
  },
  entries: ({ current }) => (current === null ? [] : [{ list: listOf({ status: current.status }) }]),
  dueAt: healthDueAt,
};

const known = exhaustiveEvents<EndpointEvent>('webhook_endpoint', {
  WebhookEndpointRegistered: true,
  WebhookUrlChanged: true,
  WebhookEventsChosen: true,
  WebhookContactChosen: true,
  WebhookSecretRotated: true,
  WebhookExhaustionCounted: true,
  WebhookEndpointFailing: true,
  WebhookEndpointRecovered: true,
  WebhookEndpointDisabled: true,
  WebhookEndpointReactivated: true,
  WebhookHealthNotified: true,
  WebhookEndpointDeleted: true,
});

export interface EndpointView extends EndpointSummary {
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
}

@Injectable()
export class EndpointReader {
  constructor(
    private readonly readModels: ReadModels,
    private readonly deliveries: DeliveryReader,
  ) {}

  /** The account's endpoint; null when it has none, or its id is another one. */
  async find(accountId: string, endpointId?: string): Promise<EndpointView | null> {
    const known = await this.current(accountId);
    if (known === null || (endpointId !== undefined && known.endpointId !== endpointId)) return null;
    const { successAt, failureAt } = await this.deliveries.lastOutcomes(known.endpointId);
    // They may have been waited for, and the endpoint may have changed meanwhile.
    const current = await this.current(accountId);
    if (current?.endpointId !== known.endpointId) return this.find(accountId, endpointId);
    return { ...current, lastSuccessAt: successAt, lastFailureAt: failureAt };
  }

  /** Whether it is the account's endpoint. */
  async has(accountId: string, endpointId: string): Promise<boolean> {
    return (await this.current(accountId))?.endpointId === endpointId;
  }

  /** Accounts whose failing endpoint has used up its time. */
  due(at: Date, limit: number): Promise<string[]> {
    return this.readModels.due(endpointProjection, at, limit);
  }

  /** How many endpoints there are in each state. */
  async count(): Promise<Readonly<Record<Endpoint['status'], number>>> {
    const count = async (status: Endpoint['status']): Promise<number> =>
      (await this.readModels.list(endpointProjection, listOf({ status }), { limit: 0 })).total;
    const [active, failing, disabled] = await Promise.all([count('active'), count('failing'), count('disabled')]);
    return { active, failing, disabled };
  }

  private async current(accountId: string): Promise<EndpointSummary | null> {
    return (await this.readModels.get(endpointProjection, accountId))?.doc.current ?? null;
  }
}
