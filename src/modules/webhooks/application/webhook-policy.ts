import type { HealthPolicy } from '../domain/endpoint.js';
import type { LadderPolicy } from '../domain/delivery.js';

/** The settings for deliveries. This class is also the injection token. */
export abstract class WebhookPolicy {
  abstract readonly timeoutSeconds: number;
  abstract readonly redeliveryIntervalSeconds: number;
  /** Counted for each account. 0 means no limit. */
  abstract readonly pingsPerSecond: number;
  abstract readonly endpointChangesPerHour: number;
  abstract readonly testEventsPerHour: number;
  /** The addresses from which deliveries come, for receivers. */
  abstract readonly egressIps: readonly string[];
  abstract readonly ladder: LadderPolicy;
  abstract readonly health: HealthPolicy;
}
