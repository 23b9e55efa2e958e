import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { systemContext } from '../../../kernel/context.js';
import type { RecordedEvent } from '../../../kernel/domain-event.js';
import type { EventHandler } from '../../../ports/event-handler.js';
import { webhookEndpoint, type EndpointEvent } from '../domain/endpoint.js';
import { CancelDelivery } from './cancel-delivery.js';
import { EndpointSecrets } from './endpoint-secrets.js';

/** Finds the deliveries of an endpoint that have not ended. This class is also the injection token. */
export abstract class OpenDeliveries {
  abstract open(endpointId: string): Promise<readonly string[]>;

  /** As `open`, but only those of the test environment whose next attempt is due at that time: the first ones, at most `most`. */
  abstract openUntil(endpointId: string, at: Date, most: number): Promise<readonly string[]>;
}

/**
 * Cancels the pending deliveries of an endpoint that was deleted or disabled. A delivery that is missing in the list is canceled when its attempt is
 * due. When the endpoint was deleted, its contact's address is removed too, because the contact gets no more mail.
 */
@Injectable()
export class WhenEndpointEnded implements EventHandler {
  readonly name = 'webhook_cancellation';
  readonly categories = [webhookEndpoint.category];
  readonly types: ReadonlySet<string> = new Set(['WebhookEndpointDeleted', 'WebhookEndpointDisabled']);

  constructor(
    private readonly deliveries: OpenDeliveries,
    private readonly secrets: EndpointSecrets,
    private readonly commands: CommandBus,
  ) {}

  async handle(event: RecordedEvent): Promise<void> {
    const { type, data } = event as RecordedEvent &
      Extract<EndpointEvent, { type: 'WebhookEndpointDeleted' | 'WebhookEndpointDisabled' }>;
    const context = { ...systemContext('webhooks', event.metadata), causationId: event.id };
    for (const deliveryId of await this.deliveries.open(data.endpointId)) {
      await this.commands.execute(
        new CancelDelivery(
          {
            deliveryId,
            endpointId: data.endpointId,
            cause: type === 'WebhookEndpointDeleted' ? 'ENDPOINT_DELETED' : 'ENDPOINT_DISABLED',
            endedAt: event.position,
          },
          context,
        ),
      );
    }
    const { accountId } = event.metadata;
    if (type === 'WebhookEndpointDeleted' && accountId !== null)
      await this.secrets.keepContact(accountId, data.endpointId, null);
  }
}
