// The times of delivery attempts. Adapter: `bullmq`. The log records the deliveries, and the queue only knows when attempts are due.

export interface DueDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly kind: 'ladder' | 'redelivery';
  /** The name of this attempt within the delivery, so that two requests for it make one job. */
  readonly turn: string;
}

/** An attempt counts until it has ended. */
export interface Backlog {
  /** Due attempts, including those under way. */
  readonly waiting: number;
  readonly delayed: number;
  /** The milliseconds for which the most overdue attempt has waited; 0 when no attempt waits. */
  readonly oldestDueMs: number;
}

/**
 * Schedules an attempt for a given time. A worker makes the attempt at least once. A slow endpoint never delays the others: its simultaneous attempts
 * are limited, and after a time-out only few are allowed. The queue may lose everything, because the recovery job schedules attempts again. Throws
 * Unavailable when the queue cannot be reached.
 */
export abstract class DeliveryQueue {
  /** An attempt that is queued already keeps its time, or gets the earlier time if it is `sooner`. */
  abstract enqueue(due: DueDelivery, at: Date, sooner?: boolean): Promise<void>;
  abstract backlog(): Promise<Backlog>;
}

/** No request was sent, because the endpoint wants this time between two attempts. The attempt stays due. */
export interface TooSoon {
  readonly spacingMs: number;
}

/** The work of the queue's workers. */
export abstract class DeliveryAttempts {
  /** Makes the attempt if it is still due. Null if no request was sent. `outcome` is `SUCCESS` or the error, for metrics. */
  abstract attempt(
    due: DueDelivery,
  ): Promise<{ readonly timedOut: boolean; readonly outcome: string } | TooSoon | null>;
}
