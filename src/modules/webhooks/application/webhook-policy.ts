import type { HealthPolicy } from '../domain/endpoint.js';
import type { LadderPolicy } from '../domain/delivery.js';

/** What the configuration says to deliveries; also the injection token. */
export abstract class WebhookPolicy {
  abstract readonly timeoutSeconds: number;
  abstract readonly redeliveryIntervalSeconds: number;
  /** Of one account; 0 is no limit. */
  abstract readonly pingsPerSecond: number;
  abstract readonly endpointChangesPerHour: number;
  abstract readonly ladder: LadderPolicy;
  abstract readonly health: HealthPolicy;
}
