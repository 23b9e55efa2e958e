import { Injectable } from '@nestjs/common';
import type { ActionContext } from '../../../kernel/context.js';
import type { CommandResult } from '../../../platform/aggregates/aggregate-store.js';
import { GroupedStream } from '../../../platform/aggregates/grouped-stream.js';
import { limitRule, RateLimiter } from '../../../ports/rate-limiter.js';
import {
  webhookEndpoint,
  type Endpoint,
  type EndpointCommand,
  type EndpointEvent,
  type EndpointState,
} from '../domain/endpoint.js';
import { WebhookPolicy } from './webhook-policy.js';

/** A change of an endpoint, for operators. The change contains ids and fixed words, and no address, contact or secret. */
export interface EndpointNews {
  readonly requestId: string;
  readonly accountId: string;
  readonly endpointId: string;
  readonly change: EndpointChangeName;
  /** The state of the endpoint after the change. */
  readonly outcome: Endpoint['status'] | 'deleted';
}

export type EndpointChangeName =
  | 'registered'
  | 'updated'
  | 'secret rotated'
  | 'failing'
  | 'recovered'
  | 'disabled'
  | 'reactivated'
  | 'resume requested'
  | 'resumed'
  | 'deleted';

/** Receives each change of an endpoint when it is stored. This class is also the injection token. */
export abstract class EndpointObserver {
  abstract changed(news: EndpointNews): void;
}

/** Null when the observer does not receive the event. */
const CHANGES: Readonly<Record<EndpointEvent['type'], EndpointChangeName | null>> = {
  WebhookEndpointRegistered: 'registered',
  WebhookUrlChanged: 'updated',
  WebhookEventsChosen: 'updated',
  WebhookContactChosen: 'updated',
  WebhookSignaturesChosen: 'updated',
  WebhookRateChosen: 'updated',
  WebhookKeyMade: null,
  WebhookSecretRotated: 'secret rotated',
  WebhookExhaustionCounted: null,
  WebhookEndpointFailing: 'failing',
  WebhookEndpointRecovered: 'recovered',
  WebhookEndpointDisabled: 'disabled',
  WebhookEndpointReactivated: 'reactivated',
  WebhookHealthNotified: null,
  WebhookResumeRequested: 'resume requested',
  WebhookResumed: 'resumed',
  WebhookEndpointDeleted: 'deleted',
};

const HOUR = 3_600;

/** Changes the endpoint of an account, and passes each changed endpoint to the observer once. */
@Injectable()
export class EndpointChanges {
  constructor(
    private readonly streams: GroupedStream,
    private readonly observer: EndpointObserver,
    private readonly limiter: RateLimiter,
    private readonly policy: WebhookPolicy,
  ) {}

  /** Refuses an account whose users have changed its endpoint too often. Must be called before a change stores anything. */
  admit(accountId: string): Promise<void> {
    const limit = this.policy.endpointChangesPerHour;
    const rule = limitRule(limit, 'changes of the endpoint of one account', HOUR, 'ENDPOINT_CHANGES_PER_HOUR');
    return this.limiter.admit([{ key: `endpoint-changes:${accountId}`, limit, windowSeconds: HOUR, rule }]);
  }

  async execute(
    accountId: string,
    command: EndpointCommand,
    context: ActionContext,
  ): Promise<CommandResult<EndpointState, EndpointEvent>> {
    const result = await this.streams.execute(webhookEndpoint, accountId, command, context);
    const changes = new Map<string, EndpointChangeName>();
    for (const { type, data } of result.events) {
      const change = CHANGES[type];
      if (change !== null) changes.set(data.endpointId, change);
    }
    const { current } = result.state;
    for (const [endpointId, change] of changes) {
      const outcome = current?.endpointId === endpointId ? current.status : 'deleted';
      this.observer.changed({ requestId: context.correlationId, accountId, endpointId, change, outcome });
    }
    return result;
  }
}
