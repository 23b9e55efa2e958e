// The readers of endpoints and deliveries for an operator, without the modules that send.
import type { Provider } from '@nestjs/common';
import { foldStream } from '../modules/accounts/read/remembered-streams.js';
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
          load: (folded, accountId) => foldStream(events, folded, accountId),
        },
        readModels,
        deliveries,
      ),
    inject: [EventStore, ReadModels, DeliveryReader],
  },
];
