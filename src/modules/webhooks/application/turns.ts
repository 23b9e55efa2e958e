import type { DueDelivery } from '../../../ports/delivery-queue.js';
import type { Delivery } from '../domain/delivery.js';

/** The next attempt for the queue. Its turn is the number of an attempt of the ladder, or the time when a redelivery was requested. */
export function turnOf(
  deliveryId: string,
  { endpointId, rungs, underWay, redelivery }: Delivery,
  kind: DueDelivery['kind'],
): DueDelivery {
  // An attempt that is made again keeps its number.
  const rung = underWay?.kind === 'ladder' ? rungs : rungs + 1;
  const turn = kind === 'ladder' ? String(rung) : String(Date.parse(redelivery?.requestedAt ?? ''));
  return { deliveryId, endpointId, kind, turn };
}
