// The times of delivery attempts. Adapter: `bullmq`. The events are the truth, and the queue only keeps time.

export interface DueDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly kind: 'ladder' | 'redelivery';
  /** The name of this attempt within the delivery, so that two requests for it are one job. */
  readonly turn: string;
}

/** An attempt counts until it is over. */
export interface Backlog {
  /** Due attempts, including those under way. */
  readonly waiting: number;
  readonly delayed: number;
  /** The milliseconds for which the most overdue attempt has waited; 0 when no attempt waits. */
  readonly oldestDueMs: number;
}

/**
 * Schedules an attempt for a given time. A worker makes it at least once. A slow endpoint never delays the others: its attempts under way are
 * bounded, and after a time-out only few are allowed. The queue may lose everything, because the recovery job schedules attempts again. Throws
 * Unavailable when it cannot be reached.
 */
export abstract class DeliveryQueue {
  abstract enqueue(due: DueDelivery, at: Date): Promise<void>;
  abstract backlog(): Promise<Backlog>;
}

/** The work of the queue's workers. */
export abstract class DeliveryAttempts {
  /** Makes the attempt if it is still due. Null when nothing was sent. `outcome` is `SUCCESS` or the error, for metrics. */
  abstract attempt(due: DueDelivery): Promise<{ readonly timedOut: boolean; readonly outcome: string } | null>;
}
