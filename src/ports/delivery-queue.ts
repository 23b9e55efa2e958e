// When deliveries are to be attempted. Adapter: `bullmq`; truth is in the events, the queue only keeps time.

export interface DueDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly kind: 'ladder' | 'redelivery';
  /** Names this attempt among those of the delivery, so that asking for it twice is one job. */
  readonly turn: string;
}

export interface Backlog {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  /** Milliseconds that the most overdue job has been waiting; 0 when none is. */
  readonly oldestDueMs: number;
}

/**
 * Has an attempt made at a time, at least once, in any worker. An endpoint that is slow never keeps the others waiting:
 * it has a bounded number of attempts under way and, once it has proved slow, workers of its own kind. May lose everything;
 * the recovery job asks again. Throws Unavailable when it cannot be reached.
 */
export abstract class DeliveryQueue {
  abstract enqueue(due: DueDelivery, at: Date): Promise<void>;
  abstract backlog(): Promise<Backlog>;
}

/** What the workers of the queue run. */
export abstract class DeliveryAttempts {
  /**
   * Makes the attempt that is due, if it still is: null when nothing was sent. `outcome` is `SUCCESS` or what was wrong, for
   * metrics. Refuses an attempt that was started before, because a job may come twice.
   */
  abstract attempt(
    due: DueDelivery,
  ): Promise<{ readonly latencyMs: number; readonly timedOut: boolean; readonly outcome: string } | null>;
}
