import type { DueDelivery } from '../../../ports/delivery-queue.js';
import type { Delivery } from '../domain/delivery.js';

/** The attempt that is next, as the queue knows it: the rung of the ladder, or the redelivery that was asked for. */
export function turnOf(
  deliveryId: string,
  { endpointId, rungs, redelivery }: Delivery,
  kind: DueDelivery['kind'],
): DueDelivery {
  const turn = kind === 'ladder' ? String(rungs + 1) : String(Date.parse(redelivery?.requestedAt ?? ''));
  return { deliveryId, endpointId, kind, turn };
}
