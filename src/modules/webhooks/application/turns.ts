import type { Clock } from '../../../kernel/clock.js';
import type { Owner } from '../../../kernel/context.js';
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

/**
 * The machine's time when the account's clock shows `at` (ISO 8601 UTC). The queue goes by the machine's time. Null if a test account has turned its
 * clock past `at`. Such attempts are made in order of time (see EndpointWaits).
 */
export async function queueTime(clock: Clock, owner: Owner, at: string): Promise<Date | null> {
  const present = await clock.of(owner);
  if ((await clock.of(owner, at)) < present) return null;
  return new Date(Date.parse(at) - Math.max(0, present.getTime() - clock.now().getTime()));
}
