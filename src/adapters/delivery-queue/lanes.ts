// The two queues in which deliveries keep time: the fast lane, in which all of them begin, and the slow one.
import type { DefaultJobOptions } from 'bullmq';
import type { DueDelivery } from '../../ports/delivery-queue.js';

export type LaneName = 'fast' | 'slow';

export const LANES = { fast: 'webhook-deliveries', slow: 'webhook-deliveries-slow' } as const satisfies Record<
  LaneName,
  string
>;

/** References only. A job keeps them, and its id, when it changes lanes. */
export interface DeliveryJobData extends DueDelivery {
  /** Epoch milliseconds; stays the same however often the job is put off. */
  readonly dueAt: number;
}

export const JOB_NAME = 'attempt';

/** Never run twice because it failed, and gone from Redis when it is over. */
export const JOB_OPTIONS = {
  attempts: 1,
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
} as const satisfies DefaultJobOptions;

/** Asking twice for one attempt gives one id. */
export function jobIdOf({ deliveryId, kind, turn }: DueDelivery): string {
  return `${deliveryId}-${kind}-${turn}`;
}
