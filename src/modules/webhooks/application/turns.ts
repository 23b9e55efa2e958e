import type { DueDelivery } from '../../../ports/delivery-queue.js';
import type { Delivery } from '../domain/delivery.js';

/**
 * The next attempt, as the queue knows it. The turn identifies the attempt within the delivery: the number of a scheduled attempt, or the time when a
 * redelivery was requested.
 */
export function turnOf(
  deliveryId: string,
  { endpointId, ladderAttempts, underWay, redelivery }: Delivery,
  kind: DueDelivery['kind'],
): DueDelivery {
  // An attempt that is made again keeps its number.
  const ordinal = underWay?.kind === 'ladder' ? ladderAttempts : ladderAttempts + 1;
  const turn = kind === 'ladder' ? String(ordinal) : String(Date.parse(redelivery?.requestedAt ?? ''));
  return { deliveryId, endpointId, kind, turn };
}
