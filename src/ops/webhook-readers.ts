// The readers of endpoints and deliveries for an operator, without the modules that send.
import type { Provider } from '@nestjs/common';
import type { RecordedEvent } from '../kernel/domain-event.js';
import type { EndpointEvent } from '../modules/webhooks/domain/endpoint.js';
import { DeliveryReader } from '../modules/webhooks/read/deliveries.js';
import { EndpointReader } from '../modules/webhooks/read/endpoints.js';
import { CompleteLists } from '../platform/subscriptions/complete-lists.js';
import { EventStore } from '../ports/event-store.js';
import { ReadModels } from '../ports/read-models.js';
import { Vault } from '../ports/vault.js';

export const WEBHOOK_READERS: readonly Provider[] = [
  {
    provide: DeliveryReader,
    useFactory: (readModels: ReadModels, vault: Vault, lists: CompleteLists) =>
      new DeliveryReader(readModels, vault, lists),
    inject: [ReadModels, Vault, CompleteLists],
  },
  {
    provide: EndpointReader,
    useFactory: (events: EventStore, readModels: ReadModels, deliveries: DeliveryReader) =>
      new EndpointReader(
        {
          load: async (folded, accountId) => {
            const history = await events.readStream(`${folded.category}-${accountId}`);
            const state = (history as (RecordedEvent & EndpointEvent)[]).reduce(
              (before, event) => folded.evolve(before, event),
              folded.initial,
            );
            return { state };
          },
        },
        readModels,
        deliveries,
      ),
    inject: [EventStore, ReadModels, DeliveryReader],
  },
];
