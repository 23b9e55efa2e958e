// When deliveries are to be attempted. Adapter: `bullmq`; truth is in the events, the queue only keeps time.

export interface DueDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly kind: 'ladder' | 'redelivery';
  /** Names this attempt among those of the delivery, so that asking for it twice is one job. */
  readonly turn: string;
}

/** An attempt counts until it is over. */
export interface Backlog {
  /** Due, those under way included. */
  readonly waiting: number;
  readonly delayed: number;
  /** Milliseconds that the most overdue attempt has been waiting; 0 when none is. */
  readonly oldestDueMs: number;
}

/**
 * Has an attempt made at a time, at least once, in any worker. An endpoint that is slow never keeps the others waiting: it has a bounded
 * number of attempts under way, and only a few after a time-out. May lose everything; the recovery job asks again. Throws Unavailable when
 * it cannot be reached.
 */
export abstract class DeliveryQueue {
  abstract enqueue(due: DueDelivery, at: Date): Promise<void>;
  abstract backlog(): Promise<Backlog>;
}

/** What the workers of the queue run. */
export abstract class DeliveryAttempts {
  /**
   * Makes the attempt that is due, if it still is: null when nothing was sent, as where it was made before. `outcome` is `SUCCESS` or
   * what was wrong, for metrics.
   */
  abstract attempt(due: DueDelivery): Promise<{ readonly timedOut: boolean; readonly outcome: string } | null>;
}
