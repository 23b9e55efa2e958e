import type { DueDelivery } from '../../../ports/delivery-queue.js';
import type { Delivery } from '../domain/delivery.js';

/** The attempt that is next, as the queue knows it: the rung of the ladder, or the redelivery that was asked for. */
export function turnOf(
  deliveryId: string,
  { endpointId, rungs, underWay, redelivery }: Delivery,
  kind: DueDelivery['kind'],
): DueDelivery {
  // An attempt that goes out again keeps its rung.
  const rung = underWay?.kind === 'ladder' ? rungs : rungs + 1;
  const turn = kind === 'ladder' ? String(rung) : String(Date.parse(redelivery?.requestedAt ?? ''));
  return { deliveryId, endpointId, kind, turn };
}
